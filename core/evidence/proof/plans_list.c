/* Which problems a plan op is given: sizes, attributes at their values, and of all numbers of who makes them those that the
 * op takes. */
#include <stdlib.h>
#include <string.h>

#include "evidence/proof/plans.h"

#define SIZES_MOST 96u
#define NUMBERS_MOST 65536u

static const uint64_t usual_sizes[] = {0,    1,	   2,	  3,	 4,	5,     7,     8,    9,
				       15,   16,   17,	  31,	 32,	33,    63,    64,   65,
				       127,  128,  129,	  255,	 256,	257,   511,   512,  513,
				       1023, 1024, 1025,  2047,	 2048,	2049,  4095,  4097, 8191,
				       8192, 8193, 16384, 65535, 65536, 65537, 262145};

static void add_size(pctl_problems *l, uint64_t size)
{
	uint32_t at = 0;

	while (at < l->n_sizes && l->sizes[at] < size)
		at++;
	if (l->n_sizes == SIZES_MOST || (at < l->n_sizes && l->sizes[at] == size))
		return;
	memmove(&l->sizes[at + 1], &l->sizes[at], (l->n_sizes - at) * sizeof(l->sizes[0]));
	l->sizes[at] = size;
	l->n_sizes++;
}

/* The usual ones, what the op calls its boundaries, and a few that nobody chose. A small --cases leaves large ones
 * out. */
static void choose_sizes(pctl_problems *l, uint64_t cases)
{
	const pctl_op_rules *rules = l->op.lib->rules(l->op.inst, l->op.index);
	const uint64_t most = cases < 1024 ? 8193 : cases > (1u << 20) ? 1u << 23 : cases * 8;
	const uint64_t n_random = cases / 65536 < 4 ? 4 : cases / 65536 > 16 ? 16 : cases / 65536;

	for (size_t i = 0; i < sizeof(usual_sizes) / sizeof(usual_sizes[0]); i++)
		if (usual_sizes[i] <= most)
			add_size(l, usual_sizes[i]);
	for (uint32_t i = 0; rules != NULL && i < rules->n_boundaries; i++)
		if (rules->boundaries[i].in[0] <= most)
			add_size(l, rules->boundaries[i].in[0]);
	for (uint64_t i = 0; i < n_random; i++)
		add_size(l, pctl_problem_random(l->seed, i) % 3000);
}

/* Is this attribute's value taken, all others being at their defaults (or at their first known value)? */
static int takes(const pctl_problems *l, pctl_problem *p, uint32_t attr, const char *value)
{
	int taken = 0, made;

	for (uint32_t i = 0; i < p->n_attr; i++)
		pctl_problem_set(p, i,
				 l->n_values[i] != 0 ? l->values[i][0]
						     : l->op.desc->attr[i].default_text);
	pctl_problem_set(p, attr, value);
	/* Shapes come with problems; a copy of the list with this value alone asks it for a few. */
	for (uint64_t k = 0; k < 64 && !taken; k++) {
		pctl_problems one = *l;
		pctl_problem tried = {
			.op = l->op, .n_in = p->n_in, .n_attr = p->n_attr, .size = UINT64_MAX};

		for (uint32_t i = 0; i < p->n_attr; i++) {
			one.values[i][0] = p->text[i];
			one.n_values[i] = 1;
		}
		taken = pctl_problems_any_make(&one, k, NULL, &tried, &made) == PCTL_OK && made &&
			pctl_problem_valid(&tried);
		pctl_problem_clear(&tried);
	}
	return taken;
}

static void add_value(pctl_problems *l, uint32_t attr, const char *value)
{
	for (uint32_t i = 0; i < l->n_values[attr]; i++)
		if (strcmp(l->values[attr][i], value) == 0)
			return;
	if (l->n_values[attr] < PCTL_PROBLEM_VALUES)
		l->values[attr][l->n_values[attr]++] = value;
}

/* The words of the description that the op takes are the values of a text without a default ("add, mul, min or max"). */
static void words(pctl_problems *l, pctl_problem *p, uint32_t attr, pctl_arena *arena)
{
	static const char separators[] = " ,.;:|()\"'";
	const char *at = l->op.desc->attr[attr].doc == NULL ? "" : l->op.desc->attr[attr].doc;

	while (*at != '\0') {
		const size_t n = strcspn(at, separators);
		const char *word = n == 0 || n > 30 ? NULL : pctl_arena_dup_n(arena, at, n);

		if (word != NULL && takes(l, p, attr, word))
			add_value(l, attr, word);
		at += n + (at[n] != '\0');
	}
}

static void choose_values(pctl_problems *l, pctl_arena *arena)
{
	const pctl_op_desc *d = l->op.desc;
	pctl_problem p = {.op = l->op, .n_in = d->n_in, .size = UINT64_MAX};

	p.n_attr = d->n_attr < PCTL_ATTRS_MAX ? d->n_attr : PCTL_ATTRS_MAX;
	for (uint32_t i = 0; i < p.n_attr; i++) {
		const pctl_attr_desc *a = &d->attr[i];

		if (a->default_text != NULL)
			add_value(l, i, a->default_text);
		if (a->kind == PCTL_ATTR_BOOL) {
			add_value(l, i, "false");
			add_value(l, i, "true");
		} else if (a->kind == PCTL_ATTR_STRING && a->default_text == NULL) {
			words(l, &p, i, arena);
		} else if (a->default_text == NULL || (a->kind == PCTL_ATTR_U64 && a->min != 0)) {
			add_value(l, i,
				  pctl_arena_printf(arena, "%llu", (unsigned long long)a->min));
		}
	}
}

static pctl_status make(const pctl_problems *l, uint64_t number, const pctl_call *call,
			pctl_problem *out, int *made)
{
	pctl_status status;

	*out = (pctl_problem){.op = l->op, .n_in = l->op.desc->n_in, .size = UINT64_MAX};
	out->n_attr = l->op.desc->n_attr < PCTL_ATTRS_MAX ? l->op.desc->n_attr : PCTL_ATTRS_MAX;
	for (uint32_t i = 0; i < out->n_attr; i++)
		pctl_problem_set(out, i, l->op.desc->attr[i].default_text);
	status = l->own != NULL ? pctl_problems_own_make(l, number, call, out, made)
				: pctl_problems_any_make(l, number, call, out, made);
	if (status != PCTL_OK || !*made)
		pctl_problem_clear(out);
	return status;
}

pctl_status pctl_problems_make(const pctl_problems *l, uint64_t i, const pctl_call *call,
			       pctl_problem *out)
{
	int made;
	const pctl_status status = make(l, l->numbers[i], call, out, &made);

	if (status == PCTL_OK && !made)
		return pctl_refuse(call, PC1_INTERNAL, "a problem of %s is gone", l->op.desc->name);
	return status;
}

pctl_status pctl_problems_of(pctl_proof_context *b, const pctl_op_ref *op, uint32_t dtype,
			     pctl_arena *arena, const pctl_call *call, pctl_problems *out)
{
	pctl_status status = PCTL_OK;
	uint64_t seed = b->seed;
	uint64_t count;

	for (const char *c = op->desc->name; *c != '\0'; c++)
		seed = seed * 0x100000001b3ull + (unsigned char)*c;
	*out = (pctl_problems){
		.op = *op, .own = pctl_problems_own(op), .dtype = dtype, .seed = seed + dtype};
	status = pctl_op_size_check(op->desc, op->plugin, call);
	if (status != PCTL_OK)
		return status;
	if (out->own == NULL) {
		choose_sizes(out, b->cases);
		choose_values(out, arena);
	}
	count = out->own != NULL ? out->own->n : pctl_problems_any_count(out);
	if (count > NUMBERS_MOST)
		count = NUMBERS_MOST;
	out->numbers = pctl_arena_array(arena, count, sizeof(*out->numbers));
	if (out->numbers == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for problems of %s", op->desc->name);
	for (uint64_t k = 0; k < count && status == PCTL_OK; k++) {
		pctl_problem p;
		int made;

		status = make(out, k, call, &p, &made);
		if (status != PCTL_OK || !made)
			continue;
		if (pctl_problem_valid(&p))
			out->numbers[out->n++] = (uint32_t)k;
		pctl_problem_clear(&p);
	}
	return status;
}
