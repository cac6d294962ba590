/* Laws of tensor.matmul, as equations between products that the device gives, and the problems that they are tried on. */
#include "common/codec.h"
#include "common/tensors/value.h"
#include "matmul.h"

/* ---- problems ------------------------------------------------------------------------------- */

typedef struct size {
	uint64_t m, k, n, batch_a, batch_b; /* 0: no such dimension */
} size;

static const size sizes[] = {{1, 1, 1, 0, 0},  {2, 0, 3, 0, 0},	  {0, 3, 2, 0, 0},
			     {3, 4, 5, 0, 0},  {1, 255, 2, 0, 0}, {2, 257, 1, 0, 0},
			     {2, 3, 2, 3, 3},  {3, 7, 2, 2, 1},	  {1, 1023, 1, 0, 0},
			     {33, 9, 35, 0, 0}}; /* the last: as matmul_fast.c has it */
enum { SMALL, ANY, CANCEL, TIES, TINY, KINDS };

/* Types of b that a does not have, and how many problems of each: those of a number behind the others. */
static const uint32_t packed[] = {
	PCTL_DTYPE_F8E4M3, PCTL_DTYPE_F8E5M2, PCTL_DTYPE_F4,   PCTL_DTYPE_I4,
	PCTL_DTYPE_U4,	   PCTL_DTYPE_I2,     PCTL_DTYPE_U2,   PCTL_DTYPE_TERNARY,
	PCTL_DTYPE_BINARY, PCTL_DTYPE_Q4_0,   PCTL_DTYPE_Q4_1, PCTL_DTYPE_Q5_0,
	PCTL_DTYPE_Q5_1,   PCTL_DTYPE_Q8_0,   PCTL_DTYPE_Q2_K, PCTL_DTYPE_Q3_K,
	PCTL_DTYPE_Q4_K,   PCTL_DTYPE_Q5_K,   PCTL_DTYPE_Q6_K};
#define PACKED_EACH 3u
#define PACKED_PROBLEMS (KIT_COUNT(packed) * PACKED_EACH)

const pctl_op_problems matmul_problems = {
	PCTL_HEAD(pctl_op_problems), "products of matrices of up to 1023 columns",
	KIT_COUNT(sizes) * KINDS *MATMUL_ORDERS + PACKED_PROBLEMS};

/* An element as bits of an f32: small integers; anything; pairs that cancel but for little; sums half way between two floats; of a 2^-100 to 2^-97, of b less than zero, so that
 * products round to -0 and only -0 may be added to them (one in sixteen has the other sign). */
static uint32_t float_bits(uint32_t kind, uint32_t port, uint64_t r, uint64_t k)
{
	static const uint32_t edges[] = {0,	      0x80000000u, 1,		0x80000001u,
					 0x007fffffu, 0x00800000u, 0x7f7fffffu, 0x7f800000u,
					 0xff800000u, 0x7fc00000u, 0x3f800000u, 0xbf800001u};
	const uint32_t sign = (uint32_t)(k & 1) << 31;
	float f = (float)(int32_t)(r % 17) - 8;
	uint32_t bits;

	switch (kind) {
	case SMALL:
		memcpy(&bits, &f, 4);
		return bits;
	case ANY:
		return r % 8 == 0 ? edges[r / 8 % KIT_COUNT(edges)] : (uint32_t)(r >> 32);
	case CANCEL:
		return sign | (100u + (uint32_t)(k / 2 * 7 % 56)) << 23 |
		       (r % 16 == 0 ? 1u : 0x400000u);
	case TINY:
		return ((port ^ (uint32_t)(r % 16 == 0)) & 1) << 31 | (27u + (uint32_t)(r >> 8 & 3))
									      << 23;
	default:
		return (r % 2 ? sign : 0) | (127u - 12u * (uint32_t)(r % 3)) << 23 |
		       (uint32_t)(r >> 8 & 3);
	}
}

static void element(uint32_t dtype, uint32_t kind, uint32_t port, uint64_t r, uint64_t k, void *to)
{
	const uint32_t bits = float_bits(kind, port, r, k);
	const uint16_t upper = (uint16_t)(bits >> 16);
	/* Exponents of f16 are narrower: those of f32 folded into them. */
	const uint16_t half =
		(uint16_t)((upper & 0x8000u) | (bits >> 23 & 31u) << 10 | (bits & 0x3ffu));
	const uint64_t integer = kind == SMALL ? r % 9 : r;

	if (dtype == PCTL_SCALAR_F32)
		memcpy(to, &bits, 4);
	else if (dtype == PCTL_SCALAR_F16 || dtype == PCTL_SCALAR_BF16)
		memcpy(to, dtype == PCTL_SCALAR_F16 ? &half : &upper, 2);
	else
		memcpy(to, &integer, kit_dtype_bytes(dtype));
}

static void put(kit_problem *p, uint32_t port, uint64_t batch, uint64_t rows, uint64_t columns,
		uint32_t kind)
{
	pctl_tensor_type t = {.dtype = p->dtype, .rank = 2, .dim = {rows, columns}};
	const uint64_t bytes = kit_dtype_bytes(p->dtype);
	uint8_t *data;
	uint64_t n;

	if (batch != 0)
		t = (pctl_tensor_type){.dtype = p->dtype, .rank = 3, .dim = {batch, rows, columns}};
	n = kit_elements(&t);
	data = kit_scratch(&p->use, n * bytes);
	if (data == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a matrix");
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		element(p->dtype, kind, port, kit_random(p->seed + p->number * 2 + port, i),
			port == 0 ? i % (columns == 0 ? 1 : columns) : 0, data + i * bytes);
	kit_problem_input(p, port, &t, data);
	kit_scratch_free(&p->use, data);
}

/* A type of b that goes with a's. */
static int goes_with(uint32_t a, uint32_t b)
{
	const int is_float = a >= PCTL_SCALAR_F16 && a <= PCTL_SCALAR_BF16;

	if (is_float || kit_codec_word(b) == NULL)
		return kit_codec_bits(a) != NULL;
	return kit_codec_word(a) != NULL &&
	       (tensor_is_signed(b) || b == PCTL_DTYPE_BINARY) == tensor_is_signed(a);
}

/* b is packed: small matrices, b as it lies or transposed. */
static void packed_problem(kit_problem *p, uint32_t number)
{
	const uint32_t dtype = packed[number / PACKED_EACH], turned = number % PACKED_EACH == 2;
	const uint64_t k = 5;
	uint32_t block;
	pctl_tensor_type t = {.dtype = dtype, .rank = 2};
	uint8_t *data;

	(void)kit_dtype_bits(dtype, &block);
	if (!goes_with(p->dtype, dtype)) {
		kit_problem_none(p);
		return;
	}
	t.dim[0] = turned ? 3 : k;
	t.dim[1] = block != 1 ? block : turned ? k : 7;
	if (turned && p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, MATMUL_ATTR_TRANSPOSE_B, "true");
	put(p, 0, 0, 2, turned ? t.dim[1] : k, number % PACKED_EACH == 1 ? ANY : SMALL);
	data = kit_scratch(&p->use, kit_bytes(&t) + 8);
	if (data == NULL) {
		p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a matrix");
		return;
	}
	for (uint64_t i = 0; i < kit_bytes(&t); i++)
		data[i] = (uint8_t)(kit_random(p->seed + p->number, i / 8) >> i % 8 * 8);
	tensor_mend(dtype, data, kit_elements(&t), kit_bytes(&t));
	kit_problem_input(p, 1, &t, data);
	kit_scratch_free(&p->use, data);
	kit_problem_rigid(p);
}

void matmul_problem(kit_problem *p)
{
	static const char *const orders[MATMUL_ORDERS] = {"exact", "sequential",
							  "sequential_unfused", "chunked"};
	const uint32_t order = (uint32_t)(p->number % MATMUL_ORDERS);
	const uint32_t kind = (uint32_t)(p->number / MATMUL_ORDERS % KINDS);
	const size *s = &sizes[p->number / MATMUL_ORDERS / KINDS % KIT_COUNT(sizes)];
	const uint64_t first = matmul_problems.n - PACKED_PROBLEMS;
	const int is_float = p->dtype >= PCTL_SCALAR_F16 && p->dtype <= PCTL_SCALAR_BF16;
	const uint32_t turned = (uint32_t)(p->number / MATMUL_ORDERS) % 3; /* none, a, b */

	if (p->number >= first && p->number < matmul_problems.n) {
		packed_problem(p, (uint32_t)(p->number - first));
		return;
	}
	/* Kinds are of floats, but for the first two; orders differ in what they make of anything, of what cancels and of zeros. */
	if (p->number >= matmul_problems.n || (!is_float && order != MATMUL_EXACT) ||
	    (order == MATMUL_UNFUSED && s->k > 16) || (!is_float && kind > ANY) ||
	    (order != MATMUL_EXACT && (kind == SMALL || kind == TIES))) {
		kit_problem_none(p);
		return;
	}
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, MATMUL_ATTR_ORDER, orders[order]);
	if (p->status == PCTL_OK && turned != 0)
		p->status = p->sink->attr(
			p->sink->ctx,
			turned == 1 ? MATMUL_ATTR_TRANSPOSE_A : MATMUL_ATTR_TRANSPOSE_B, "true");
	put(p, 0, s->batch_a, turned == 1 ? s->k : s->m, turned == 1 ? s->m : s->k, kind);
	put(p, 1, s->batch_b, turned == 2 ? s->n : s->k, turned == 2 ? s->k : s->n, kind);
	kit_problem_rigid(p);
}

/* ---- laws ----------------------------------------------------------------------------------- */

/* One factor laid out anew; what is done with row r and column c of a matrix of it. */
typedef struct relayout {
	uint64_t rows, columns;
	/* Where the new element (r, c) comes from: of the old ones `rows_from`, `columns_from`; UINT64_MAX: the filler. */
	void (*from)(uint64_t old_rows, uint64_t old_columns, uint64_t *r, uint64_t *c);
	int negated_from; /* 1: columns from the old number on are negated */
	uint64_t filler;
} relayout;

static uint64_t dim(const kit_law *l, uint32_t port, uint32_t back)
{
	const pctl_tensor_type *t = &l->use.q->in[port];

	return t->dim[t->rank - 1 - back];
}

static uint64_t sign_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32 ? 0x80000000u : 0x8000u;
}

static uint32_t laid_out(kit_law *l, uint32_t port, const relayout *w)
{
	pctl_tensor_type t = l->use.q->in[port];
	const uint64_t bytes = kit_dtype_bytes(t.dtype), old_rows = dim(l, port, 1),
		       old_columns = dim(l, port, 0);
	const uint64_t matrices = old_rows * old_columns == 0
					  ? (t.rank == 3 ? t.dim[0] : 1)
					  : kit_elements(&t) / (old_rows * old_columns);
	uint8_t *data;
	uint32_t number;

	t.dim[t.rank - 2] = w->rows;
	t.dim[t.rank - 1] = w->columns;
	data = kit_law_scratch(l, kit_elements(&t) * bytes + 8);
	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < matrices * w->rows * w->columns; i++) {
		uint64_t c = i % w->columns, r = i / w->columns % w->rows, v = w->filler;
		const int negated = w->negated_from && c >= old_columns;

		w->from(old_rows, old_columns, &r, &c);
		if (r != UINT64_MAX)
			memcpy(&v,
			       kit_law_data(l, port) +
				       ((i / w->columns / w->rows * old_rows + r) * old_columns +
					c) * bytes,
			       bytes);
		if (negated)
			v = t.dtype >= PCTL_SCALAR_F16 && t.dtype <= PCTL_SCALAR_BF16
				    ? v ^ sign_of(t.dtype)
				    : 0 - v;
		memcpy(data + i * bytes, &v, bytes);
	}
	number = kit_law_tensor(l, &t, data);
	kit_law_free(l, data);
	return number;
}

/* The product of two tensors by the attributes in force, with those of `turned` (1: a's, 2: b's) the other way round. */
static uint32_t multiplied(kit_law *l, uint32_t a, uint32_t b, uint32_t turned)
{
	const uint32_t factors[2] = {a, b};
	pctl_attr attr[4];

	for (uint32_t i = 0; i < 4; i++)
		attr[i] = l->use.q->attr[i];
	for (uint32_t i = 0; i < 2; i++)
		if (turned >> i & 1) {
			attr[MATMUL_ATTR_TRANSPOSE_A + i].u64 =
				!attr[MATMUL_ATTR_TRANSPOSE_A + i].u64;
			attr[MATMUL_ATTR_TRANSPOSE_A + i].text =
				attr[MATMUL_ATTR_TRANSPOSE_A + i].u64 ? "true" : "false";
		}
	return kit_law_use(l, "tensor.matmul", factors, 2, attr, 4, 1);
}

static int transposed(const kit_law *l, uint32_t port)
{
	return strcmp(kit_law_attr(l, port == 0 ? "transpose_a" : "transpose_b"), "true") == 0;
}

/* Elements of b are not whole bytes, or have no f32: it is not laid out anew. */
static int is_packed(const kit_law *l)
{
	return kit_dtype_bytes(l->use.q->in[1].dtype) == 0;
}

static int is_exact(const kit_law *l)
{
	return strcmp(kit_law_attr(l, "order"), "exact") == 0;
}

static void swap(uint64_t old_rows, uint64_t old_columns, uint64_t *r, uint64_t *c)
{
	const uint64_t kept = *r;

	(void)old_rows, (void)old_columns;
	*r = *c;
	*c = kept;
}

void matmul_law_transposed(kit_law *l)
{
	for (uint32_t port = 0; port < (is_packed(l) ? 1u : 2u); port++) {
		const relayout w = {dim(l, port, 0), dim(l, port, 1), swap, 0, 0};
		const uint32_t other = laid_out(l, port, &w);

		kit_law_equal(
			l, multiplied(l, port == 0 ? other : 0, port == 0 ? 1 : other, 1u << port),
			kit_law_out(l, 0));
	}
}

static void rows_reversed(uint64_t old_rows, uint64_t old_columns, uint64_t *r, uint64_t *c)
{
	(void)old_columns, (void)c;
	*r = old_rows - 1 - *r;
}

static void columns_reversed(uint64_t old_rows, uint64_t old_columns, uint64_t *r, uint64_t *c)
{
	(void)old_rows, (void)r;
	*c = old_columns - 1 - *c;
}

/* A factor with its rows (its columns, where it is to be transposed) reversed; along k: the other way round. */
static uint32_t reversed(kit_law *l, uint32_t port, int along_columns)
{
	const relayout w = {dim(l, port, 1), dim(l, port, 0),
			    along_columns != transposed(l, port) ? columns_reversed : rows_reversed,
			    0, 0};

	return laid_out(l, port, &w);
}

void matmul_law_rows(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *t = &l->c->types[y];
	const uint64_t m = t->dim[t->rank - 2], bytes = kit_dtype_bytes(t->dtype),
		       n = kit_elements(t);
	const uint64_t row = t->dim[t->rank - 1] * bytes;
	uint8_t *want = n == 0 ? NULL : kit_law_scratch(l, n * bytes);

	if (want == NULL)
		return;
	for (uint64_t r = 0; r < n * bytes / row; r++)
		memcpy(want + r * row, kit_law_data(l, y) + (r / m * m + (m - 1 - r % m)) * row,
		       row);
	kit_law_equal(l, multiplied(l, reversed(l, 0, 0), 1, 0), kit_law_tensor(l, t, want));
	kit_law_free(l, want);
}

void matmul_law_reordered(kit_law *l)
{
	if (is_exact(l) && !is_packed(l))
		kit_law_equal(l, multiplied(l, reversed(l, 0, 1), reversed(l, 1, 0), 0),
			      kit_law_out(l, 0));
}

static void within(uint64_t old_rows, uint64_t old_columns, uint64_t *r, uint64_t *c)
{
	if (*r >= old_rows || *c >= old_columns)
		*r = UINT64_MAX;
}

void matmul_law_padded(kit_law *l)
{
	uint32_t padded[2];

	/* A chunk of padding alone would be added, and -0 + 0 is 0. */
	if (strcmp(kit_law_attr(l, "order"), "chunked") == 0 || is_packed(l))
		return;
	for (uint32_t port = 0; port < 2; port++) {
		const uint64_t along_columns = (port == 0) != transposed(l, port);
		const uint32_t dtype = l->use.q->in[port].dtype;
		const int is_float = dtype >= PCTL_SCALAR_F16 && dtype <= PCTL_SCALAR_BF16;
		const relayout w = {dim(l, port, 1) + (along_columns ? 0 : 3),
				    dim(l, port, 0) + (along_columns ? 3 : 0), within, 0,
				    port == 1 && is_float ? sign_of(dtype) : 0};

		padded[port] = laid_out(l, port, &w);
	}
	kit_law_equal(l, multiplied(l, padded[0], padded[1], 0), kit_law_out(l, 0));
}

static void repeated(uint64_t old_rows, uint64_t old_columns, uint64_t *r, uint64_t *c)
{
	*r = old_rows == 0 ? 0 : *r % old_rows;
	*c = old_columns == 0 ? 0 : *c % old_columns;
}

static uint64_t infinity_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32	  ? 0x7f800000u
	       : dtype == PCTL_SCALAR_F16 ? 0x7c00u
					  : 0x7f80u;
}

/* Only of matrices as they lie: the twin of the others is the law "transposed". A narrow integer negated in its own width is not
 * the negative number, so integers are taken twice as they are. */
void matmul_law_doubled(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *t = &l->c->types[y];
	const uint64_t n = kit_elements(t), bytes = kit_dtype_bytes(t->dtype);
	const int is_float = t->dtype >= PCTL_SCALAR_F16 && t->dtype <= PCTL_SCALAR_BF16;
	const relayout wa = {dim(l, 0, 1), 2 * dim(l, 0, 0), repeated, is_float, 0};
	const relayout wb = {2 * dim(l, 1, 1), dim(l, 1, 0), repeated, 0, 0};

	if (!is_exact(l) || is_packed(l) || n == 0 || transposed(l, 0) || transposed(l, 1))
		return;
	if (l->c->round == 0) {
		const uint32_t a = laid_out(l, 0, &wa), b = laid_out(l, 1, &wb);

		multiplied(l, a, b, 0);
		kit_law_again(l);
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		uint64_t was = 0, is = 0, want = 0;

		memcpy(&was, kit_law_data(l, y) + i * bytes, bytes);
		memcpy(&is, kit_law_data(l, y + 3) + i * bytes, bytes);
		if (is_float && (was & ~sign_of(t->dtype)) >= infinity_of(t->dtype))
			continue;
		if (!is_float) {
			was += was;
			memcpy(&want, &was, bytes);
		}
		if (is != want)
			kit_law_broken(l, "y of k taken twice", i, is, want);
	}
	kit_law_holds(l);
}

/* What is packed, made f32, or of integers the type of a. */
void matmul_law_unpacked(kit_law *l)
{
	const uint32_t a = l->use.q->in[0].dtype, b = l->use.q->in[1].dtype, x = 1;
	const int real = kit_codec_word(a) == NULL || kit_codec_word(b) == NULL;
	/* Beside integers of 64 bits nothing is packed: such a b is converted to what it is. */
	const int is_wide = kit_dtype_bytes(a) == 8;
	const pctl_attr to = {"to", real && !is_wide ? "f32" : kit_dtype_name(a), 0};

	if ((is_packed(l) && !kit_codec_is_pair(b)) || is_wide)
		kit_law_equal(
			l, multiplied(l, 0, kit_law_use(l, "tensor.convert", &x, 1, &to, 1, 1), 0),
			kit_law_out(l, 0));
}

/* Dimension d of y, counted from the last, by the factors alone; 0 in *has: there is none. */
static uint64_t extent_of(const kit_law *l, uint32_t d, int *has)
{
	const pctl_tensor_type *a = &l->use.q->in[0], *b = &l->use.q->in[1];
	const int ta = strcmp(kit_law_attr(l, "transpose_a"), "true") == 0,
		  tb = strcmp(kit_law_attr(l, "transpose_b"), "true") == 0;
	const uint64_t x = d < a->rank ? a->dim[a->rank - 1 - d] : 1,
		       y = d < b->rank ? b->dim[b->rank - 1 - d] : 1;

	*has = d < a->rank || d < b->rank;
	if (d == 0)
		return b->dim[tb ? b->rank - 2 : b->rank - 1];
	if (d == 1)
		return a->dim[ta ? a->rank - 1 : a->rank - 2];
	return x == 1 ? y : x;
}

void matmul_law_shape(kit_law *l)
{
	const pctl_tensor_type *y = &l->c->types[kit_law_out(l, 0)];
	int has;

	for (uint32_t d = 0; d < PCTL_RANK_MAX; d++) {
		const uint64_t want = extent_of(l, d, &has),
			       got = d < y->rank ? y->dim[y->rank - 1 - d] : 0;

		if (has != (d < y->rank))
			kit_law_broken(l, "dimensions of y", d, d < y->rank, (uint64_t)has);
		else if (has && got != want)
			kit_law_broken(l, "extents of y from the last", d, got, want);
	}
	kit_law_holds(l);
}
