/* Sequences of a batch; see sequences.h. */
#include "sequences.h"

#include <inttypes.h>
#include <stdio.h>

#include "kernels.h"

pctl_status sequences_types(const kit_use *u, const sequences *s)
{
	const uint32_t ports[2] = {s->start, s->count};

	for (uint32_t i = 0; i < 2; i++) {
		const pctl_tensor_type *t = &u->q->in[ports[i] == SEQUENCES_NONE ? 0 : ports[i]];

		if (ports[i] != SEQUENCES_NONE &&
		    (t->dtype != PCTL_SCALAR_U32 || t->rank != 1 || t->dim[0] != s->n))
			return kit_refuse_type(u, ports[i], "u32, one a sequence");
	}
	return kit_limit(u, "sequences", s->n, SEQUENCES_MAX);
}

uint32_t sequences_text(const kit_plan *p, kit_wgsl *w, const sequences *s, uint32_t found,
			uint32_t first, kit_slot *slots)
{
	uint32_t n = 0;
	char text[120];

	snprintf(text, sizeof(text),
		 "@group(0) @binding(%u) var<storage, read> start: array<u32>;\n", first);
	kit_wgsl_add(w, text);
	slots[n++] = (kit_slot)KIT_ALL(kit_in(p, s->start));
	if (s->count != SEQUENCES_NONE) {
		snprintf(text, sizeof(text),
			 "@group(0) @binding(%u) var<storage, read> count: array<u32>;\n",
			 first + n);
		kit_wgsl_add(w, text);
		slots[n++] = (kit_slot)KIT_ALL(kit_in(p, s->count));
	}
	kit_wgsl_add(w, s->count != SEQUENCES_NONE
				? "fn counted(b: u32, t: u32) -> u32 {\n\treturn count[b];\n}\n"
				: "fn counted(b: u32, t: u32) -> u32 {\n\treturn t;\n}\n");
	kit_wgsl_add(w, "fn tokens(b: u32, t: u32) -> u32 {\n\treturn min(counted(b, t), t);\n}\n");
	if (found == SEQUENCES_NONE)
		return n;
	snprintf(text, sizeof(text),
		 "@group(0) @binding(%u) var<storage, read_write> found: array<vec2<u64>>;\n",
		 first + n);
	kit_wgsl_add(w, text);
	kit_wgsl_add(w, KERNEL_SEQUENCES);
	slots[n++] = (kit_slot)KIT_ALL(found);
	return n;
}

void sequences_assert(kit_plan *p, const sequences *s, uint32_t found)
{
	char message[2][120];
	pctl_plan_assert a = {.head = PCTL_HEAD(pctl_plan_assert),
			      .buffer = found,
			      .bytes = 8,
			      .expected = UINT32_MAX,
			      .also_bytes = 8};

	snprintf(message[0], sizeof(message[0]), "count[%%v] is %%u, out of range of %" PRIu64,
		 s->t + 1);
	snprintf(message[1], sizeof(message[1]),
		 "position %%u of sequence %%v is out of range of %" PRIu64, s->positions);
	for (uint32_t i = 0; i < 2 && p->status == PCTL_OK; i++) {
		a.offset = 16 * i;
		a.also_offset = 16 * i + 8;
		a.message = message[i];
		p->status = p->sink->assert_equal(p->sink->ctx, &a);
	}
}

/* ---- plain C -------------------------------------------------------------------------------- */

uint32_t sequences_start(const sequences *s, const pctl_span *in, uint64_t b)
{
	return (uint32_t)tensor_get(in[s->start].data, b, 4);
}

uint32_t sequences_count(const sequences *s, const pctl_span *in, uint64_t b)
{
	return s->count == SEQUENCES_NONE ? (uint32_t)s->t
					  : (uint32_t)tensor_get(in[s->count].data, b, 4);
}

pctl_status sequences_refuse(const kit_use *u, const sequences *s, const pctl_span *in)
{
	for (uint64_t b = 0; b < s->n; b++)
		if (sequences_count(s, in, b) > s->t)
			return pctl_refuse(u->call, PC4205_OP_VALUE,
					   "count[%" PRIu64 "] is %u, out of range of %" PRIu64, b,
					   sequences_count(s, in, b), s->t + 1);
	for (uint64_t b = 0; b < s->n; b++)
		for (uint64_t i = 0; i < sequences_count(s, in, b); i++)
			if (sequences_start(s, in, b) + i >= s->positions)
				return pctl_refuse(u->call, PC4205_OP_VALUE,
						   "position %" PRIu64 " of sequence %" PRIu64
						   " is out of range of %" PRIu64,
						   sequences_start(s, in, b) + i, b, s->positions);
	return PCTL_OK;
}

void sequences_problem(kit_problem *p, const sequences *s)
{
	const pctl_tensor_type t = kit_vector(PCTL_SCALAR_U32, s->n);
	const uint64_t wrong = kit_random(p->seed, p->number) % 16;
	uint32_t first[SEQUENCES_MAX], real[SEQUENCES_MAX];

	for (uint64_t b = 0; b < s->n; b++) {
		const uint64_t r = kit_random(p->seed + p->number * 8 + s->start, b);
		const uint64_t room = s->positions > s->t ? s->positions - s->t : 0;

		real[b] = (uint32_t)(s->count == SEQUENCES_NONE ? s->t : r % (s->t + 1));
		if (real[b] > s->positions)
			real[b] = (uint32_t)s->positions;
		first[b] = (uint32_t)(room == 0 ? 0 : (r >> 20) % (room + 1));
		if (wrong == 0 && r >> 40 & 1)
			first[b] = (uint32_t)(s->positions + (r >> 41 & 1)) -
				   (r >> 42 & 1 ? real[b] : 0);
		if (wrong == 1 && r >> 40 & 1)
			real[b] = (uint32_t)s->t + 1;
	}
	kit_problem_input(p, s->start, &t, first);
	if (s->count != SEQUENCES_NONE)
		kit_problem_input(p, s->count, &t, real);
}
