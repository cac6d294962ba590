/* transformer.attention: heads of a chunk's tokens over cached keys and values (SEMANTICS.md 18.5): its types, attributes and laws. attention_plan.c says how. */
#include "attention.h"

#include <math.h>
#include <mpfr.h>

static pctl_status number_of(const kit_use *u, uint32_t attr, float *out)
{
	const char *text = u->q->attr[attr].text;
	char *end;

	*out = kit_parse_f32(text, &end);
	if (end == text || *end != '\0' || !isfinite(*out) || signbit(*out))
		return kit_refuse_attr(u, u->op->desc.attr[attr].name,
				       "is not a number that is zero or more");
	return PCTL_OK;
}

float attention_scale(uint64_t d)
{
	float out;
	mpfr_t x;

	mpfr_init2(x, 24);
	mpfr_set_ui(x, (unsigned long)d, MPFR_RNDN);
	mpfr_rec_sqrt(x, x, MPFR_RNDN);
	out = mpfr_get_flt(x, MPFR_RNDN);
	mpfr_clear(x);
	return out;
}

static pctl_status caches_of(const kit_use *u, attention *a)
{
	const pctl_tensor_type *k = &u->q->in[ATTENTION_K], *v = &u->q->in[ATTENTION_V];
	pctl_status status = kv_cache_of(u, ATTENTION_K, ATTENTION_PAGES, a->s.n, &a->k);

	if (status == PCTL_OK)
		status = kv_cache_of(u, ATTENTION_V, ATTENTION_PAGES, a->s.n, &a->v);
	if (status != PCTL_OK)
		return status;
	if (a->k.d != a->d || a->k.capacity == 0 || a->k.heads == 0 || a->h % a->k.heads != 0)
		return kit_refuse_type(
			u, ATTENTION_K,
			"heads like q's, of which q's are a multiple, and one position at least");
	if (v->dim[0] != k->dim[0] || v->dim[1] != k->dim[1] || v->dim[2] != k->dim[2])
		return kit_refuse_type(u, ATTENTION_V, "a cache like k");
	a->dv = a->v.d;
	a->group = a->h / a->k.heads;
	a->s.positions = a->k.capacity;
	if (a->d == 0 || a->dv == 0 || a->d > ATTENTION_D_MAX || a->dv > ATTENTION_D_MAX)
		return kit_refuse_type(
			u, a->d == 0 || a->d > ATTENTION_D_MAX ? ATTENTION_K : ATTENTION_V,
			"1 to 512 elements of a head");
	return kit_limit(u, "positions", a->k.capacity, ATTENTION_CAPACITY_MAX);
}

pctl_status attention_of(const kit_use *u, attention *a)
{
	const pctl_tensor_type *q = &u->q->in[ATTENTION_Q];
	pctl_status status;

	*a = (attention){.s = {q->dim[0], q->dim[1], 0, ATTENTION_START, ATTENTION_COUNT},
			 .h = q->dim[2],
			 .d = q->dim[3],
			 .window = kit_attr(u, ATTENTION_WINDOW),
			 .causal = kit_attr(u, ATTENTION_CAUSAL) != 0};
	if (!tensor_is_float(q->dtype) || q->rank != 4)
		return kit_refuse_type(u, ATTENTION_Q, u->op->desc.in[ATTENTION_Q].type);
	status = sequences_types(u, &a->s);
	if (status == PCTL_OK)
		status = caches_of(u, a);
	if (status == PCTL_OK)
		status = number_of(u, ATTENTION_SOFTCAP, &a->cap);
	if (status == PCTL_OK && *u->q->attr[ATTENTION_SCALE].text == '\0')
		a->scale = attention_scale(a->d);
	else if (status == PCTL_OK)
		status = number_of(u, ATTENTION_SCALE, &a->scale);
	if (status == PCTL_OK)
		status = kit_limit(u, "elements", kit_elements(q), TENSOR_ELEMENTS_MAX / 8);
	return status != PCTL_OK ? status
				 : kit_limit(u, "elements of y", a->s.n * a->s.t * a->h * a->dv,
					     TENSOR_ELEMENTS_MAX / 8);
}

static pctl_status attention_infer(const kit_use *u, pctl_op_result *out)
{
	attention a;
	const pctl_status status = attention_of(u, &a);

	out->out[0] = u->q->in[ATTENTION_Q];
	out->out[0].dim[3] = a.dv;
	return status;
}

/* ---- the op --------------------------------------------------------------------------------- */

#define FLOATS "f32|f16|bf16"
static const pctl_op_problems attention_problems = {
	PCTL_HEAD(pctl_op_problems),
	"up to 3 sequences of up to 5 tokens over up to 130 positions, plain and paged",
	ATTENTION_PROBLEMS};
static const pctl_port attention_in[] = {
	{"q", FLOATS "[b,t,h,d]", "heads of each token", 0, 0},
	{"k", FLOATS "[n,positions,heads,d]",
	 "cached keys, of each sequence, or with pages of each page", 0, 0},
	{"v", FLOATS "[n,positions,heads,e]", "cached values", 0, 0},
	{"start", "u32[b]", "the position of each sequence's first token", 0, 0},
	{"count", "u32[b]", "how many tokens of each sequence are real", 0, 0},
	{"pages", "u32[b,n_pages]",
	 "the pages of each sequence, in order; no pages: a cache for each sequence", 0, 0}};
static const pctl_port attention_out[] = {
	{"y", FLOATS "[b,t,h,e]", "what each head found, of q's type", 0, 0}};
static const pctl_attr_desc attention_attr[] = {
	{"causal", "true",
	 "a token sees keys up to its own position; false: all up to the last real token's",
	 PCTL_ATTR_BOOL, 0, 0, 1},
	{"window", "0", "how many positions up to its own a token sees; 0: all", PCTL_ATTR_U64, 0,
	 0, 1u << 31},
	{"softcap", "0", "c: scores become c * tanh(score / c); 0: they stay", PCTL_ATTR_STRING, 0,
	 0, 0},
	{"scale", "", "what q.k is multiplied by; nothing: 1 / sqrt(d) rounded to f32",
	 PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_law attention_laws[] = {
	TENSOR_LAW("chunks", "causal: each token alone, at its position, gives its part of y"),
	TENSOR_LAW("sequence", "the last sequence alone gives its part of y"),
	TENSOR_LAW("padding", "a padded token more, of any bits, gives +0, and the rest stays"),
	TENSOR_LAW("paged", "of plain caches: their halves or wholes as pages give y"),
	TENSOR_LAW("heads", "a group's shared keys and values written out for each head give y"),
	TENSOR_LAW("one", "a window of one position gives its value, but of scores that are no "
			  "number, rounded to y's type"),
	TENSOR_LAW("mixed", "not causal, without a window: keys and their values from the last to "
			    "the first give y"),
	TENSOR_LAW("longer", "of plain caches: positions more, of any bits, give y"),
};
static void (*const attention_checks[])(kit_law *) = {
	attention_law_chunks, attention_law_sequence, attention_law_padding, attention_law_paged,
	attention_law_heads,  attention_law_one,      attention_law_mixed,   attention_law_longer};

static const kit_op ops[] = {
	TENSOR_OP(
		attention, 1, "transformer.attention",
		"attention of a chunk's tokens over cached keys and values",
		"Head g of token i of sequence b, below count[b], sees positions p of its "
		"sequence, up to start[b] + i (not causal: below start[b] + count[b]), and with a "
		"window those\nabove start[b] + i - window; nothing else is a term. s = (q.k "
		"exactly, rounded) * scale, with a cap cap * tanh(s / cap); m = the greatest s; e "
		"= exp(s - m), +0 where s "
		"is\n-Inf; S = the exact sum of e, rounded; y = (the exact sum of e * v, rounded) "
		"/ S, rounded once more to q's type; +0 where S is 0 or the token is not real. "
		"Head g has "
		"keys\nand values g / (h / heads). Scores are f32, each step rounded.",
		PCTL_CLASS_STRICT, attention_in, 6, attention_out, attention_attr, ATTENTION_ATTRS,
		NULL),
};

const kit_family transformer_attention_family = {ops, NULL, KIT_COUNT(ops), 0};
