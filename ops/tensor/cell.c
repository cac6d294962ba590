/* tensor.rnn_cell, lstm_cell and gru_cell (SEMANTICS.md 16.10): sums of gates, exact and rounded once, in one kernel, what is made of them in
 * f32 step by step in another. */
#include <mpfr.h>

#include "common/tensors/elements.h"
#include "common/tensors/exact_reference.h"
#include "kernels.h"

enum { RNN, LSTM, GRU };
static const uint32_t rnn = RNN, lstm = LSTM, gru = GRU;
enum { X, H, W, R, BIAS, C };
#define SUMS_MAX 4u

static uint32_t op_of(const kit_use *u)
{
	return *(const uint32_t *)u->op->data;
}

/* gates: of w and r; sums: how many of an element the first kernel makes. */
typedef struct cell {
	uint64_t b, n, m, gates, sums;
} cell;

/* An element is one f32 exactly. */
static int is_weight(uint32_t dtype)
{
	return kit_codec_is_factor(dtype) && !kit_codec_is_pair(dtype);
}

static pctl_status cell_of(const kit_use *u, cell *c)
{
	static const uint64_t gates[] = {1, 4, 3};
	const pctl_tensor_type *in = u->q->in;
	const uint32_t what = op_of(u);

	*c = (cell){in[X].dim[0], in[X].dim[1], in[H].dim[1], gates[what],
		    what == GRU ? 4 : gates[what]};
	for (uint32_t i = 0; i < u->q->n_in; i++) {
		const uint64_t rows = i == X || i == H || i == C ? c->b : c->gates * c->m;
		const uint64_t columns = i == X || i == W ? c->n : c->m;
		const int bias = i == BIAS;
		const pctl_status status =
			kit_limit(u, "elements", kit_elements(&in[i]), TENSOR_ELEMENTS_MAX / 8);

		if (status != PCTL_OK)
			return status;
		if (in[i].rank != (bias && what != GRU ? 1u : 2u) ||
		    (i == H || i == C	? in[i].dtype != PCTL_SCALAR_F32
		     : i == W || i == R ? !is_weight(in[i].dtype)
					: !tensor_is_float(in[i].dtype)))
			return kit_refuse_type(u, i, u->op->desc.in[i].type);
		if (bias ? (what == GRU ? in[i].dim[0] != 2 || in[i].dim[1] != rows
					: in[i].dim[0] != rows)
			 : in[i].dim[0] != rows || in[i].dim[1] != columns)
			return kit_refuse_type(u, i, "the sizes of x and h, for every gate");
	}
	return kit_limit(u, "products of an element", c->n + c->m, TENSOR_TERMS_MAX - 2);
}

static pctl_status cell_infer(const kit_use *u, pctl_op_result *out)
{
	cell c;
	const pctl_status status = cell_of(u, &c);

	if (status == PCTL_OK)
		out->out[0] = out->out[1] = (pctl_tensor_type){PCTL_SCALAR_F32, 2, {c.b, c.m}};
	return status;
}

/* ---- kernels -------------------------------------------------------------------------------- */

#define SIGMOID "fn sigmoid(a: f32) -> f32 {\n\treturn 1.0f / (1.0f + exp(-a));\n}\n"
#define GATE                                                                                  \
	"fn gate(i: u32, g: u32) -> f32 {\n\treturn bitcast<f32>(p_raw((i / params.v[0].x * " \
	"params.v[0].y + g) * params.v[0].x + i % params.v[0].x));\n}\n"
#define F32(name) "fn " name "_at(i: u32) -> f32 {\n\treturn bitcast<f32>(" name "_raw(i));\n}\n"

static void second(kit_plan *p, const cell *c, uint32_t sums, uint32_t what, uint32_t to)
{
	static const char *const texts[] = {
		"fn product(i: u32) -> T {\n\treturn bitcast<u32>(tanh(gate(i, 0u)));\n}\n",
		SIGMOID F32("c") "fn product(i: u32) -> T {\n\treturn bitcast<u32>(sigmoid(gate(i, "
				 "1u)) * c_at(i) + "
				 "sigmoid(gate(i, 0u)) * tanh(gate(i, 2u)));\n}\n",
		SIGMOID F32("h") "fn product(i: u32) -> T {\n\tlet r = sigmoid(gate(i, "
				 "0u));\n\tlet z = sigmoid(gate(i, "
				 "1u));\n\tlet n = tanh(gate(i, 2u) + r * gate(i, 3u));\n\treturn "
				 "bitcast<u32>((1.0f - z) * n + z * h_at(i));\n}\n",
		SIGMOID F32("c") "fn product(i: u32) -> T {\n\treturn bitcast<u32>(sigmoid(gate(i, "
				 "3u)) * tanh(c_at(i)));\n}\n"};
	tensor_kernel k = tensor_kernel_begin(p, "tensor/cell.wgsl", c->b * c->m, 4, 0);

	tensor_kernel_read(&k, "p", 4, sums);
	/* Of the fourth, c is the new one. */
	if (what != RNN)
		tensor_kernel_read(&k, what == GRU ? "h" : "c", 4,
				   what == GRU	  ? kit_in(p, H)
				   : what == LSTM ? kit_in(p, C)
						  : kit_out(p, 1));
	kit_wgsl_add(&k.w, GATE);
	kit_wgsl_add(&k.w, texts[what]);
	k.params.v[0][0] = (uint32_t)c->m;
	k.params.v[0][1] = (uint32_t)c->sums;
	tensor_kernel_run(&k, to);
}

static void cell_plan(kit_plan *p)
{
	static const char *const names[] = {"x", "h", "w", "r", "bias"};
	const kit_use *u = p->use;
	const uint32_t what = op_of(u);
	uint32_t sums;
	tensor_kernel k;
	cell c;

	p->status = cell_of(u, &c);
	if (p->status != PCTL_OK || c.b * c.m == 0)
		return;
	sums = kit_temp(p, 4 * c.b * c.m * c.sums);
	k = tensor_kernel_begin(p, "tensor/cell_sums.wgsl", c.b * c.m * c.sums, 4, c.n + c.m + 1);
	for (uint32_t i = 0; i < 5; i++) {
		const tensor_store store = tensor_kernel_store(&k, names[i], "u32", kit_in(p, i));

		kit_wgsl_factor(&k.w, u->q->in[i].dtype, names[i]);
		tensor_kernel_stored(&k, &store);
	}
	kit_wgsl_add(&k.w, tensor_float_format_of(PCTL_SCALAR_F32)->text);
	kit_wgsl_add(&k.w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(&k.w,
		     what == GRU ? "const APART: bool = true;\n" : "const APART: bool = false;\n");
	kit_wgsl_add(&k.w, KERNEL_EXACT_SUM);
	kit_wgsl_add(&k.w, KERNEL_CELL_SUMS);
	k.params.v[0][0] = (uint32_t)c.m;
	k.params.v[0][1] = (uint32_t)c.sums;
	k.params.v[0][2] = (uint32_t)c.n;
	k.params.v[0][3] = (uint32_t)(c.gates * c.m);
	tensor_kernel_run(&k, sums);
	second(p, &c, sums, what, kit_out(p, what == LSTM));
	if (what == LSTM)
		second(p, &c, sums, 3, kit_out(p, 0));
}

/* ---- plain C -------------------------------------------------------------------------------- */

static float rounded(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), float x)
{
	float y;
	mpfr_t m;

	mpfr_init2(m, 24);
	mpfr_set_flt(m, x, MPFR_RNDN);
	f(m, m, MPFR_RNDN);
	y = mpfr_get_flt(m, MPFR_RNDN);
	mpfr_clear(m);
	return y;
}

static float sigmoid(float a)
{
	return 1.0f / (1.0f + rounded(mpfr_exp, -a));
}

/* Row g of w and r, bias number `bias` of those; parts: 1 x's products, 2 h's. */
static float summed(const kit_use *u, const pctl_span *in, const cell *c, uint64_t b, uint64_t g,
		    uint32_t parts)
{
	const tensor_float_format *f = tensor_float_format_of(PCTL_SCALAR_F32);
	tensor_sum sum = {0};
	uint32_t bits;
	float y;

	for (uint64_t t = 0; parts & 1 && t < c->n; t++)
		tensor_sum_product(&sum, tensor_value(u->q->in[X].dtype, in[X].data, b * c->n + t),
				   tensor_value(u->q->in[W].dtype, in[W].data, g * c->n + t));
	for (uint64_t t = 0; parts & 2 && t < c->m; t++)
		tensor_sum_product(&sum, tensor_value(u->q->in[H].dtype, in[H].data, b * c->m + t),
				   tensor_value(u->q->in[R].dtype, in[R].data, g * c->m + t));
	for (uint32_t i = 0; i < 2; i++)
		if (op_of(u) == GRU ? parts >> i & 1 : i == 0)
			tensor_sum_product(&sum,
					   tensor_value(u->q->in[BIAS].dtype, in[BIAS].data,
							i * c->gates * c->m + g),
					   1);
	bits = tensor_sum_round(&sum, 1, f);
	memcpy(&y, &bits, 4);
	return y;
}

static float state(const pctl_span *in, uint64_t at)
{
	return (float)tensor_value(PCTL_SCALAR_F32, in->data, at);
}

static void give(pctl_span *out, uint64_t at, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, 4);
	tensor_put(out->data, at, 4, v != v ? 0x7fc00000u : bits);
}

static pctl_status cell_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	cell c;
	const pctl_status status = cell_of(u, &c);

	for (uint64_t at = 0; status == PCTL_OK && at < c.b * c.m; at++) {
		const uint64_t b = at / c.m, j = at % c.m;

		if (op_of(u) == RNN) {
			give(&out[0], at, rounded(mpfr_tanh, summed(u, in, &c, b, j, 3)));
		} else if (op_of(u) == LSTM) {
			const float kept =
				sigmoid(summed(u, in, &c, b, c.m + j, 3)) * state(&in[C], at);
			const float more = sigmoid(summed(u, in, &c, b, j, 3)) *
					   rounded(mpfr_tanh, summed(u, in, &c, b, 2 * c.m + j, 3));

			give(&out[1], at, kept + more);
			give(&out[0], at,
			     sigmoid(summed(u, in, &c, b, 3 * c.m + j, 3)) *
				     rounded(mpfr_tanh, kept + more));
		} else {
			const float r = sigmoid(summed(u, in, &c, b, j, 3));
			const float z = sigmoid(summed(u, in, &c, b, c.m + j, 3));
			const float scaled = r * summed(u, in, &c, b, 2 * c.m + j, 2);
			const float n =
				rounded(mpfr_tanh, summed(u, in, &c, b, 2 * c.m + j, 1) + scaled);
			const float fresh = (1.0f - z) * n, old = z * state(&in[H], at);

			give(&out[0], at, fresh + old);
		}
	}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const pctl_op_problems cell_problems = {
	PCTL_HEAD(pctl_op_problems), "up to 5 rows of up to 9 elements", 5 * TENSOR_KINDS};

static void cell_problem(kit_problem *p)
{
	static const uint64_t sizes[][3] = {{1, 1, 1}, {2, 3, 2}, {5, 9, 4}, {0, 2, 3}, {3, 0, 1}};
	static const uint64_t gates[] = {1, 4, 3};
	const uint64_t *s = sizes[p->number % 5], all = gates[op_of(&p->use)] * s[2];
	const uint32_t kind = (uint32_t)(p->number / 5) % TENSOR_KINDS, what = op_of(&p->use);
	const pctl_tensor_type types[] = {{p->dtype, 2, {s[0], s[1]}},
					  {PCTL_SCALAR_F32, 2, {s[0], s[2]}},
					  {p->dtype, 2, {all, s[1]}},
					  {p->dtype, 2, {all, s[2]}},
					  what == GRU ? (pctl_tensor_type){p->dtype, 2, {2, all}}
						      : (pctl_tensor_type){p->dtype, 1, {all}},
					  {PCTL_SCALAR_F32, 2, {s[0], s[2]}}};

	for (uint32_t i = 0; i < (what == LSTM ? 6u : 5u); i++)
		tensor_problem_fill(p, i, &types[i], kind);
	kit_problem_rigid(p);
}

/* Rows of x, h and c from the last to the first. */
static void law_rows(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t y = kit_law_out(l, 0), outs = l->use.op->desc.n_out;
	uint32_t in[6] = {0, 1, 2, 3, 4, 5}, got;

	for (uint32_t i = 0; i < q->n_in; i++) {
		const tensor_lines lines = {1, q->in[i].dim[0], q->in[i].dim[1], 0};

		if (i == X || i == H || i == C)
			in[i] = tensor_law_taken(l, &q->in[i], i, tensor_law_mirrored, &lines);
	}
	got = kit_law_use(l, l->use.op->desc.name, in, q->n_in, NULL, 0, outs);
	for (uint32_t i = 0; i < outs; i++) {
		const pctl_tensor_type *t = &l->c->types[y + i];
		const tensor_lines lines = {1, t->dim[0], t->dim[1], 0};

		kit_law_equal(l, got + i,
			      tensor_law_taken(l, t, y + i, tensor_law_mirrored, &lines));
	}
}

/* ---- the ops -------------------------------------------------------------------------------- */

#define FLOATS "f32|f16|bf16"
#define WEIGHTS                                                                                  \
	FLOATS "|f8e4m3|f8e5m2|f4|i8|u8|i16|u16|i4|u4|i2|u2|ternary|binary|q4_0|q5_0|q8_0|q3_k|" \
	       "q6_k"
#define INPUTS(biases)                                                                      \
	{"x", FLOATS "[b,n]", "what comes in", 0, 0}, {"h", "f32[b,m]", "the state", 0, 0}, \
		{"w", WEIGHTS "[k,n]", "weights of x, gate after gate", 0, 0},              \
		{"r", WEIGHTS "[k,m]", "weights of h, gate after gate", 0, 0},              \
	{                                                                                   \
		"bias", FLOATS biases, "of each gate", 0, 0                                 \
	}
static const pctl_port rnn_in[] = {INPUTS("[k]")};
static const pctl_port lstm_in[] = {INPUTS("[k]"), {"c", "f32[b,m]", "what the cell keeps", 0, 0}};
static const pctl_port gru_in[] = {INPUTS("[2,k]")};
static const pctl_port cell_out[] = {{"y", "f32[b,m]", "the next state", 0, 0},
				     {"c_next", "f32[b,m]", "what the cell keeps then", 0, 0}};
static const pctl_law cell_laws[] = {
	TENSOR_LAW("rows", "rows of x, h and c from the last to the first give the results so")};
static void (*const cell_checks[])(kit_law *) = {law_rows};
#define SUMS                                                                                      \
	"\nP is the exact sum of the products of x and w, of those of h and r, and of the bias, " \
	"rounded once to f32; "                                                                   \
	"sigmoid(a) is 1 / (1 + exp(-a));\nevery step is rounded."

static const kit_op ops[] = {
	TENSOR_OP(cell, 1, "tensor.rnn_cell", "a step of a recurrent cell", "y = tanh(P)." SUMS,
		  PCTL_CLASS_STRICT, rnn_in, 5, cell_out, NULL, 0, &rnn),
	TENSOR_OP(cell, 2, "tensor.lstm_cell", "a step of a long short-term memory",
		  "Gates i, f, g, o: c_next = sigmoid(f) * c + sigmoid(i) * tanh(g), y = "
		  "sigmoid(o) * "
		  "tanh(c_next)." SUMS,
		  PCTL_CLASS_STRICT, lstm_in, 6, cell_out, NULL, 0, &lstm),
	TENSOR_OP(cell, 1, "tensor.gru_cell", "a step of a gated recurrent unit",
		  "Gates r, z, n: y = (1 - z) * n + z * h, n = tanh(Px + r * Ph), where r and z "
		  "are sigmoid(P), Px the "
		  "sum of\nx's products and the first row of the bias, Ph that of h's and the "
		  "second; P has both." SUMS,
		  PCTL_CLASS_STRICT, gru_in, 5, cell_out, NULL, 0, &gru),
};

const kit_family tensor_cell_family = {ops, NULL, KIT_COUNT(ops), 0};
