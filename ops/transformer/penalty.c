/* transformer.penalty: logits of tokens that a row has seen, made less likely (SEMANTICS.md 18.16). Occurrences are counted first, by additions that
 * commute; then each logit goes its way. */
#include "kernels.h"
#include "shared.h"

enum { LOGITS, HISTORY, COUNT, REPETITION, PRESENCE, FREQUENCY, PORTS };

static pctl_status penalty_of(const kit_use *u)
{
	const pctl_tensor_type *in = u->q->in;
	pctl_status status = kit_want(u, LOGITS, PCTL_SCALAR_F32, 2);

	if (status == PCTL_OK)
		status = kit_want(u, HISTORY, PCTL_SCALAR_U32, 2);
	for (uint32_t i = COUNT; status == PCTL_OK && i < PORTS; i++)
		status = kit_want(u, i, i == COUNT ? PCTL_SCALAR_U32 : PCTL_SCALAR_F32, 1);
	for (uint32_t i = HISTORY; status == PCTL_OK && i < PORTS; i++)
		if (in[i].dim[0] != in[LOGITS].dim[0])
			status = kit_refuse_type(u, i, "as many rows as the logits have");
	for (uint32_t i = LOGITS; status == PCTL_OK && i <= HISTORY; i++)
		status = kit_limit(u, "elements", kit_elements(&in[i]), TENSOR_ELEMENTS_MAX);
	return status;
}

static pctl_status penalty_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_status status = penalty_of(u);

	out->out[0] = u->q->in[LOGITS];
	if (status == PCTL_OK)
		transformer_cut_rows(u, out, 1, (1u << PORTS) - 1u);
	return status;
}

static void penalty_plan(kit_plan *p)
{
	static const char *const names[] = {"repetition", "presence", "frequency"};
	const pctl_tensor_type *in = p->use->q->in;
	const uint64_t n = in[HISTORY].dim[1], all = kit_elements(&in[LOGITS]);
	const uint32_t sizes[4] = {(uint32_t)in[LOGITS].dim[1], (uint32_t)n,
				   (uint32_t)kit_elements(&in[HISTORY]), 0};
	const kit_kernel counts = {"transformer/penalty_count.wgsl", KERNEL_PENALTY_COUNT, 64, NULL,
				   0};
	uint32_t seen;
	tensor_kernel k;

	p->status = penalty_of(p->use);
	if (p->status != PCTL_OK || all == 0)
		return;
	seen = kit_temp(p, 4 * all);
	kit_fill(p, seen, 0, 4 * all, 0);
	kit_run(p, &counts, sizes[2],
		(kit_slot[]){KIT_ALL(kit_params(p, sizes, sizeof(sizes))),
			     KIT_ALL(kit_in(p, HISTORY)), KIT_ALL(kit_in(p, COUNT)), KIT_ALL(seen)},
		4);
	k = tensor_kernel_begin(p, "transformer/penalty.wgsl", all, 4, 0);
	tensor_kernel_bind(&k, "logits", "u32", kit_in(p, LOGITS));
	tensor_kernel_bind(&k, "seen", "u32", seen);
	for (uint32_t i = 0; i < KIT_COUNT(names); i++)
		tensor_kernel_bind(&k, names[i], "f32", kit_in(p, REPETITION + i));
	kit_wgsl_add(&k.w, KERNEL_PENALTY);
	k.params.v[0][0] = sizes[0];
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status penalty_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_status status = penalty_of(u);
	const uint64_t b = u->q->in[LOGITS].dim[0], v = u->q->in[LOGITS].dim[1],
		       n = u->q->in[HISTORY].dim[1];

	for (uint64_t row = 0; status == PCTL_OK && row < b; row++) {
		const uint64_t count = tensor_get(in[COUNT].data, row, 4);
		const float r = transformer_get(in[REPETITION].data, row);

		for (uint64_t token = 0; token < v; token++) {
			const uint64_t at = row * v + token;
			float l = transformer_get(in[LOGITS].data, at);
			uint32_t c = 0;
			volatile float f;

			for (uint64_t i = 0; i < n && i < count; i++)
				c += tensor_get(in[HISTORY].data, row * n + i, 4) == token;
			if (c == 0) {
				tensor_put(out[0].data, at, 4, tensor_get(in[LOGITS].data, at, 4));
				continue;
			}
			l = l > 0 ? l / r : l * r;
			f = (float)c * transformer_get(in[FREQUENCY].data, row);
			l = l - f;
			transformer_put(out[0].data, at,
					l - transformer_get(in[PRESENCE].data, row));
		}
	}
	return status;
}

/* ---- problems and laws ---------------------------------------------------------------------- */

static const uint64_t sizes_of[][3] = {{1, 1, 1},  {2, 7, 5}, {3, 33, 40}, {1, 200, 0},
				       {4, 5, 64}, {2, 0, 3}, {0, 4, 4},   {2, 129, 17}};

static const pctl_op_problems penalty_problems = {
	PCTL_HEAD(pctl_op_problems), "up to 4 rows of 200 logits, histories of up to 64 tokens",
	KIT_COUNT(sizes_of) * 6};

/* Words of a port: numbers below `below`, of which some are any. */
static void words(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint64_t below)
{
	const uint64_t n = kit_elements(t);
	uint32_t *data = p->status == PCTL_OK ? kit_scratch(&p->use, 4 * n + 4) : NULL;

	if (data == NULL) {
		if (p->status == PCTL_OK)
			p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t r = kit_random(p->seed + p->number * 8 + port, i);

		data[i] = (uint32_t)(r % 16 == 0 ? r >> 32 : (r >> 8) % below);
	}
	kit_problem_input(p, port, t, data);
	kit_scratch_free(&p->use, data);
}

static void penalty_problem(kit_problem *p)
{
	const uint64_t *s = sizes_of[p->number % KIT_COUNT(sizes_of)];
	const pctl_tensor_type logits = {PCTL_SCALAR_F32, 2, {s[0], s[1]}},
			       history = {PCTL_SCALAR_U32, 2, {s[0], s[2]}};
	pctl_tensor_type rows = kit_vector(PCTL_SCALAR_U32, s[0]);

	transformer_problem_floats(p, LOGITS, &logits);
	words(p, HISTORY, &history, s[1] + 2);
	words(p, COUNT, &rows, s[2] + 3);
	rows.dtype = PCTL_SCALAR_F32;
	for (uint32_t i = REPETITION; i < PORTS; i++)
		transformer_problem_floats(p, i, &rows);
	kit_problem_rigid(p);
}

/* The op with inputs of which one is another. */
static uint32_t with(kit_law *l, uint32_t port, uint32_t other)
{
	uint32_t in[PORTS];

	for (uint32_t i = 0; i < PORTS; i++)
		in[i] = i == port ? other : i;
	return kit_law_use(l, l->use.op->desc.name, in, PORTS, NULL, 0, 1);
}

static uint32_t zeros(kit_law *l, const pctl_tensor_type *t)
{
	void *data = kit_law_scratch(l, kit_bytes(t) + 4);
	const uint32_t number = data == NULL ? 0 : kit_law_tensor(l, t, data);

	kit_law_free(l, data);
	return number;
}

static void penalty_law_none(kit_law *l)
{
	kit_law_equal(l, with(l, COUNT, zeros(l, &l->use.q->in[COUNT])), LOGITS);
}

/* What is behind the first `count` may be anything. */
static void penalty_law_padded(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[HISTORY];
	const uint64_t n = t->dim[1], all = kit_elements(t);
	uint32_t *data = kit_law_scratch(l, 4 * all + 4);

	if (data == NULL)
		return;
	for (uint64_t i = 0; i < all; i++) {
		const uint64_t count = tensor_get(kit_law_data(l, COUNT), i / n, 4);

		data[i] = i % n < count ? (uint32_t)tensor_get(kit_law_data(l, HISTORY), i, 4)
					: (uint32_t)(i * 7 % (l->use.q->in[LOGITS].dim[1] + 1));
	}
	kit_law_equal(l, with(l, HISTORY, kit_law_tensor(l, t, data)), kit_law_out(l, 0));
	kit_law_free(l, data);
}

static void penalty_law_rows(kit_law *l)
{
	const pctl_op_query *q = l->use.q;
	const uint32_t y = kit_law_out(l, 0);
	uint32_t in[PORTS];

	if (q->in[LOGITS].dim[1] * q->in[HISTORY].dim[1] == 0)
		return;
	for (uint32_t i = 0; i < PORTS; i++)
		in[i] = transformer_law_rows(l, &q->in[i], i, i <= HISTORY ? q->in[i].dim[1] : 1);
	kit_law_equal(l, kit_law_use(l, l->use.op->desc.name, in, PORTS, NULL, 0, 1),
		      transformer_law_rows(l, &q->in[LOGITS], y, q->in[LOGITS].dim[1]));
}

/* Parameter `port` for each logit. */
static uint32_t spread(kit_law *l, uint32_t port)
{
	const pctl_tensor_type *t = &l->use.q->in[LOGITS];
	uint32_t *data = kit_law_scratch(l, 4 * kit_elements(t) + 4), number = 0;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0; i < kit_elements(t); i++)
		data[i] = (uint32_t)tensor_get(kit_law_data(l, port), i / t->dim[1], 4);
	number = kit_law_tensor(l, t, data);
	kit_law_free(l, data);
	return number;
}

static uint32_t two(kit_law *l, const char *op, uint32_t a, uint32_t b)
{
	return kit_law_use(l, op, (uint32_t[]){a, b}, 2, NULL, 0, 1);
}

static uint32_t either(kit_law *l, uint32_t mask, uint32_t a, uint32_t b)
{
	return kit_law_use(l, "tensor.where", (uint32_t[]){mask, a, b}, 3, NULL, 0, 1);
}

/* By ops of one step each, over counts made here. */
static void penalty_law_steps(kit_law *l)
{
	const pctl_tensor_type *t = &l->use.q->in[LOGITS], *h = &l->use.q->in[HISTORY];
	const uint64_t v = t->dim[1], n = h->dim[1], all = kit_elements(t);
	uint32_t *seen = kit_law_scratch(l, 4 * all + 4), *above = kit_law_scratch(l, 4 * all + 4);
	float *counts = kit_law_scratch(l, 4 * all + 4);
	pctl_tensor_type mask = *t;
	uint32_t y, r;

	mask.dtype = PCTL_SCALAR_BOOL;
	if (counts != NULL && seen != NULL && above != NULL) {
		for (uint64_t i = 0; i < kit_elements(h); i++) {
			const uint64_t token = tensor_get(kit_law_data(l, HISTORY), i, 4);

			if (i % n < tensor_get(kit_law_data(l, COUNT), i / n, 4) && token < v) {
				counts[i / n * v + token] += 1;
				seen[i / n * v + token] = 1;
			}
		}
		for (uint64_t i = 0; i < all; i++) {
			const uint64_t bits = tensor_get(kit_law_data(l, LOGITS), i, 4);

			above[i] = bits != 0 && bits <= 0x7f800000u;
		}
		r = spread(l, REPETITION);
		y = either(l, kit_law_tensor(l, &mask, above), two(l, "ieee.div", LOGITS, r),
			   two(l, "ieee.mul", LOGITS, r));
		y = two(l, "ieee.sub", y,
			two(l, "ieee.mul", kit_law_tensor(l, t, counts), spread(l, FREQUENCY)));
		y = two(l, "ieee.sub", y, spread(l, PRESENCE));
		kit_law_equal(l, either(l, kit_law_tensor(l, &mask, seen), y, LOGITS),
			      kit_law_out(l, 0));
	}
	kit_law_free(l, counts);
	kit_law_free(l, seen);
	kit_law_free(l, above);
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port penalty_in[] = {
	{"logits", "f32[b,v]", "a row of logits for each sequence", 0, 0},
	{"history", "u32[b,n]", "tokens that it has seen", 0, 0},
	{"count", "u32[b]", "how many of these count; what is behind is anything", 0, 0},
	{"repetition", "f32[b]", "what a logit is divided by, or multiplied; 1 changes nothing", 0,
	 0},
	{"presence", "f32[b]", "what is taken off once", 0, 0},
	{"frequency", "f32[b]", "what is taken off for each time", 0, 0}};
static const pctl_port penalty_out[] = {{"y", "f32[b,v]", "the logits then", 0, 0}};
static const pctl_law penalty_laws[] = {
	TENSOR_LAW("none", "where no token counts y is the logits, to the bit"),
	TENSOR_LAW("padded", "other tokens behind the first count give the same y"),
	TENSOR_LAW("rows", "all rows in reverse order give the rows of y so"),
	TENSOR_LAW("by steps", "y is what ops of one step each give of the counts"),
};
static void (*const penalty_checks[])(kit_law *) = {penalty_law_none, penalty_law_padded,
						    penalty_law_rows, penalty_law_steps};

static const kit_op ops[] = {
	TENSOR_OP(
		penalty, 1, "transformer.penalty",
		"repetition, presence and frequency penalties on logits",
		"c = how often the token stands among the first count[b] of history[b]. Where c is "
		"0 y is the logit, to the bit.\nElse, each step rounded: l / r where l > 0, "
		"otherwise l * r, r = repetition[b]; l - f32(c) * frequency[b], two roundings;\n"
		"l - presence[b]. Numbers that are no tokens do nothing.",
		PCTL_CLASS_STRICT, penalty_in, PORTS, penalty_out, NULL, 0, NULL),
};

const kit_family transformer_penalty_family = {ops, NULL, KIT_COUNT(ops), 0};
