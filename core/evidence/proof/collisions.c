/* Characterisation collisions: two ops of one library, arity and class whose laws, with the op's own name left open, are
 * the same, or of which one has all the other's and no example on which the two differ. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "evidence/proof/function.h"
#include "evidence/proof/gates.h"

static int is_peer(const pctl_op_ref *a, const pctl_op_ref *b)
{
	return a->lib == b->lib && a->inst == b->inst && a->index != b->index &&
	       !pctl_gate_as_plan(b->desc) && a->desc->n_in == b->desc->n_in &&
	       a->desc->op_class == b->desc->op_class;
}

uint32_t pctl_gate_peers(const pctl_op_source *ops, const pctl_op_ref *op)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ops->count(ops->ctx); i++) {
		pctl_op_ref other;

		ops->at(ops->ctx, i, &other);
		n += is_peer(op, &other) ? 1u : 0u;
	}
	return n;
}

/* ---- laws with the name left open ------------------------------------------------------------- */

/* Text with the op's name, with or without library, as "f", and without blanks. */
static void add_open(pctl_str_buf *s, const char *text, const char *full)
{
	const char *name = strchr(full, '.') == NULL ? full : strchr(full, '.') + 1;

	while (text != NULL && *text != '\0') {
		const size_t n = strcspn(
			text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		size_t word;

		for (size_t i = 0; i < n; i++)
			if (!isspace((unsigned char)text[i]))
				pctl_str_add_n(s, text + i, 1);
		text += n;
		word = strspn(text,
			      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.");
		if ((word == strlen(name) && strncmp(text, name, word) == 0) ||
		    (word == strlen(full) && strncmp(text, full, word) == 0))
			pctl_str_add(s, "f");
		else
			pctl_str_add_n(s, text, word);
		text += word;
	}
	pctl_str_add(s, ";");
}

static char *open_law(const pctl_law *l, const char *full)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "%" PRIu32 ";%" PRIu64 ";%" PRIu64 ";", l->law, l->a, l->b);
	add_open(&s, l->other, full);
	add_open(&s, l->dual, full);
	add_open(&s, l->custom, full);
	return pctl_str_finish(&s);
}

/* How many laws of a are among b's. -1: no memory. */
static int64_t shared(const pctl_op_rules *a, const char *a_name, const pctl_op_rules *b,
		      const char *b_name)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < a->n_laws && n >= 0; i++) {
		char *mine = open_law(&a->laws[i], a_name);
		int found = 0;

		for (uint32_t k = 0; k < b->n_laws && mine != NULL && !found; k++) {
			char *other = open_law(&b->laws[k], b_name);

			found = other != NULL && strcmp(mine, other) == 0;
			free(other);
		}
		n = mine == NULL ? -1 : n + found;
		free(mine);
	}
	return n;
}

/* ---- examples --------------------------------------------------------------------------------- */

/* 1: on one of these examples the two references differ, on some type that both have. */
static int differ_on(pctl_gate *g, const pctl_op_ref *other, const pctl_example *examples,
		     uint32_t n, uint32_t dtype)
{
	static const uint8_t zeros[16];
	pctl_op_function f, h;

	if (!pctl_gate_function(&g->op, dtype, &f) || !pctl_gate_function(other, dtype, &h))
		return 0;
	if (f.out_dtype != h.out_dtype)
		return 1;
	for (uint32_t i = 0; i < n; i++) {
		const pctl_example *one[1] = {&examples[i]};
		pctl_domain d = pctl_domain_make(PCTL_DOMAIN_EXAMPLES, dtype, f.n_in, 0, 1);
		uint8_t data[4][16];
		pctl_column in[4];
		const uint8_t *y, *z;
		uint64_t bytes, other_bytes;

		d.examples = one;
		for (uint32_t k = 0; k < f.n_in; k++)
			in[k] = (pctl_column){dtype, 0, 1, data[k]};
		pctl_domain_fill(&d, 0, 1, in);
		y = pctl_gate_answer(g, &f, in, 1, zeros, &bytes);
		z = pctl_gate_answer(g, &h, in, 1, zeros, &other_bytes);
		if (y != NULL && z != NULL && memcmp(y, z, bytes) != 0)
			return 1;
	}
	return 0;
}

static int told_apart(pctl_gate *g, const pctl_op_ref *other, const pctl_op_rules *theirs)
{
	uint32_t dtypes[PCTL_DTYPES_MAX];
	const uint32_t n = pctl_gate_dtypes(g, dtypes);

	if (g->rules->n_alternates + theirs->n_alternates != 0)
		return 1;
	for (uint32_t i = 0; i < n; i++)
		if (differ_on(g, other, g->rules->classes, g->rules->n_classes, dtypes[i]) ||
		    differ_on(g, other, g->rules->boundaries, g->rules->n_boundaries, dtypes[i]) ||
		    differ_on(g, other, theirs->classes, theirs->n_classes, dtypes[i]) ||
		    differ_on(g, other, theirs->boundaries, theirs->n_boundaries, dtypes[i]))
			return 1;
	return 0;
}

/* ---- the gate --------------------------------------------------------------------------------- */

void pctl_gate_collisions(pctl_gate *g)
{
	const pctl_op_source *ops = g->b->ops;

	for (uint32_t i = 0; i < ops->count(ops->ctx) && g->status == PCTL_OK; i++) {
		const pctl_op_rules *theirs;
		pctl_op_ref other;
		int64_t mine_in, theirs_in;
		const char *why = NULL;

		ops->at(ops->ctx, i, &other);
		if (!is_peer(&g->op, &other))
			continue;
		theirs = other.lib->rules(other.inst, other.index);
		if (g->rules == NULL || theirs == NULL) {
			(void)pctl_gate_check(g, "collision", 0, "%s has no rules",
					      g->rules == NULL ? "the op" : other.desc->name);
			continue;
		}
		mine_in = shared(g->rules, g->op.desc->name, theirs, other.desc->name);
		theirs_in = shared(theirs, other.desc->name, g->rules, g->op.desc->name);
		if (mine_in < 0 || theirs_in < 0) {
			pctl_gate_internal_failure(g, pctl_no_memory(g->call, "a gate"));
			return;
		}
		if (mine_in == g->rules->n_laws && theirs_in == theirs->n_laws) {
			why = "has the very same laws";
		} else if (theirs_in == theirs->n_laws || mine_in == g->rules->n_laws) {
			if (!told_apart(g, &other, theirs))
				why = "shares all the laws of one of the two, and no example tells "
				      "them apart";
			else
				snprintf(g->out->value, sizeof(g->out->value),
					 "beside %.24s told apart by examples", other.desc->name);
		}
		(void)pctl_gate_check(g, "collision", why == NULL, "%s %s", other.desc->name,
				      why == NULL ? "" : why);
	}
}
