/* Laws and problems, as the families of the libraries say them: straight lines that stop at the first refusal; see kit.h. */
#include <inttypes.h>
#include <stdio.h>

#include "common/kit.h"

uint64_t kit_random(uint64_t seed, uint64_t counter)
{
	/* splitmix64's finaliser over seed, stream and counter: the numbers that the problems of this version are made of. */
	uint64_t z = seed * 0x9e3779b97f4a7c15u + 5 * 0xd1b54a32d192ed03u + counter;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint32_t kit_law_out(const kit_law *l, uint32_t i)
{
	return l->use.q->n_in + i;
}

const uint8_t *kit_law_data(const kit_law *l, uint32_t tensor)
{
	return l->c->tensors[tensor].data;
}

uint64_t kit_law_bytes(const kit_law *l, uint32_t tensor)
{
	return l->c->tensors[tensor].n_bytes;
}

const char *kit_law_attr(const kit_law *l, const char *name)
{
	for (uint32_t i = 0; i < l->use.q->n_attr; i++)
		if (strcmp(l->use.q->attr[i].name, name) == 0)
			return l->use.q->attr[i].text;
	return "";
}

uint32_t kit_law_tensor(kit_law *l, const pctl_tensor_type *t, const void *bytes)
{
	uint32_t number = 0;

	if (l->status == PCTL_OK)
		l->status = l->sink->tensor(l->sink->ctx, t, bytes, kit_bytes(t), &number);
	return number;
}

uint32_t kit_law_use(kit_law *l, const char *op, const uint32_t *inputs, uint32_t n_in,
		     const pctl_attr *attr, uint32_t n_attr, uint32_t n_out)
{
	const pctl_op_desc *own = &l->use.op->desc;
	const uint32_t version = strcmp(op, own->name) == 0 ? own->version : 1;
	uint32_t first = 0;

	if (l->status == PCTL_OK)
		l->status = l->sink->use(l->sink->ctx, op, version, inputs, n_in, attr, n_attr,
					 n_out, &first);
	return first;
}

void kit_law_equal(kit_law *l, uint32_t got, uint32_t want)
{
	if (l->status == PCTL_OK)
		l->status = l->sink->equal(l->sink->ctx, got, want);
}

void kit_law_holds(kit_law *l)
{
	if (l->status == PCTL_OK)
		l->status = l->sink->judged(l->sink->ctx, 1, NULL, NULL);
}

void kit_law_says(kit_law *l, const char *got, const char *want)
{
	/* Nothing more is looked at: what is broken may not be fit to. */
	if (l->status == PCTL_OK)
		l->status = l->sink->judged(l->sink->ctx, 0, got, want);
	if (l->status == PCTL_OK)
		l->status = PCTL_E_MISMATCH;
}

void kit_law_broken(kit_law *l, const char *what, uint64_t i, uint64_t got, uint64_t want)
{
	char a[160], b[32];

	snprintf(a, sizeof(a), "%s[%" PRIu64 "] = %" PRIu64, what, i, got);
	snprintf(b, sizeof(b), "%" PRIu64, want);
	kit_law_says(l, a, b);
}

void kit_law_again(kit_law *l)
{
	if (l->status == PCTL_OK)
		l->status = l->sink->again(l->sink->ctx);
}

void *kit_law_scratch(kit_law *l, uint64_t n_bytes)
{
	void *p = l->status == PCTL_OK ? kit_scratch(&l->use, n_bytes) : NULL;

	if (p)
		memset(p, 0, n_bytes);
	else if (l->status == PCTL_OK)
		l->status = pctl_refuse(l->use.call, PC2_NOMEM, "no memory for a law");
	return p;
}

void kit_law_free(kit_law *l, void *p)
{
	if (p)
		kit_scratch_free(&l->use, p);
}

/* ---- problems ------------------------------------------------------------------------------ */

void kit_problem_input(kit_problem *p, uint32_t port, const pctl_tensor_type *t, const void *data)
{
	if (p->status == PCTL_OK)
		p->status = p->sink->input(p->sink->ctx, port, t, data, kit_bytes(t));
}

void kit_problem_attr(kit_problem *p, uint32_t i, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	kit_problem_attr_text(p, i, text);
}

void kit_problem_attr_text(kit_problem *p, uint32_t i, const char *text)
{
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, i, text);
}

void kit_problem_measured(kit_problem *p, uint64_t value)
{
	if (p->status == PCTL_OK)
		p->status = p->sink->measured(p->sink->ctx, value);
}

void kit_problem_rigid(kit_problem *p)
{
	if (p->status == PCTL_OK)
		p->status = p->sink->rigid(p->sink->ctx);
}

void kit_problem_none(kit_problem *p)
{
	if (p->status == PCTL_OK)
		p->status = PCTL_E_UNSUPPORTED;
}
