/* transformer.sample: a token of each row, drawn (SEMANTICS.md 18.17): tensor.max and tensor.argmax of the rows, what each token weighs, and a kernel that finds
 * the drawn one without putting any in order. */
#include <stdio.h>
#include <string.h>

#include "kernels.h"
#include "sample.h"

/* Where several workgroups share a row: of so many tokens, in so few rows; what a part has, at least, and how many there are, at most. */
#define TOKENS_SPLIT 2048u
#define ROWS_SPLIT 32u
#define PART_TOKENS 1024u
#define PARTS_FEW 4u
#define PARTS_MOST 128u
/* sample_split.wgsl: words of a workgroup's state and of its bins; turns: all candidates, three searches of eight, a floor, a place in five, and what the last of these means. */
#define SPLIT_STATE 32u
#define SPLIT_SUMS 208u
#define SPLIT_TURNS 32u
#define SPLIT_BINDINGS 14u

static pctl_status sample_of(const kit_use *u)
{
	static const uint32_t types[SAMPLE_PORTS] = {
		[SAMPLE_LOGITS] = PCTL_SCALAR_F32,  [SAMPLE_TEMPERATURE] = PCTL_SCALAR_F32,
		[SAMPLE_TOP_K] = PCTL_SCALAR_U32,   [SAMPLE_TOP_P] = PCTL_SCALAR_F32,
		[SAMPLE_MIN_P] = PCTL_SCALAR_F32,   [SAMPLE_KEY] = PCTL_SCALAR_U32,
		[SAMPLE_POSITION] = PCTL_SCALAR_U32};
	const pctl_tensor_type *in = u->q->in;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < SAMPLE_PORTS; i++) {
		status = kit_want(u, i, types[i], i == SAMPLE_LOGITS || i == SAMPLE_KEY ? 2 : 1);
		if (status == PCTL_OK && in[i].dim[0] != in[SAMPLE_LOGITS].dim[0])
			status = kit_refuse_type(u, i, "as many rows as the logits have");
	}
	if (status == PCTL_OK && in[SAMPLE_KEY].dim[1] != 2)
		status = kit_refuse_type(u, SAMPLE_KEY, "two words a row");
	if (status == PCTL_OK && in[SAMPLE_LOGITS].dim[1] == 0)
		status = kit_refuse_type(u, SAMPLE_LOGITS, "a token at least");
	if (status == PCTL_OK)
		status = kit_limit(u, "tokens", in[SAMPLE_LOGITS].dim[1], SAMPLE_TOKENS_MOST);
	return status != PCTL_OK ? status
				 : kit_limit(u, "elements", kit_elements(&in[SAMPLE_LOGITS]),
					     TENSOR_ELEMENTS_MAX);
}

static pctl_status sample_infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_status status = sample_of(u);

	if (status != PCTL_OK)
		return status;
	out->out[0] = kit_vector(PCTL_SCALAR_U32, u->q->in[SAMPLE_LOGITS].dim[0]);
	transformer_cut_rows(u, out, 0, (1u << SAMPLE_PORTS) - 1u);
	return PCTL_OK;
}

/* What an op of tensor along rows gives: an element a row. */
static uint32_t reduced(kit_plan *p, const char *op, uint32_t dtype, const pctl_attr attr[2])
{
	const pctl_tensor_type *logits = &p->use->q->in[SAMPLE_LOGITS];
	const uint32_t to = kit_temp(p, 4 * logits->dim[0]);

	if (p->status == PCTL_OK)
		p->status = p->sink->op(
			p->sink->ctx, op, 1, (uint32_t[]){kit_in(p, SAMPLE_LOGITS), to},
			(pctl_tensor_type[]){*logits, kit_vector(dtype, logits->dim[0])}, 2, attr,
			2);
	return to;
}

static void add_keys(kit_plan *p, uint32_t greatest, uint32_t keys, uint32_t weights)
{
	const pctl_tensor_type *logits = &p->use->q->in[SAMPLE_LOGITS];
	const uint32_t sizes[4] = {(uint32_t)kit_elements(logits), (uint32_t)logits->dim[1]};
	kit_kernel kernel = {"transformer/sample_keys.wgsl", NULL, 64, NULL, 0};
	kit_wgsl w = kit_wgsl_make(p->use, 8192);

	kit_wgsl_add(&w, KERNEL_SAMPLE_WEIGHT);
	kit_wgsl_add(&w, KERNEL_SAMPLE_KEYS);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_run(p, &kernel, sizes[0],
		(kit_slot[]){KIT_ALL(kit_params(p, sizes, sizeof(sizes))),
			     KIT_ALL(kit_in(p, SAMPLE_LOGITS)),
			     KIT_ALL(kit_in(p, SAMPLE_TEMPERATURE)), KIT_ALL(greatest),
			     KIT_ALL(keys), KIT_ALL(weights)},
		6);
	kit_wgsl_free(&w);
}

static int is_gpu(const pctl_plan_caps *caps)
{
	return caps->device_kind != PCTL_DEVICE_CPU && caps->device_kind != PCTL_DEVICE_OTHER;
}

/* What all ways of drawing begin with. */
static void add_numbers(kit_wgsl *w)
{
	kit_wgsl_add(w, KERNEL_WIDE);
	kit_wgsl_add(w, KERNEL_SAMPLE_WEIGHT);
	kit_wgsl_add(w, KERNEL_SAMPLE_STAGES);
	kit_wgsl_add(w, "struct Philox {\n\tv: array<vec4<u32>, 2>,\n}\n"
			"var<private> params: Philox;\n");
	kit_wgsl_add(w, KERNEL_PHILOX);
}

/* A text with what both ways of drawing are bound to in place of its $; what a row asks for has numbers from `first` on, behind `own`. */
static void add_bound(kit_wgsl *w, const char *text, const char *own, uint32_t first)
{
	const char *at = strchr(KERNEL_SAMPLE_BOUND, '\n') + 1;
	char bound[1536];
	size_t n = 0;

	for (; *at != '\0' && n < sizeof(bound); at++) {
		char *to = bound + n;

		if (*at == '#')
			n += (size_t)snprintf(to, sizeof(bound) - n, "%u", first++);
		else if (*at == '$')
			n += (size_t)snprintf(to, sizeof(bound) - n, "%s", own);
		else
			n += (size_t)snprintf(to, sizeof(bound) - n, "%c", *at);
	}
	kit_wgsl_named(w, text, bound);
}

/* greatest, greedy: of each row; keys, weights: of each token. */
typedef struct drawing {
	uint32_t sizes, greatest, greedy, keys, weights;
	uint64_t rows, tokens;
} drawing;

/* A workgroup a row. */
static void draw_alone(kit_plan *p, const drawing *d)
{
	const uint32_t lanes = is_gpu(p->caps) && p->caps->max_invocations >= 512 ? 512 : 256;
	kit_kernel kernel = {"transformer/sample.wgsl", NULL, lanes, "steps", 1};
	kit_wgsl w = kit_wgsl_make(p->use, 32768);

	while (kernel.override_value * lanes * 8 < d->tokens)
		kernel.override_value *= 2;
	kit_wgsl_add(&w,
		     lanes == 512 ? "const LANES: u32 = 512u;\n" : "const LANES: u32 = 256u;\n");
	kit_wgsl_add(&w, KERNEL_UNIT_SUM);
	add_numbers(&w);
	add_bound(&w, KERNEL_SAMPLE_PLACE,
		  "@group(0) @binding(4) var<storage, read> greedy: array<u32>;\n", 5);
	kit_wgsl_add(&w, KERNEL_SAMPLE_GATHER);
	kit_wgsl_add(&w, KERNEL_SAMPLE);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_run(p, &kernel, d->rows * lanes,
		(kit_slot[]){KIT_ALL(d->sizes), KIT_ALL(d->keys), KIT_ALL(d->weights),
			     KIT_ALL(d->greatest), KIT_ALL(d->greedy),
			     KIT_ALL(kit_in(p, SAMPLE_TEMPERATURE)),
			     KIT_ALL(kit_in(p, SAMPLE_TOP_K)), KIT_ALL(kit_in(p, SAMPLE_TOP_P)),
			     KIT_ALL(kit_in(p, SAMPLE_MIN_P)), KIT_ALL(kit_in(p, SAMPLE_KEY)),
			     KIT_ALL(kit_in(p, SAMPLE_POSITION)), KIT_ALL(kit_out(p, 0))},
		12);
	kit_wgsl_free(&w);
}

/* How many workgroups share a row; 1: a row is one's, as where gas is priced, and on processors, which turns cost more than they gain. The reference has few, so that they are seen there. */
static uint32_t parts_of(const kit_plan *p, const drawing *d)
{
	const uint32_t kind = p->caps->device_kind;
	const uint32_t most = kind == PCTL_DEVICE_REFERENCE ? PARTS_FEW : PARTS_MOST;
	uint32_t parts = PARTS_FEW;

	if (!is_gpu(p->caps) || d->tokens < TOKENS_SPLIT || d->rows > ROWS_SPLIT ||
	    p->caps->max_invocations < 256 || p->caps->max_bindings < SPLIT_BINDINGS)
		return 1;
	while (parts < most && d->tokens > PART_TOKENS * parts)
		parts *= 2;
	return parts;
}

static void add_split(kit_wgsl *w, uint32_t parts)
{
	char text[96];

	snprintf(text, sizeof(text), "const PARTS: u32 = %uu;\nconst SUMS: u32 = %uu;\n", parts,
		 SPLIT_SUMS);
	kit_wgsl_add(w, text);
}

/* Turns of all workgroups of a row: what they found in one, and what is asked, goes to the next by way of buffers that take turns. */
static void draw_split(kit_plan *p, const drawing *d, uint32_t parts)
{
	const uint64_t groups = d->rows * parts;
	kit_kernel kernel = {"transformer/sample_split.wgsl", NULL, 256, "steps", 1};
	uint32_t state[2], sums[2];
	kit_wgsl w = kit_wgsl_make(p->use, 32768);

	for (uint32_t i = 0; i < 2; i++) {
		state[i] = kit_temp(p, groups * SPLIT_STATE * 4);
		sums[i] = kit_temp(p, groups * SPLIT_SUMS * 4);
	}
	kit_fill(p, state[0], 0, groups * SPLIT_STATE * 4, 0);
	kit_fill(p, sums[0], 0, groups * SPLIT_SUMS * 4, 0);
	while (kernel.override_value * 256 * parts < d->tokens)
		kernel.override_value *= 2;
	add_split(&w, parts);
	add_numbers(&w);
	add_bound(&w, KERNEL_SAMPLE_SPLIT, "", 4);
	kit_wgsl_add(&w, KERNEL_SAMPLE_SPLIT_DECIDE);
	kit_wgsl_add(&w, KERNEL_SAMPLE_SPLIT_MAIN);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	kit_repeat(p, SPLIT_TURNS, (pctl_plan_pair[]){{state[0], state[1]}, {sums[0], sums[1]}}, 2);
	kit_run(p, &kernel, groups * 256,
		(kit_slot[]){KIT_ALL(d->sizes), KIT_ALL(d->keys), KIT_ALL(d->weights),
			     KIT_ALL(d->greatest), KIT_ALL(kit_in(p, SAMPLE_TEMPERATURE)),
			     KIT_ALL(kit_in(p, SAMPLE_TOP_K)), KIT_ALL(kit_in(p, SAMPLE_TOP_P)),
			     KIT_ALL(kit_in(p, SAMPLE_MIN_P)), KIT_ALL(kit_in(p, SAMPLE_KEY)),
			     KIT_ALL(kit_in(p, SAMPLE_POSITION)), KIT_ALL(state[0]),
			     KIT_ALL(sums[0]), KIT_ALL(state[1]), KIT_ALL(sums[1])},
		SPLIT_BINDINGS);
	kit_repeat_end(p);
	kit_wgsl_free(&w);
	w = kit_wgsl_make(p->use, 8192);
	add_split(&w, parts);
	kit_wgsl_add(&w, KERNEL_SAMPLE_GIVE);
	if (p->status == PCTL_OK)
		p->status = kit_wgsl_status(&w);
	kernel = (kit_kernel){"transformer/sample_give.wgsl", w.text, 64, NULL, 0};
	kit_run(p, &kernel, d->rows,
		(kit_slot[]){KIT_ALL(d->sizes), KIT_ALL(state[0]), KIT_ALL(d->greatest),
			     KIT_ALL(d->greedy), KIT_ALL(kit_in(p, SAMPLE_TEMPERATURE)),
			     KIT_ALL(kit_out(p, 0))},
		6);
	kit_wgsl_free(&w);
}

static void sample_plan(kit_plan *p)
{
	static const pctl_attr max_attr[] = {{"axes", "1", 0}, {"keep", "false", 0}};
	static const pctl_attr argmax_attr[] = {{"axis", "1", 1}, {"keep", "false", 0}};
	const pctl_tensor_type *logits = &p->use->q->in[SAMPLE_LOGITS];
	drawing d = {.rows = logits->dim[0], .tokens = logits->dim[1]};
	const uint32_t sizes[4] = {(uint32_t)d.rows, (uint32_t)d.tokens};
	uint32_t parts;

	p->status = sample_of(p->use);
	if (p->status != PCTL_OK || d.rows == 0)
		return;
	d.greatest = reduced(p, "tensor.max", PCTL_SCALAR_F32, max_attr);
	d.greedy = reduced(p, "tensor.argmax", PCTL_SCALAR_U32, argmax_attr);
	d.keys = kit_temp(p, 4 * d.rows * d.tokens);
	d.weights = kit_temp(p, 4 * d.rows * d.tokens);
	add_keys(p, d.greatest, d.keys, d.weights);
	d.sizes = kit_params(p, sizes, sizeof(sizes));
	parts = parts_of(p, &d);
	if (parts == 1)
		draw_alone(p, &d);
	else
		draw_split(p, &d, parts);
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port sample_in[] = {
	{"logits", "f32[b,v]", "a row of logits for each sequence, at most 262144", 0, 0},
	{"temperature", "f32[b]", "what logits are divided by; 0 takes the greatest", 0, 0},
	{"top_k", "u32[b]", "how many of the first are kept; 0: all", 0, 0},
	{"top_p", "f32[b]", "the share of the weight that the first must have; 1: all are kept", 0,
	 0},
	{"min_p", "f32[b]", "what the others must weigh beside the first; 0: nothing", 0, 0},
	{"key", "u32[b,2]", "of Philox, two words, the lower first", 0, 0},
	{"position", "u32[b]", "the counter of Philox", 0, 0}};
static const pctl_port sample_out[] = {{"token", "u32[b]", "the token of each row", 0, 0}};
static const pctl_law sample_laws[] = {
	TENSOR_LAW("rows", "all rows in reverse order give the tokens so"),
	TENSOR_LAW("greedy", "with temperature 0 it is tensor.argmax"),
	TENSOR_LAW("one",
		   "with top_k 1, and with top_p 0, it is a greatest logit's, where there is "
		   "none above all numbers"),
	TENSOR_LAW("padded", "tokens of -Inf behind change nothing, where one is above -Inf"),
	TENSOR_LAW("at most all",
		   "top_k of the number of tokens, top_p of 1 and min_p of 0 are none"),
};
static void (*const sample_checks[])(kit_law *) = {
	sample_law_rows, sample_law_greedy, sample_law_one, sample_law_padded, sample_law_all};

static const kit_op ops[] = {
	TENSOR_OP(
		sample, 1, "transformer.sample", "a token of each row of logits, drawn by Philox",
		"Where temperature T is not a finite number above 0, or no logit is above -Inf: "
		"tensor.argmax of the row. Else z = l / T, m the greatest z;\ne = 1 where z equals "
		"m, otherwise exp(z - m), each step rounded; NaN and -Inf are no candidates. "
		"Candidates in descending order of z (16.6), the lower token first of equals.\n"
		"Exactly, nothing rounded: top_k keeps the first k (0: all); top_p below 1 the "
		"shortest prefix, of one at least, that has top_p times what is kept;\nmin_p above "
		"0 those whose e is no less than min_p, or 1 where that is more; NaN keeps all. "
		"The token is the first at which the sum of what is left exceeds\nU * 2^-64 * "
		"K: K is all that is left, U the first two words, the lower first, of "
		"Philox4x32-10's block of key, counter `position` and stream 0.",
		PCTL_CLASS_STRICT, sample_in, SAMPLE_PORTS, sample_out, NULL, 0, NULL),
};

const kit_family transformer_sample_family = {ops, NULL, KIT_COUNT(ops), 0};
