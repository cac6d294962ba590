/* Implementation of plan.h. */
#include "evidence/certify/plan.h"

#include <inttypes.h>
#include <string.h>

/* L3f and L4f speak of tensors: without an op that is a plan they could not be granted, and that is said before hours of work. */
static pctl_status has_tensors(const pctl_units *l, const pctl_proof_params *p,
			       const pctl_call *call)
{
	char name[8];

	if (p->track != PCTL_TRACK_FLOAT || p->level < 3)
		return PCTL_OK;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->units[i].kind == PCTL_UNIT_PARITY &&
		    strcmp(l->units[i].name, PCTL_UNIT_PROBLEMS) == 0)
			return PCTL_OK;
	return pctl_refuse(
		call, PC5501_LEVEL, "%s cannot be granted: no op of tensors is among \"%s\"",
		pctl_level_name(p->level, p->track, name), p->ops == NULL ? "*" : p->ops);
}

/* Units above the level asked for are cut out and the rest numbered again. */
static void cut(pctl_units *l, uint32_t level)
{
	uint32_t n = 0;

	l->n_blocks = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->units[i].level > level)
			continue;
		if (n != i)
			l->units[n] = l->units[i];
		l->units[n].first_block = l->n_blocks;
		l->n_blocks += l->units[n].n_blocks;
		n++;
	}
	l->n = n;
}

static pctl_status judge(const pctl_units *l, const pctl_proof_params *p, const pctl_call *call)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const pctl_unit *u = &l->units[i];

		if (u->track != p->track)
			return pctl_refuse(call, PC5503_UNIT,
					   "unit \"%s\", %s \"%s\" is of another track", u->subject,
					   pctl_unit_kind_name(u->kind), u->name);
		if (u->n_blocks == 0 || u->level == 0 || u->kind == 0 || u->kind >= PCTL_UNIT_KINDS)
			return pctl_refuse(call, PC5503_UNIT,
					   "unit \"%s\", %s \"%s\" has nothing to run", u->subject,
					   pctl_unit_kind_name(u->kind), u->name);
	}
	if (l->n == 0)
		return pctl_refuse(call, PC5502_NOTHING,
				   "there is nothing to prove: no op \"%s\" in this track",
				   p->ops == NULL ? "*" : p->ops);
	return has_tensors(l, p, call);
}

pctl_status pctl_proof_plan(pctl_proof_context *b, const pctl_provider *providers,
			    uint32_t n_providers, const pctl_proof_params *p, const pctl_call *call,
			    pctl_units **out)
{
	const pctl_selection s = {p->ops, p->track, p->level};
	pctl_status status = pctl_units_create(call, out);

	for (uint32_t i = 0; status == PCTL_OK && i < n_providers; i++)
		if (providers[i].tracks & 1u << p->track && providers[i].level <= p->level)
			status = providers[i].add(b, &s, p->programs, call, *out);
	if (status == PCTL_OK) {
		cut(*out, p->level);
		status = judge(*out, p, call);
	}
	if (status != PCTL_OK) {
		pctl_units_destroy(*out);
		*out = NULL;
	}
	return status;
}

/* A field of a line: tabs and newlines would end it, and nothing beyond ASCII comes back from every reader. */
static void add_field(pctl_str_buf *s, const char *text)
{
	for (; text != NULL && *text != '\0'; text++) {
		const char c = *text >= ' ' && *text < 0x7f ? *text : ' ';

		pctl_str_add_n(s, &c, 1);
	}
	pctl_str_add(s, "\t");
}

void pctl_proof_unit_line(const pctl_unit *u, pctl_str_buf *out)
{
	pctl_str_addf(out, "%s\t%u\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t",
		      pctl_unit_kind_name(u->kind), u->level, u->track, u->flags, u->n_cases,
		      u->n_blocks);
	add_field(out, u->subject);
	add_field(out, u->op);
	add_field(out, u->name);
	add_field(out, u->domain);
	pctl_str_addf(out, "%s\n", u->program);
}

pctl_status pctl_proof_plan_text(const pctl_units *l, const pctl_call *call, pctl_str_buf *out)
{
	for (uint32_t i = 0; i < l->n; i++)
		pctl_proof_unit_line(&l->units[i], out);
	return out->failed ? pctl_no_memory(call, "a list of units") : PCTL_OK;
}

const pctl_unit *pctl_proof_unit_of(const pctl_units *l, uint64_t number)
{
	uint32_t low = 0, high = l->n;

	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (l->units[middle].first_block <= number)
			low = middle;
		else
			high = middle;
	}
	return &l->units[low];
}
