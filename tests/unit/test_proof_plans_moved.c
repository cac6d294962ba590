/* Movement, indexing, convolutions, pools and random numbers under proof on devices that are wrong: a wrong stride, a pad that is off by one, a
 * tie taken the wrong way, a scatter that adds twice, an index that is clamped silently. Each is caught. */
#include "test_proof_caught.h"

static uint32_t width_of(const pctl_answer *a)
{
	return pctl_dtype_bytes(a->out[0].dtype);
}

/* The second element is the first, as with a stride of 0. */
static void spoil_stride(const pctl_problem *p, pctl_answer *a)
{
	const uint32_t n = width_of(a);

	(void)p;
	if (a->bytes[0] >= 2 * n)
		memcpy(a->data[0] + n, a->data[0], n);
}

/* Everything one element further on. */
static void spoil_pad(const pctl_problem *p, pctl_answer *a)
{
	const uint32_t n = width_of(a);

	(void)p;
	if (a->bytes[0] > n)
		memmove(a->data[0] + n, a->data[0], a->bytes[0] - n);
}

static void spoil_first(const pctl_problem *p, pctl_answer *a)
{
	(void)p;
	if (a->bytes[0] != 0)
		a->data[0][0] ^= 1;
}

/* Of these alone: other ops that a law uses are right. */
static void spoil_one(const pctl_problem *p, pctl_answer *a)
{
	if (strcmp(p->op.desc->name, "tensor.one_hot") == 0 ||
	    strcmp(p->op.desc->name, "tensor.iota") == 0)
		spoil_first(p, a);
}

/* Where the first two of a line are equal, the higher index goes first: topk's second output, argsort's only one. */
static void spoil_tie(const pctl_problem *p, pctl_answer *a)
{
	uint32_t *index = (uint32_t *)(void *)a->data[a->n_out - 1], kept;
	const uint32_t n = pctl_dtype_bytes(p->in[0].dtype);

	if (p->in[0].rank != 1 || a->bytes[a->n_out - 1] < 8 ||
	    memcmp(p->data[0] + (size_t)n * index[0], p->data[0] + (size_t)n * index[1], n) != 0)
		return;
	kept = index[0];
	index[0] = index[1];
	index[1] = kept;
}

/* What was added is added again. */
static void spoil_twice(const pctl_problem *p, pctl_answer *a)
{
	uint32_t *y = (uint32_t *)(void *)a->data[0];
	const uint32_t *x = (const uint32_t *)(const void *)p->data[0];

	if (strcmp(pctl_problem_attr(p, "mode"), "add") != 0)
		return;
	for (uint64_t i = 0; i < pctl_problem_elements(p); i++)
		y[i] += y[i] - x[i];
}

/* The sign of the first element of x shows in the first of y. */
static void spoil_by_order(const pctl_problem *p, pctl_answer *a)
{
	if (p->bytes[0] >= 4 && a->bytes[0] != 0 && p->data[0][3] >> 7)
		a->data[0][0] ^= 1;
}

/* The lowest bit of the first update, and of the first condition, shows in the first element of y. */
static void spoil_by_update(const pctl_problem *p, pctl_answer *a)
{
	if (p->bytes[2] != 0 && a->bytes[0] != 0)
		a->data[0][0] ^= p->data[2][0] & 1;
}

static void spoil_by_condition(const pctl_problem *p, pctl_answer *a)
{
	if (p->bytes[0] != 0 && a->bytes[0] != 0)
		a->data[0][0] ^= p->data[0][0] & 1;
}

/* The first element depends on what the counter is, beside what it counts. */
static void spoil_counter(const pctl_problem *p, pctl_answer *a)
{
	if (a->bytes[0] != 0 && strcmp(pctl_problem_attr(p, "counter"), "0") != 0)
		a->data[0][0] ^= 1;
}

/* The first element is another one where the first index is odd. */
static void spoil_by_index(const pctl_problem *p, pctl_answer *a)
{
	if (p->bytes[0] != 0 && a->bytes[0] != 0 && p->data[0][0] & 1)
		a->data[0][0] ^= 1;
}

/* Indices out of range become the last that is in range; of gather, along axis 0. */
static void clamp(pctl_problem *p)
{
	const uint32_t axis = (uint32_t)pctl_problem_attr(p, "axis")[0] - '0';
	const uint64_t n = p->in[0].dim[axis];

	for (uint64_t i = 0; i < p->bytes[1] && n != 0; i += pctl_dtype_bytes(p->in[1].dtype)) {
		uint64_t v = 0;

		memcpy(&v, p->data[1] + i, pctl_dtype_bytes(p->in[1].dtype));
		v = v >= n && strcmp(pctl_problem_attr(p, "negative"), "true") != 0 ? n - 1 : v;
		memcpy(p->data[1] + i, &v, pctl_dtype_bytes(p->in[1].dtype));
	}
}

/* The same of x into a table. */
static void clamp_lookup(pctl_problem *p)
{
	const uint32_t bytes = pctl_dtype_bytes(p->in[0].dtype);
	const uint64_t n = p->in[1].dim[0];

	for (uint64_t i = 0; i < p->bytes[0] && n != 0; i += bytes) {
		uint64_t v = 0;

		memcpy(&v, p->data[0] + i, bytes);
		v = v >= n ? n - 1 : v;
		memcpy(p->data[0] + i, &v, bytes);
	}
}

static void test_proof_plans__wrong_moves_are_caught(void **state)
{
	static const struct {
		const char *op, *law, *spoilt;
		spoiler spoil;
		uint32_t dtype;
	} rows[] = {
		{"tensor.gather", NULL, "a stride of 0", spoil_stride, PCTL_SCALAR_F32},
		{"tensor.gather", "indices from the last to the first give y so",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_U8},
		{"tensor.lookup", "the table 0, 1, .. n - 1 gives x", "a stride of 0", spoil_stride,
		 PCTL_SCALAR_U8},
		{"tensor.lookup", "n - 1 - x, itself looked up, in the table from its end gives y",
		 "the first element is wrong", spoil_by_index, PCTL_SCALAR_U32},
		{"tensor.take_along", "indices 0, 1, .. n - 1 give x", "a stride of 0",
		 spoil_stride, PCTL_SCALAR_U16},
		{"tensor.embedding", "indices 0, 1, .. n - 1 give x", "a stride of 0", spoil_stride,
		 PCTL_SCALAR_BF16},
		{"tensor.one_hot",
		 "y is the rows of a matrix of ones on the diagonal, taken by index",
		 "a bit is lost", spoil_one, PCTL_SCALAR_I64},
		{"tensor.histogram", "y is the sum of the rows of one_hot of x from its end",
		 "one is not counted", spoil_first, PCTL_SCALAR_U32},
		{"tensor.scatter", NULL, "what was added is added twice", spoil_twice,
		 PCTL_SCALAR_U32},
		{"tensor.scatter",
		 "the updates in the opposite order along the axis, of set what y has at the "
		 "indices, give the same y",
		 "the order of updates shows", spoil_by_update, PCTL_SCALAR_F32},
		{"tensor.scatter",
		 "set: what y has at the indices, set instead of the updates, gives y",
		 "a stride of 0", spoil_stride, PCTL_SCALAR_I32},
		{"tensor.pad", NULL, "a pad that is off by one", spoil_pad, PCTL_SCALAR_F32},
		{"tensor.pad", "of x from its end, before and after changed about, y from its end",
		 "a pad that is off by one", spoil_pad, PCTL_SCALAR_U32},
		{"tensor.flip", "flipped again, or rolled by the negative shifts, y is x",
		 "off by one", spoil_pad, PCTL_SCALAR_I8},
		{"tensor.roll", "flipped again, or rolled by the negative shifts, y is x",
		 "off by one", spoil_pad, PCTL_SCALAR_U64},
		{"tensor.tril",
		 "transposed, y is the other triangle of x transposed, the diagonal's sign turned",
		 "a stride of 0", spoil_stride, PCTL_SCALAR_F16},
		{"tensor.triu", NULL, "off by one", spoil_pad, PCTL_SCALAR_F32},
		{"tensor.where", "a and b changed about under the opposite condition give y",
		 "the first condition is turned", spoil_by_condition, PCTL_SCALAR_BOOL},
		{"tensor.sort", "y is what tensor.argsort of x takes along the axis",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_F32},
		{"tensor.argsort", NULL, "a tie taken the wrong way", spoil_tie, PCTL_SCALAR_U32},
		{"tensor.topk", NULL, "a tie taken the wrong way", spoil_tie, PCTL_SCALAR_U32},
		{"tensor.topk", "index takes y from x, and y is the first k of tensor.sort",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_F32},
		{"tensor.concat",
		 "of three or more: the first two joined, and then the rest to that, give y",
		 "off by one", spoil_pad, PCTL_SCALAR_U8},
		{"tensor.stack", "each tensor is what tensor.gather takes from y", "a stride of 0",
		 spoil_stride, PCTL_SCALAR_F32},
		{"tensor.conv1d", NULL, "a stride of 0", spoil_stride, PCTL_SCALAR_F32},
		{"tensor.conv2d",
		 "channels of x and w turned about within their groups give the same y",
		 "the order of terms shows", spoil_by_order, PCTL_SCALAR_F32},
		{"tensor.conv3d", "batches from the last to the first give y so",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_I8},
		{"tensor.conv_transpose2d", NULL, "a pad that is off by one", spoil_pad,
		 PCTL_SCALAR_F32},
		{"tensor.im2col", "batches from the last to the first give y so",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_U8},
		{"tensor.max_pool",
		 "where windows reach the end, x from the end of a dimension gives y so",
		 "off by one", spoil_pad, PCTL_SCALAR_F32},
		{"tensor.avg_pool",
		 "where windows reach the end, x from the end of a dimension gives y so",
		 "off by one", spoil_pad, PCTL_SCALAR_F32},
		{"tensor.rnn_cell", NULL, "a lowest bit", spoil_first, PCTL_SCALAR_F16},
		{"tensor.lstm_cell",
		 "rows of x, h and c from the last to the first give the results so",
		 "the first element is wrong", spoil_first, PCTL_SCALAR_F32},
		{"tensor.gru_cell",
		 "rows of x, h and c from the last to the first give the results so",
		 "a stride of 0", spoil_stride, PCTL_SCALAR_F32},
		{"tensor.iota",
		 "of one dimension, u32 or u64: the prefix sums of start, step, step, .. are y",
		 "the first element is wrong", spoil_one, PCTL_SCALAR_U32},
		{"tensor.full", NULL, "the first element is wrong", spoil_first, PCTL_SCALAR_U32},
		{"tensor.random_bits",
		 "but of u128: a part made alone, its counter further on, is that part of y",
		 "the counter shows", spoil_counter, PCTL_SCALAR_U32},
		{"tensor.random_normal", NULL, "a lowest bit", spoil_first, PCTL_SCALAR_U32},
		{"tensor.dropout",
		 "but of u128: a part made alone, its counter further on, is that part of y",
		 "the counter shows", spoil_counter, PCTL_SCALAR_F32},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p = caught(rows[i].op, rows[i].dtype, rows[i].law, rows[i].spoil,
					rows[i].spoilt, &v);

		pctl_problem_clear(&p);
	}
}

static void test_proof_plans__a_silent_clamp_is_caught(void **state)
{
	pctl_verdict v;
	pctl_problem p =
		caught_by("tensor.gather", PCTL_SCALAR_F32, NULL, (violator){.change = clamp},
			  "an index out of range is clamped silently", &v);

	(void)state;
	assert_string_equal(v.want, "refused");
	pctl_problem_clear(&p);
	p = caught_by("tensor.lookup", PCTL_SCALAR_U32, NULL, (violator){.change = clamp_lookup},
		      "an index into a lookup port is clamped silently", &v);
	assert_string_equal(v.want, "refused");
	pctl_problem_clear(&p);
}

/* ---- infer lies about a view, within its input ---- */

static pctl_oplib lying;
static const pctl_oplib *honest;
static const pctl_op_source *shipped;
static void (*lie)(const pctl_op_query *q, pctl_op_result *out);

static pctl_status lying_infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			       pctl_op_result *out)
{
	const pctl_status status = honest->infer(inst, call, q, out);

	if (status == PCTL_OK && lie != NULL)
		lie(q, out);
	return status;
}

static uint32_t lying_count(void *ctx)
{
	(void)ctx;
	return shipped->count(shipped->ctx);
}

static void lying_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	(void)ctx;
	shipped->at(shipped->ctx, i, out);
	if (strcmp(out->plugin, "tensor") != 0)
		return;
	honest = out->lib;
	lying = *honest;
	lying.infer = lying_infer;
	out->lib = &lying;
}

static void lie_of_order(const pctl_op_query *q, pctl_op_result *out)
{
	uint64_t stride = 1;

	(void)q;
	for (uint32_t d = out->out[0].rank; d-- > 0;) {
		out->view_stride[d] = stride;
		stride *= out->out[0].dim[d];
	}
}

static void lie_of_overlap(const pctl_op_query *q, pctl_op_result *out)
{
	(void)q;
	if (out->out[0].rank != 0)
		out->view_stride[out->out[0].rank - 1] = 0;
}

static void lie_of_stretch(const pctl_op_query *q, pctl_op_result *out)
{
	const uint32_t last = out->out[0].rank - 1;

	/* The first element for all: within the input, whatever its size. */
	if (out->out[0].rank != 0 && q->in[0].rank != 0)
		out->view_stride[last] = 0;
}

static void lie_of_start(const pctl_op_query *q, pctl_op_result *out)
{
	(void)q;
	out->view_offset -= out->view_offset != 0;
}

/* As many elements, under the shape of the transpose. */
static void lie_of_shape(const pctl_op_query *q, pctl_op_result *out)
{
	pctl_tensor_type *y = &out->out[0];
	uint64_t kept;

	if (q->n_in != 2 || y->rank < 2)
		return;
	kept = y->dim[y->rank - 1];
	y->dim[y->rank - 1] = y->dim[y->rank - 2];
	y->dim[y->rank - 2] = kept;
}

static void test_proof_plans__false_views_are_caught(void **state)
{
	static const struct {
		const char *op, *law, *spoilt;
		void (*lie)(const pctl_op_query *q, pctl_op_result *out);
		uint32_t dtype;
	} rows[] = {
		{"tensor.matmul",
		 "y has a row for each of a, a column for each of b, and the batches of both",
		 "a product says that it has the transpose's shape", lie_of_shape, PCTL_SCALAR_I32},
		{"tensor.transpose", NULL, "a transposition that says nothing moved", lie_of_order,
		 PCTL_SCALAR_U32},
		{"tensor.reshape", NULL, "a view whose elements overlap", lie_of_overlap,
		 PCTL_SCALAR_U32},
		{"tensor.slice", NULL, "a slice that begins one element early", lie_of_start,
		 PCTL_SCALAR_U32},
		{"tensor.broadcast", NULL, "a broadcast that repeats what is not stretched",
		 lie_of_stretch, PCTL_SCALAR_U32},
	};
	static const pctl_op_source source = {NULL, lying_count, lying_at};

	(void)state;
	shipped = rig.context.ops;
	rig.context.ops = &source;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_verdict v;
		pctl_problem p;

		lie = rows[i].lie;
		p = caught_by(rows[i].op, rows[i].dtype, rows[i].law, (violator){.spoil = NULL},
			      rows[i].spoilt, &v);
		pctl_problem_clear(&p);
	}
	lie = NULL;
	rig.context.ops = shipped;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__wrong_moves_are_caught),
		PCTL_TEST(test_proof_plans__a_silent_clamp_is_caught),
		PCTL_TEST(test_proof_plans__false_views_are_caught),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
