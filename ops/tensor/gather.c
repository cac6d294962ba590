/* tensor.gather, embedding, take_along, one_hot and histogram: what goes by an index tensor (SEMANTICS.md 16.3). Every index is looked
 * at before the plan is believed: indices.c. */
#include "common/tensors/elements.h"
#include "kernels.h"

enum { ATTR_AXIS, ATTR_NEGATIVE };

/* y seen as [outer, m, inner], x as [outer, n, inner]. */
typedef struct taking {
	tensor_lines x;
	uint64_t m;
	int along, negative; /* along: an index for each element, not for each place of the axis */
	pctl_tensor_type out;
} taking;

static const uint32_t is_along = 1, is_embedding = 2;

static pctl_status embedding_lines(const kit_use *u, taking *t)
{
	const pctl_tensor_type *x = &u->q->in[0];

	if (x->rank != 2)
		return kit_refuse_type(u, 0, "a matrix");
	t->x = (tensor_lines){1, x->dim[0], x->dim[1], 0};
	return PCTL_OK;
}

static pctl_status taking_of(const kit_use *u, taking *t)
{
	const pctl_tensor_type *x = &u->q->in[0], *index = &u->q->in[1];
	const int embedding = u->op->data == &is_embedding;
	pctl_status status = tensor_movable(u, 0);

	*t = (taking){.along = u->op->data == &is_along, .out = {.dtype = x->dtype}};
	if (status == PCTL_OK)
		status =
			embedding ? embedding_lines(u, t) : tensor_lines_of(u, ATTR_AXIS, x, &t->x);
	if (status != PCTL_OK)
		return status;
	t->negative = !embedding && kit_attr(u, ATTR_NEGATIVE) != 0;
	t->m = t->along ? (index->rank > t->x.axis ? index->dim[t->x.axis] : 0)
			: kit_elements(index);
	if (t->along && index->rank != x->rank)
		return kit_refuse_type(u, 1, "as many dimensions as x has");
	if (!t->along && x->rank - 1 + index->rank > PCTL_RANK_MAX)
		return kit_refuse_type(u, 1, "so few dimensions that y has at most 8");
	for (uint32_t d = 0; d < x->rank; d++)
		if (t->along && d != t->x.axis && index->dim[d] != x->dim[d])
			return kit_refuse_type(u, 1, "x's shape but along the axis");
	for (uint32_t d = 0; d < x->rank; d++) {
		if (d != t->x.axis) {
			t->out.dim[t->out.rank++] = x->dim[d];
			continue;
		}
		for (uint32_t k = t->along ? d : 0; k < (t->along ? d + 1 : index->rank); k++)
			t->out.dim[t->out.rank++] = index->dim[k];
	}
	status = kit_limit(u, "indices", kit_elements(index), TENSOR_ELEMENTS_MAX);
	return status != PCTL_OK
		       ? status
		       : kit_limit(u, "elements", kit_elements(&t->out), TENSOR_ELEMENTS_MAX);
}

static pctl_status gather_infer(const kit_use *u, pctl_op_result *out)
{
	taking t;
	const pctl_status status = taking_of(u, &t);

	if (status == PCTL_OK)
		out->out[0] = t.out;
	return status;
}

static void gather_plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const uint32_t dtype = u->q->in[0].dtype;
	tensor_kernel k;
	taking t;

	p->status = taking_of(u, &t);
	if (p->status != PCTL_OK)
		return;
	tensor_index_check(p, 1, t.x.n, t.negative);
	k = tensor_kernel_begin_of(p, "tensor/gather.wgsl", kit_elements(&t.out), dtype, 0);
	tensor_kernel_read_of(&k, "x", dtype, kit_in(p, 0));
	tensor_kernel_index(&k, "index", u->q->in[1].dtype, t.x.n, t.negative, kit_in(p, 1));
	kit_wgsl_add(&k.w,
		     t.along ? "const ALONG: bool = true;\n" : "const ALONG: bool = false;\n");
	kit_wgsl_add(&k.w, KERNEL_GATHER);
	k.params.v[0][0] = (uint32_t)t.x.inner;
	k.params.v[0][1] = (uint32_t)t.m;
	k.params.v[0][2] = (uint32_t)t.x.n;
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status gather_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t type = u->q->in[0].dtype, dtype = u->q->in[1].dtype;
	uint64_t at = 0;
	taking t;
	pctl_status status = taking_of(u, &t);

	if (status == PCTL_OK)
		status = tensor_index_refuse(u, 1, in[1].data, t.x.n, t.negative);
	for (uint64_t o = 0; status == PCTL_OK && o < t.x.outer; o++)
		for (uint64_t j = 0; j < t.m; j++)
			for (uint64_t k = 0; k < t.x.inner; k++, at++) {
				const uint64_t row =
					tensor_index_of(dtype, in[1].data, t.along ? at : j, t.x.n);

				tensor_code_put(type, out[0].data, at,
						tensor_code(type, in[0].data,
							    (o * t.x.n + row) * t.x.inner + k));
			}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const uint32_t index_types[] = {PCTL_SCALAR_I32, PCTL_SCALAR_U32, PCTL_SCALAR_I64,
				       PCTL_SCALAR_U64};

#define GATHER_PROBLEMS (TENSOR_SHAPES * 8)
static const pctl_op_problems gather_problems = {
	PCTL_HEAD(pctl_op_problems),
	"tensors of up to 325 elements, indices in range and out of it", GATHER_PROBLEMS};

static void gather_problem(kit_problem *p)
{
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES], index;
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES);
	const int along = p->use.op->data == &is_along,
		  embedding = p->use.op->data == &is_embedding;
	const uint32_t axis = embedding ? 0 : variant % x.rank, type = variant % 4;
	const int negative = !embedding && (variant & 5) == 4;
	char text[8] = {(char)('0' + axis), '\0'};

	if (tensor_problem_of_others(p))
		return;
	x.dtype = p->dtype;
	if (p->number >= GATHER_PROBLEMS || (embedding && x.rank != 2)) {
		kit_problem_none(p);
		return;
	}
	index = along ? x : tensor_type_of(0, 1 + variant % 2, (uint64_t[]){5, 3});
	index.dtype = index_types[type];
	if (along)
		index.dim[axis] = (variant * 3 + 1) % 8;
	/* Nothing can be taken of nothing. */
	if (x.dim[axis] == 0)
		index.dim[along ? axis : 0] = 0;
	if (!embedding) {
		tensor_problem_attr(p, ATTR_AXIS, text);
		tensor_problem_attr(p, ATTR_NEGATIVE, negative ? "true" : "false");
	}
	tensor_problem_fill(p, 0, &x, TENSOR_BITS);
	tensor_problem_index(p, 1, &index, x.dim[axis], negative);
	kit_problem_rigid(p);
}

static uint64_t from_the_end(const void *ctx, uint64_t i)
{
	return *(const uint64_t *)ctx - 1 - i;
}

static void law_mirrored(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_op_query *q = l->use.q;
	uint32_t in[2] = {0, 0}, got;
	tensor_lines lines;
	uint64_t last;
	taking t;

	if (taking_of(&l->use, &t) != PCTL_OK)
		return;
	lines = (tensor_lines){t.x.outer, t.m, t.x.inner, 0};
	last = t.m;
	in[1] = t.along ? tensor_law_taken(l, &q->in[1], 1, tensor_law_mirrored, &lines)
			: tensor_law_taken(l, &q->in[1], 1, from_the_end, &last);
	got = kit_law_use(l, l->use.op->desc.name, in, 2, q->attr, q->n_attr, 1);
	kit_law_equal(l, got, tensor_law_taken(l, &l->c->types[y], y, tensor_law_mirrored, &lines));
}

/* Indices 0 to n - 1. */
static void law_all(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	uint32_t in[2] = {0, 0}, *data;
	pctl_tensor_type index;
	taking t;

	if (taking_of(&l->use, &t) != PCTL_OK)
		return;
	index = t.along ? q->in[0] : kit_vector(PCTL_SCALAR_U32, t.x.n);
	index.dtype = PCTL_SCALAR_U32;
	data = kit_law_scratch(l, 4 * kit_elements(&index) + 4);
	if (data == NULL)
		return;
	for (uint64_t i = 0; i < kit_elements(&index); i++)
		data[i] = (uint32_t)(t.along ? i / t.x.inner % t.x.n : i);
	in[1] = kit_law_tensor(l, &index, data);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, 2, q->attr, q->n_attr, 1), 0);
	kit_law_free(l, data);
}

/* ---- one_hot -------------------------------------------------------------------------------- */

enum { ATTR_DEPTH, ATTR_HOT_NEGATIVE, ATTR_OUT };
#define HOT_TYPES "f32|f16|bf16|i8|u8|i16|u16|i32|u32|i64|u64|bool"

static uint64_t one_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32	   ? 0x3f800000u
	       : dtype == PCTL_SCALAR_F16  ? 0x3c00u
	       : dtype == PCTL_SCALAR_BF16 ? 0x3f80u
					   : 1u;
}

static pctl_status one_hot_infer(const kit_use *u, pctl_op_result *out)
{
	pctl_tensor_type *y = &out->out[0];
	pctl_status status = tensor_movable(u, 0);

	*y = u->q->in[0];
	if (status == PCTL_OK)
		status = tensor_dtype_of(u, ATTR_OUT, HOT_TYPES, &y->dtype);
	if (status == PCTL_OK && y->rank == PCTL_RANK_MAX)
		status = kit_refuse_type(u, 0, "at most 7 dimensions");
	if (status != PCTL_OK)
		return status;
	y->dim[y->rank++] = kit_attr(u, ATTR_DEPTH);
	return kit_limit(u, "elements", kit_elements(y), TENSOR_ELEMENTS_MAX);
}

static void one_hot_plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const uint64_t depth = kit_attr(u, ATTR_DEPTH);
	const int negative = kit_attr(u, ATTR_HOT_NEGATIVE) != 0;
	pctl_op_result r;
	tensor_kernel k;

	p->status = one_hot_infer(u, &r);
	if (p->status != PCTL_OK)
		return;
	tensor_index_check(p, 0, depth, negative);
	k = tensor_kernel_begin(p, "tensor/one_hot.wgsl", kit_elements(&r.out[0]),
				kit_dtype_bytes(r.out[0].dtype), 0);
	tensor_kernel_index(&k, "index", u->q->in[0].dtype, depth, negative, kit_in(p, 0));
	kit_wgsl_add(&k.w, "fn product(i: u32) -> T {\n\treturn select(T(0), T(params.v[0].y), "
			   "index_at(i / params.v[0].x) == i % params.v[0].x);\n}\n");
	k.params.v[0][0] = (uint32_t)depth;
	k.params.v[0][1] = (uint32_t)one_of(r.out[0].dtype);
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status one_hot_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t depth = kit_attr(u, ATTR_DEPTH);
	pctl_op_result r;
	pctl_status status = one_hot_infer(u, &r);

	if (status == PCTL_OK)
		status = tensor_index_refuse(u, 0, in[0].data, depth,
					     kit_attr(u, ATTR_HOT_NEGATIVE) != 0);
	if (status != PCTL_OK)
		return status;
	if (out[0].n_bytes != 0)
		memset(out[0].data, 0, out[0].n_bytes);
	for (uint64_t i = 0; i < kit_elements(&u->q->in[0]); i++)
		tensor_put(out[0].data,
			   i * depth + tensor_index_of(u->q->in[0].dtype, in[0].data, i, depth),
			   kit_dtype_bytes(r.out[0].dtype), one_of(r.out[0].dtype));
	return PCTL_OK;
}

static const pctl_op_problems one_hot_problems = {
	PCTL_HEAD(pctl_op_problems), "up to 325 indices in range and out of it", TENSOR_SHAPES * 4};

static void one_hot_problem(kit_problem *p)
{
	static const char *const outs[] = {"f32", "u8", "f16", "i64"};
	static const char *const depths[] = {"5", "1", "33", "2"};
	static const uint64_t sizes[] = {5, 1, 33, 2};
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES];
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES) % 4;

	x.dtype = p->dtype;
	tensor_problem_attr(p, ATTR_DEPTH, depths[variant]);
	tensor_problem_attr(p, ATTR_HOT_NEGATIVE, variant == 2 ? "true" : "false");
	tensor_problem_attr(p, ATTR_OUT, outs[variant]);
	tensor_problem_index(p, 0, &x, sizes[variant], variant == 2);
	kit_problem_rigid(p);
}

/* Rows of a matrix of ones on the diagonal. */
static void law_diagonal(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0), dtype = l->c->types[y].dtype;
	const pctl_tensor_type *t = &l->c->types[y];
	const uint64_t n = t->dim[t->rank - 1], bytes = kit_dtype_bytes(dtype);
	const pctl_tensor_type eye = {dtype, 2, {n, n}};
	const pctl_attr attr[2] = {{"axis", "0", 0}, {"negative", "true", 1}};
	uint8_t *data = kit_law_scratch(l, n * n * bytes + 1);
	uint32_t in[2] = {0, 0};

	if (data == NULL)
		return;
	for (uint64_t i = 0; i < n; i++)
		tensor_put(data, i * n + i, bytes, one_of(dtype));
	in[0] = kit_law_tensor(l, &eye, data);
	kit_law_equal(l, kit_law_use(l, "tensor.gather", in, 2, attr, 2, 1), y);
	kit_law_free(l, data);
}

/* ---- histogram ------------------------------------------------------------------------------ */

static pctl_status histogram_infer(const kit_use *u, pctl_op_result *out)
{
	out->out[0] = kit_vector(PCTL_SCALAR_U32, kit_attr(u, 0));
	return tensor_movable(u, 0);
}

static void histogram_plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const uint64_t bins = kit_attr(u, 0), n = kit_elements(&u->q->in[0]);
	const uint64_t bytes = kit_dtype_bytes(u->q->in[0].dtype);
	const uint64_t most = p->caps->max_binding_bytes / 65536 * (65536 / bytes);
	const uint64_t each = tensor_is_parted(p, kit_in(p, 0)) && most != 0 ? most : n;
	kit_kernel kernel = {"tensor/histogram.wgsl", NULL, 64, NULL, 0};
	kit_wgsl w;

	tensor_index_check(p, 0, bins, 0);
	kit_fill(p, kit_out(p, 0), 0, 4 * bins, 0);
	if (n == 0)
		return;
	w = kit_wgsl_make(u, 4096);
	kit_wgsl_add(&w, bytes == 8 ? "@group(0) @binding(1) var<storage, read> x: array<u64>;\n"
				    : "@group(0) @binding(1) var<storage, read> x: array<u32>;\n");
	kit_wgsl_add(&w, KERNEL_HISTOGRAM);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	/* Counts add up, whatever lies in which piece. */
	for (uint64_t first = 0; first < n && p->status == PCTL_OK; first += each) {
		const uint32_t count = (uint32_t)(n - first < each ? n - first : each);
		const kit_slot x =
			each == n ? (kit_slot)KIT_ALL(kit_in(p, 0))
				  : (kit_slot)KIT_PART(kit_in(p, 0), first * bytes, count * bytes);

		kit_run(p, &kernel, count,
			(kit_slot[]){KIT_ALL(kit_params(p, &count, sizeof(count))), x,
				     KIT_ALL(kit_out(p, 0))},
			3);
	}
	kit_wgsl_free(&w);
}

static pctl_status histogram_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t bins = kit_attr(u, 0);
	const pctl_status status = tensor_index_refuse(u, 0, in[0].data, bins, 0);

	if (status != PCTL_OK)
		return status;
	memset(out[0].data, 0, 4 * bins);
	for (uint64_t i = 0; i < kit_elements(&u->q->in[0]); i++) {
		const uint64_t to = tensor_index_of(u->q->in[0].dtype, in[0].data, i, bins);

		tensor_put(out[0].data, to, 4, tensor_get(out[0].data, to, 4) + 1);
	}
	return PCTL_OK;
}

static const pctl_op_problems histogram_problems = {
	PCTL_HEAD(pctl_op_problems), "up to 325 indices in range and out of it", TENSOR_SHAPES * 3};

static void histogram_problem(kit_problem *p)
{
	static const char *const bins[] = {"3", "1", "64"};
	static const uint64_t sizes[] = {3, 1, 64};
	pctl_tensor_type x = tensor_problem_shapes[p->number % TENSOR_SHAPES];
	const uint32_t variant = (uint32_t)(p->number / TENSOR_SHAPES) % 3;

	x.dtype = p->dtype;
	tensor_problem_attr(p, 0, bins[variant]);
	tensor_problem_index(p, 0, &x, sizes[variant], 0);
	kit_problem_rigid(p);
}

/* The columns of one_hot, added up. */
static void law_counted(kit_law *l)
{
	const uint32_t flat[] = {0};
	const pctl_tensor_type t =
		kit_vector(l->use.q->in[0].dtype, kit_elements(&l->use.q->in[0]));
	const pctl_attr hot[2] = {{"depth", kit_law_attr(l, "bins"), kit_attr(&l->use, 0)},
				  {"out", "u32", 0}};
	const pctl_attr sum[1] = {{"axes", "0", 0}};
	uint32_t in = tensor_law_taken(l, &t, flat[0], tensor_law_mirrored,
				       &(tensor_lines){1, kit_elements(&t), 1, 0});

	in = kit_law_use(l, "tensor.one_hot", &in, 1, hot, 2, 1);
	kit_law_equal(l, kit_law_use(l, "tensor.sum", &in, 1, sum, 1, 1), kit_law_out(l, 0));
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port gather_in[] = {{"x", TENSOR_ANY "[...]", "what is taken from", 0, 0},
				      {"index", TENSOR_INDEX "[...]", "what is taken", 0, 0}};
static const pctl_port embedding_in[] = {{"table", TENSOR_ANY "[n,m]", "the rows", 0, 0},
					 {"index", TENSOR_INDEX "[...]", "which row", 0, 0}};
static const pctl_port gather_out[] = {{"y", TENSOR_ANY "[...]", "what was taken", 0, 0}};
static const pctl_port hot_in[] = {{"index", TENSOR_INDEX "[...]", "which element is 1", 0, 0}};
static const pctl_port hot_out[] = {{"y", HOT_TYPES "[...]", "ones and zeros", 0, 0}};
static const pctl_port histogram_in[] = {{"x", TENSOR_INDEX "[...]", "numbers of bins", 0, 0}};
static const pctl_port histogram_out[] = {{"y", "u32[bins]", "how many there are", 0, 0}};
#define NEGATIVE                                                                           \
	{                                                                                  \
		"negative", "false",                                                       \
			"negative indices count from the end; else they are out of range", \
			PCTL_ATTR_BOOL, 0, 0, 1                                            \
	}
static const pctl_attr_desc gather_attr[] = {
	{"axis", "0", "along which is taken; a negative one counts from the end", PCTL_ATTR_I64, 0,
	 0, 0},
	NEGATIVE,
};
static const pctl_attr_desc hot_attr[] = {
	{"depth", NULL, "elements of the new last axis", PCTL_ATTR_U64, 0, 1, TENSOR_ELEMENTS_MAX},
	NEGATIVE,
	{"out", "f32", "type of y", PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_attr_desc histogram_attr[] = {
	{"bins", NULL, "how many bins there are", PCTL_ATTR_U64, 0, 1, 1u << 30},
};

static const pctl_law gather_laws[] = {
	TENSOR_LAW("mirrored", "indices from the last to the first give y so"),
	TENSOR_LAW("all", "indices 0, 1, .. n - 1 give x"),
};
static void (*const gather_checks[])(kit_law *) = {law_mirrored, law_all};
static const pctl_law one_hot_laws[] = {TENSOR_LAW(
	"diagonal", "y is the rows of a matrix of ones on the diagonal, taken by index")};
static void (*const one_hot_checks[])(kit_law *) = {law_diagonal};
static const pctl_law histogram_laws[] = {
	TENSOR_LAW("counted", "y is the sum of the rows of one_hot of x from its end")};
static void (*const histogram_checks[])(kit_law *) = {law_counted};

#define RANGE                                                                                  \
	"\nAn index out of range fails the job: the lowest position is named, and the number " \
	"there."
static const kit_op ops[] = {
	TENSOR_OP(gather, 1, "tensor.gather", "elements along an axis, by a tensor of indices",
		  "y[o, j, k] = x[o, index[j], k], the shape of index in the place of the "
		  "axis." RANGE,
		  PCTL_CLASS_INTEGER, gather_in, 2, gather_out, gather_attr, 2, NULL),
	TENSOR_OP(gather, 1, "tensor.take_along", "an element along an axis for each index",
		  "y[o, j, k] = x[o, index[o, j, k], k]; index has x's shape but along the "
		  "axis." RANGE,
		  PCTL_CLASS_INTEGER, gather_in, 2, gather_out, gather_attr, 2, &is_along),
	TENSOR_OP(gather, 1, "tensor.embedding", "rows of a table, by a tensor of indices",
		  "y[j, k] = table[index[j], k] for every j in index." RANGE, PCTL_CLASS_INTEGER,
		  embedding_in, 2, gather_out, NULL, 0, &is_embedding),
	TENSOR_OP(one_hot, 1, "tensor.one_hot", "1 at the index along a new last axis, 0 elsewhere",
		  "y[j, k] = 1 where k is index[j], else 0, of `depth` elements." RANGE,
		  PCTL_CLASS_INTEGER, hot_in, 1, hot_out, hot_attr, 3, NULL),
	TENSOR_OP(histogram, 1, "tensor.histogram", "how often each number below `bins` occurs",
		  "y[v] = the number of elements of x that are v." RANGE, PCTL_CLASS_INTEGER,
		  histogram_in, 1, histogram_out, histogram_attr, 1, NULL),
};

const kit_family tensor_gather_family = {ops, NULL, KIT_COUNT(ops), 0};
