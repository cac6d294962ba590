/* tensor.matmul: products of matrices, exact by default; its types and shapes, and its kernels. */
#include <stdio.h>

#include "compose_laws.h"
#include "matmul_fast.h"

#include "common/codec.h"
#include "common/tensors/elements.h"
#include "kernels.h"

static const char *const order_names[MATMUL_ORDERS] = {"exact", "sequential", "sequential_unfused",
						       "chunked"};

static int is_wide(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_I64 || dtype == PCTL_SCALAR_U64;
}

/* A product with such a factor is one of floats. */
static int is_real(uint32_t dtype)
{
	return kit_codec_is_factor(dtype) && kit_codec_word(dtype) == NULL;
}

static int is_integer(uint32_t dtype)
{
	return kit_codec_word(dtype) != NULL || is_wide(dtype);
}

static int is_signed(uint32_t dtype)
{
	return dtype == PCTL_DTYPE_I4 || dtype == PCTL_DTYPE_I2 || dtype == PCTL_DTYPE_TERNARY ||
	       dtype == PCTL_DTYPE_BINARY || dtype == PCTL_SCALAR_I8 || dtype == PCTL_SCALAR_I16 ||
	       dtype == PCTL_SCALAR_I32 || dtype == PCTL_SCALAR_I64;
}

/* ---- types and shapes ----------------------------------------------------------------------- */

/* Floats with floats and small integers, which are floats then; integers with integers of one sign, both wide or neither. */
static pctl_status types(const kit_use *u, matmul_shape *s)
{
	const uint32_t a = u->q->in[0].dtype, b = u->q->in[1].dtype;
	const char *out = u->q->attr[MATMUL_ATTR_OUT].text;

	if (is_real(a) || is_real(b)) {
		if (kit_codec_bits(a) == NULL)
			return kit_refuse_type(u, 0, "a type whose elements are exact in f32");
		if (!kit_codec_is_factor(b))
			return kit_refuse_type(
				u, 1, "a type whose elements are exact in f32, or blocks of GGUF");
		if (kit_codec_is_pair(b) && s->order != MATMUL_EXACT)
			return kit_refuse_attr(u, "order", "is exact for blocks with a minimum");
		s->format = tensor_float_format_named(*out == '\0' ? "f32" : out);
		if (s->format == NULL)
			return kit_refuse_attr(u, "out", "is not f32, f16 or bf16");
		if (s->order != MATMUL_EXACT && s->format->dtype != PCTL_SCALAR_F32)
			return kit_refuse_attr(u, "out", "is f32 where the order is not exact");
		s->out.dtype = s->format->dtype;
		return PCTL_OK;
	}
	if (!is_integer(a))
		return kit_refuse_type(u, 0, u->op->desc.in[0].type);
	if (!is_integer(b) || is_signed(a) != is_signed(b) || is_wide(a) != is_wide(b))
		return kit_refuse_type(u, 1, "integers of the sign of a, of 64 bits where a's are");
	if (s->order != MATMUL_EXACT)
		return kit_refuse_attr(u, "order", "is exact for integers");
	s->out.dtype = is_wide(a) ? a : is_signed(a) ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32;
	if (*out != '\0' && strcmp(out, kit_dtype_name(s->out.dtype)) != 0)
		return kit_refuse_attr(u, "out", "is i32, u32, i64 or u64 by the inputs' types");
	return PCTL_OK;
}

/* Dimension d of the batch from the inside: 1 where the tensor has none. */
static uint64_t batch_dim(const pctl_tensor_type *t, uint32_t d)
{
	return d + 2 < t->rank ? t->dim[t->rank - 3 - d] : 1;
}

static pctl_status batch(const kit_use *u, matmul_shape *s)
{
	const pctl_tensor_type *a = &u->q->in[0], *b = &u->q->in[1];
	const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
	uint64_t a_stride = s->m * s->k, b_stride = s->k * s->n;

	s->out.rank = rank;
	s->out.dim[rank - 2] = s->m;
	s->out.dim[rank - 1] = s->n;
	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++) {
		const uint64_t x = batch_dim(a, d), y = batch_dim(b, d);

		if (x != y && x != 1 && y != 1)
			return pctl_refuse(
				u->call, PC4201_OP_TYPE,
				"%s: a and b have %llu and %llu matrices along one dimension",
				u->op->desc.name, (unsigned long long)x, (unsigned long long)y);
		s->batch[d].n = x == 1 ? y : x;
		s->batch[d].a = x == 1 ? 0 : a_stride;
		s->batch[d].b = y == 1 ? 0 : b_stride;
		if (d + 2 < rank)
			s->out.dim[rank - 3 - d] = s->batch[d].n;
		a_stride *= x;
		b_stride *= y;
	}
	return PCTL_OK;
}

pctl_status matmul_shape_of(const kit_use *u, matmul_shape *s)
{
	const pctl_tensor_type *a = &u->q->in[0], *b = &u->q->in[1];
	const int at = kit_attr(u, MATMUL_ATTR_TRANSPOSE_A) != 0;
	const int bt = kit_attr(u, MATMUL_ATTR_TRANSPOSE_B) != 0;
	uint64_t k;
	pctl_status status;

	memset(s, 0, sizeof(*s));
	while (s->order < MATMUL_ORDERS &&
	       strcmp(u->q->attr[MATMUL_ATTR_ORDER].text, order_names[s->order]) != 0)
		s->order++;
	if (s->order == MATMUL_ORDERS)
		return kit_refuse_attr(u, "order",
				       "is not exact, sequential, sequential_unfused or chunked");
	status = types(u, s);
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < 2; i++) {
		if (u->q->in[i].rank < 2)
			return kit_refuse_type(u, i, "at least 2 dimensions");
		status = kit_limit(u, "elements", kit_elements(&u->q->in[i]), TENSOR_ELEMENTS_MAX);
		if (status != PCTL_OK)
			return status;
	}
	s->m = a->dim[a->rank - 2 + (uint32_t)at];
	s->k = a->dim[a->rank - 1 - (uint32_t)at];
	k = b->dim[b->rank - 2 + (uint32_t)bt];
	s->n = b->dim[b->rank - 1 - (uint32_t)bt];
	if (k != s->k)
		return pctl_refuse(u->call, PC4201_OP_TYPE,
				   "%s: a matrix of a has %llu columns, one of b has %llu rows",
				   u->op->desc.name, (unsigned long long)s->k,
				   (unsigned long long)k);
	s->a_row = at ? 1 : s->k;
	s->a_column = at ? s->m : 1;
	s->b_row = bt ? 1 : s->n;
	s->b_column = bt ? s->k : 1;
	status = batch(u, s);
	if (status == PCTL_OK)
		status = kit_limit(u, "products of an element",
				   kit_codec_is_pair(b->dtype) ? 2 * s->k : s->k, TENSOR_TERMS_MAX);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "elements", kit_elements(&s->out), TENSOR_ELEMENTS_MAX);
}

void matmul_place(const matmul_shape *s, uint64_t e, uint64_t *a, uint64_t *b)
{
	*a = e / s->n % s->m * s->a_row;
	*b = e % s->n * s->b_column;
	e = e / s->n / s->m;
	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++) {
		*a += e % s->batch[d].n * s->batch[d].a;
		*b += e % s->batch[d].n * s->batch[d].b;
		e /= s->batch[d].n;
	}
}

/* Along the matrices of a batch, and where a is not transposed along its rows: each needs all of b's matrix. */
static void cut(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *y = &out->out[0];
	const int rows = u->q->in[0].rank == y->rank && kit_attr(u, MATMUL_ATTR_TRANSPOSE_A) == 0;

	out->n_cut = y->rank - (rows ? 1 : 2);
	for (uint32_t d = 0; d < out->n_cut; d++)
		for (uint32_t i = 0; i < 2; i++)
			if (u->q->in[i].rank == y->rank && u->q->in[i].dim[d] == y->dim[d] &&
			    (i == 0 || d + 2 < y->rank))
				out->cut[i] |= 1u << d;
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	matmul_shape s;
	const pctl_status status = matmul_shape_of(u, &s);

	if (status != PCTL_OK)
		return status;
	out->out[0] = s.out;
	cut(u, out);
	return PCTL_OK;
}

/* ---- the kernel ----------------------------------------------------------------------------- */

/* As matmul_place.wgsl has it. */
typedef struct params {
	uint32_t m, n, k, count, a_row, a_column, b_row, b_column;
	struct {
		uint32_t n, a, b, none;
	} batch[MATMUL_BATCH_MAX];
} params;

uint32_t matmul_params(kit_plan *p, const matmul_shape *s)
{
	params v = {(uint32_t)s->m,	(uint32_t)s->n,
		    (uint32_t)s->k,	(uint32_t)kit_elements(&s->out),
		    (uint32_t)s->a_row, (uint32_t)s->a_column,
		    (uint32_t)s->b_row, (uint32_t)s->b_column,
		    {{0, 0, 0, 0}}};

	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++) {
		v.batch[d].n = (uint32_t)s->batch[d].n;
		v.batch[d].a = (uint32_t)s->batch[d].a;
		v.batch[d].b = (uint32_t)s->batch[d].b;
	}
	return kit_params(p, &v, sizeof(v));
}

#define FACTOR(name, binding, T) \
	"@group(0) @binding(" binding ") var<storage, read> " name ": array<" T ">;\n"
#define RESULT(T) "@group(0) @binding(3) var<storage, read_write> y: array<" T ">;\n"
#define STEP(e) "fn step(a: f32, b: f32, acc: f32) -> f32 {\n\treturn " e ";\n}\n"

static void add_integers(kit_wgsl *w, const kit_use *u, uint32_t out, uint32_t through)
{
	const int wide = is_wide(out);
	const char *const names[] = {"a", "b"};

	kit_wgsl_add(w, wide ? "alias T = u64;\n" FACTOR("a", "1", "u64") FACTOR("b", "2", "u64")
					RESULT("u64")
			     : "alias T = u32;\n" FACTOR("a", "1", "u32") FACTOR("b", "2", "u32")
					RESULT("u32"));
	for (uint32_t i = 0; i < 2; i++)
		kit_wgsl_named(w,
			       wide ? "fn $_word(i: u32) -> u64 {\n\treturn $[i];\n}\n"
				    : kit_codec_word(u->q->in[i].dtype),
			       names[i]);
	kit_wgsl_add(w, KERNEL_MATMUL_INTEGER);
	kit_wgsl_add(w, tensor_result_text(wide ? 8 : 4, through != 0));
}

static void add_floats(kit_wgsl *w, const kit_use *u, const matmul_shape *s, uint32_t through)
{
	static const char *const steps[MATMUL_ORDERS] = {[MATMUL_SEQUENTIAL] =
								 STEP("fma(a, b, acc)"),
							 [MATMUL_UNFUSED] = STEP("acc + a * b"),
							 [MATMUL_CHUNKED] = STEP("fma(a, b, acc)")};
	const char *const names[] = {"a", "b"};

	kit_wgsl_add(w, FACTOR("a", "1", "u32") FACTOR("b", "2", "u32") RESULT("u32"));
	for (uint32_t i = 0; i < 2; i++)
		kit_wgsl_factor(w, u->q->in[i].dtype, names[i]);
	if (s->order == MATMUL_EXACT) {
		kit_wgsl_add(w, s->format->text);
		kit_wgsl_add(w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
		kit_wgsl_add(w, KERNEL_EXACT_SUM);
		kit_wgsl_add(w, kit_codec_is_pair(u->q->in[1].dtype) ? KERNEL_MATMUL_EXACT_PAIR
								     : KERNEL_MATMUL_EXACT);
	} else {
		kit_wgsl_add(w, steps[s->order]);
		kit_wgsl_add(w, s->order == MATMUL_CHUNKED ? "const CHUNK: u32 = 256u;\n"
							   : "const CHUNK: u32 = 0x80000000u;\n");
		kit_wgsl_add(w, KERNEL_MATMUL_ORDERED);
	}
	kit_wgsl_add(w, tensor_result_text(kit_dtype_bytes(s->format->dtype), through != 0));
}

/* One product of what the slots a, b, y hold. */
static void product(kit_plan *p, const matmul_shape *s, const kit_slot *slots)
{
	const kit_use *u = p->use;
	kit_kernel kernel = {"tensor/matmul.wgsl", NULL, 64, "steps", 16};
	const uint64_t count = kit_elements(&s->out);
	const uint32_t block = matmul_params(p, s);
	kit_wgsl w;

	if (matmul_fast(p, s, block, slots))
		return;
	if (matmul_reads(p) != 0) {
		p->status = PCTL_E_UNSUPPORTED;
		return;
	}
	while (kernel.override_value < s->k)
		kernel.override_value *= 2;
	w = kit_wgsl_make(u, 16384);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	if (s->format == NULL)
		add_integers(&w, u, s->out.dtype, p->through);
	else
		add_floats(&w, u, s, p->through);
	p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_run_through(p, &kernel, kit_dtype_bytes(s->out.dtype) == 2 ? (count + 1) / 2 : count,
			(kit_slot[]){KIT_ALL(block), slots[0], slots[1], slots[2]}, 4,
			(kit_through){p->through, 0, 0});
	kit_wgsl_free(&w);
}

/* Columns that begin where a binding may, whatever their type, and where y's may. */
#define WINDOW 256u

/* Bytes of b for one column of the product where columns lie one behind the other and all batches share them, else 0. */
static uint64_t column_bytes(const kit_use *u, const matmul_shape *s)
{
	if (kit_attr(u, MATMUL_ATTR_TRANSPOSE_B) == 0)
		return 0;
	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++)
		if (s->batch[d].n != 1 && s->batch[d].b != 0)
			return 0;
	return kit_bytes(&u->q->in[1]) % s->n == 0 ? kit_bytes(&u->q->in[1]) / s->n : 0;
}

#define ROWS_COPIED 64u /* of more rows a kernel brings windows together, and no copy of each */

/* Windows of `each` columns, one behind the other, as rows. */
static void join_windows(kit_plan *p, const matmul_shape *s, uint64_t rows, uint64_t each,
			 uint32_t from)
{
	tensor_kernel k = tensor_kernel_begin(p, "tensor/matmul_windows.wgsl", rows * s->n,
					      kit_dtype_bytes(s->out.dtype), 0);

	tensor_kernel_read(&k, "x", k.bytes, from);
	kit_wgsl_add(&k.w,
		     "fn product(i: u32) -> T {\n\tlet n = params.v[0].x;\n"
		     "\tlet first = (i % n) / params.v[0].y * params.v[0].y;\n"
		     "\treturn x_raw(params.v[0].z * first + (i / n) * min(params.v[0].y, n - "
		     "first) + i % n - first);\n}\n");
	k.params.v[0][0] = (uint32_t)s->n;
	k.params.v[0][1] = (uint32_t)each;
	k.params.v[0][2] = (uint32_t)rows;
	tensor_kernel_run(&k, kit_out(p, 0));
}

/* A transposed b that is larger than a binding, a model's table of tokens say, is taken by windows of columns; results of several rows go through a place of their own. */
static int by_windows(kit_plan *p, const matmul_shape *s)
{
	const uint64_t most = p->caps->max_binding_bytes, column = column_bytes(p->use, s);
	const uint64_t size = kit_dtype_bytes(s->out.dtype), rows = kit_elements(&s->out) / s->n;
	/* What tiles leave has rows by the tile, of 128 at most. */
	const uint64_t tiled = most / (8 * matmul_parts(rows, 128) * 128) / WINDOW * WINDOW;
	uint64_t each = column == 0 ? 0 : most / column / WINDOW * WINDOW;
	uint32_t joined = 0;

	if (each > tiled)
		each = tiled;
	if (most == 0 || kit_bytes(&p->use->q->in[1]) <= most || each == 0 || s->n * size % 4 != 0)
		return 0;
	if (rows > 1)
		joined = kit_temp(p, rows * (rows > ROWS_COPIED ? s->n : each) * size);
	for (uint64_t first = 0; first < s->n && p->status == PCTL_OK; first += each) {
		matmul_shape part = *s;

		part.n = s->n - first < each ? s->n - first : each;
		part.out.dim[part.out.rank - 1] = part.n;
		product(p, &part,
			(kit_slot[]){KIT_ALL(kit_in(p, 0)),
				     KIT_PART(kit_in(p, 1), first * column,
					      (part.n * column + 3) / 4 * 4),
				     {.buffer = rows > 1 ? joined : kit_out(p, 0),
				      .offset = rows > ROWS_COPIED ? rows * first * size
						: rows > 1	   ? 0
								   : first * size,
				      .n_bytes = rows * part.n * size}});
		for (uint64_t r = 0; r < rows && rows > 1 && rows <= ROWS_COPIED; r++)
			kit_copy(p, joined, r * part.n * size, kit_out(p, 0),
				 (r * s->n + first) * size, part.n * size);
	}
	if (rows > ROWS_COPIED)
		join_windows(p, s, rows, each, joined);
	return 1;
}

/* A factor that is larger than a binding and lies so that it is not cut, a by rows and b by columns, is turned first. Blocks are not moved. */
static int turned(kit_plan *p, uint32_t factor)
{
	const kit_use *u = p->use;
	const uint32_t attr = factor == 0 ? MATMUL_ATTR_TRANSPOSE_A : MATMUL_ATTR_TRANSPOSE_B;
	const pctl_tensor_type *b = &u->q->in[factor];
	const uint64_t most = p->caps->max_binding_bytes;
	pctl_attr attrs[4];
	kit_arg args[3] = {{kit_in(p, 0), u->q->in[0]}, {kit_in(p, 1), u->q->in[1]}};
	pctl_tensor_type other = *b;
	char axes[64];
	size_t at = 0;
	pctl_op_result r;
	uint32_t to;

	if (most == 0 || kit_bytes(b) <= most || (kit_attr(u, attr) != 0) != (factor == 0) ||
	    kit_block_format_of(b->dtype) != NULL)
		return 0;
	if (p->through != 0) {
		p->status = PCTL_E_UNSUPPORTED;
		return 1;
	}
	p->status = infer(u, &r);
	if (p->status != PCTL_OK)
		return 1;
	other.dim[b->rank - 1] = b->dim[b->rank - 2];
	other.dim[b->rank - 2] = b->dim[b->rank - 1];
	for (uint32_t d = 0; d < b->rank; d++)
		at += (size_t)snprintf(axes + at, sizeof(axes) - at, d == 0 ? "%u" : ",%u",
				       d + 2 < b->rank ? d : 2 * b->rank - 3 - d);
	to = kit_temp(p, (kit_bytes(b) + 3) / 4 * 4);
	kit_run_op_as(p, "tensor.transpose", 1, (kit_arg[]){{kit_in(p, factor), *b}, {to, other}},
		      2, &(pctl_attr){"axes", axes, 0}, 1);
	memcpy(attrs, u->q->attr, sizeof(attrs));
	attrs[attr] = (pctl_attr){attrs[attr].name, factor == 0 ? "false" : "true", factor};
	args[factor] = (kit_arg){to, other};
	args[2] = (kit_arg){kit_out(p, 0), r.out[0]};
	kit_run_op_as(p, u->op->desc.name, u->op->desc.version, args, 3, attrs, KIT_COUNT(attrs));
	return 1;
}

static void plan(kit_plan *p)
{
	matmul_shape s;

	p->status = matmul_shape_of(p->use, &s);
	if (p->status != PCTL_OK || kit_elements(&s.out) == 0)
		return;
	/* Windows of columns write rows in pieces. */
	if (p->through != 0 && kit_bytes(&p->use->q->in[1]) > p->caps->max_binding_bytes) {
		p->status = PCTL_E_UNSUPPORTED;
		return;
	}
	if (turned(p, 0) || by_windows(p, &s) || turned(p, 1))
		return;
	product(p, &s,
		(kit_slot[]){KIT_ALL(kit_in(p, 0)), KIT_ALL(kit_in(p, 1)), KIT_ALL(kit_out(p, 0))});
}

/* ---- the op --------------------------------------------------------------------------------- */

#define TYPES "f32|f16|bf16|i8|u8|i16|u16|i32|u32|i64|u64[...]"
#define PACKED                                                                                 \
	"f8e4m3|f8e5m2|f4|i4|u4|i2|u2|ternary|binary|q4_0|q4_1|q5_0|q5_1|q8_0|q2_k|q3_k|q4_k|" \
	"q5_k|q6_k|"
static const pctl_port in[] = {
	{"a", TYPES, "[.., m, k], or [.., k, m] where transpose_a", PCTL_PORT_THROUGH, 0},
	{"b", PACKED TYPES, "[.., k, n], or [.., n, k] where transpose_b", PCTL_PORT_THROUGH, 0}};
static const pctl_port out[] = {{"y", "f32|f16|bf16|i32|u32|i64|u64[...]",
				 "the products, [.., m, n]", PCTL_PORT_THROUGH, 0}};
static const pctl_attr_desc attr[] = {
	{"order", "exact", "exact, sequential, sequential_unfused or chunked", PCTL_ATTR_STRING, 0,
	 0, 0},
	{"out", "", "type of y where a factor is a float: f32 (if not given), f16 or bf16",
	 PCTL_ATTR_STRING, 0, 0, 0},
	{"transpose_a", "false", "matrices of a are transposed first", PCTL_ATTR_BOOL, 0, 0, 1},
	{"transpose_b", "false", "matrices of b are transposed first", PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "transposed", NULL,
	 "a matrix transposed in memory and by its attribute gives the same y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "rows", NULL,
	 "the rows of a reversed give the rows of y reversed"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "padded", NULL,
	 "but for chunked: columns of 0 behind a over rows of -0 (integers: 0) behind b leave y as "
	 "it is"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "reordered", NULL,
	 "order exact: columns of a and rows of b reversed together leave y as it is"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "doubled", NULL,
	 "order exact: k taken twice, of floats the second time with a negated, gives 2 y, of "
	 "floats 0 where y is finite"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "unpacked", NULL,
	 "where b is packed and has no minima, or of 64 bits: b made f32, beside integers a's "
	 "type, "
	 "gives the "
	 "same y"},
	TENSOR_COMPOSED_LAW("factors turned",
			    "where a and b are of one type of whole bytes: the product of b and a, "
			    "both transposed, transposed is y"),
	TENSOR_COMPOSED_LAW("parts of rows",
			    "the products of the rows of a in two parts, joined, are y"),
	TENSOR_COMPOSED_LAW("parts of columns",
			    "the products with the columns of b in two parts, joined, are y"),
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "shape", NULL,
	 "y has a row for each of a, a column for each of b, and the batches of both"},
};
static void (*const laws_checks[])(kit_law *) = {
	matmul_law_transposed,	  matmul_law_rows,     matmul_law_padded,   matmul_law_reordered,
	matmul_law_doubled,	  matmul_law_unpacked, compose_law_factors, compose_law_row_parts,
	compose_law_column_parts, matmul_law_shape};
static const pctl_example boundaries[] = {
	{"no product", {0}}, {"one", {1}}, {"one chunk and one", {257}}};

static const kit_op ops[] = {
	{
		.desc = {KIT_PLAN_OP("tensor.matmul", 1, PCTL_CLASS_STRICT),
			 .doc = "products of matrices, exact by default",
			 .spec = "y[.., i, j] = the sum over k of a[.., i, k] * b[.., k, j]; "
				 "dimensions before "
				 "the last two are broadcast.\n"
				 "A float or block and a float, or a float or block and an integer "
				 "of 16 bits or fewer: "
				 "exact, the exact sum of the exact products, rounded once to y's "
				 "type;\n"
				 "0 * Inf, Inf - Inf and NaN give the canonical NaN. sequential: "
				 "acc = "
				 "fma(a, b, acc) in f32, k ascending from +0;\n"
				 "sequential_unfused: acc + a * b, two roundings; chunked: k cut "
				 "at "
				 "multiples of 256, each chunk as sequential,\n"
				 "their sums added from left to right onto the first. Nothing to "
				 "add "
				 "gives +0.\n"
				 "Integers: modulo 2^32 (of 32 bits and fewer) or 2^64, both of "
				 "one "
				 "sign.\n"
				 "At most 2^31 elements a tensor and 2^29 products an element.",
			 KIT_IN(in), KIT_OUT(out), KIT_ATTR(attr)},
		.rules = KIT_PLAN_RULES(laws, boundaries),
		.laws = laws_checks,
		.problems = &matmul_problems,
		.problem = matmul_problem,
		.infer = infer,
		.plan = plan,
		.reference = matmul_reference,
	},
};

const kit_family tensor_matmul_family = {ops, NULL, KIT_COUNT(ops), 0};
