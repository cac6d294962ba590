/* Running prepared code: what only sanitizing and counting builds do. Misses, races and barriers
 * that not every invocation reaches. A sanitizing build has one workgroup in a batch. */
#include "lanes/batch.h"

uint64_t pctl_cpu_batch_invocation(const pctl_cpu_batch *s, uint64_t group, uint32_t local)
{
	const pctl_cpu_code *c = s->code;
	const uint32_t *n = s->job->groups, *size = c->local_size;
	const uint64_t g[3] = {group % n[0], group / n[0] % n[1], group / n[0] / n[1]};
	const uint64_t l[3] = {local % size[0], local / size[0] % size[1],
			       local / size[0] / size[1]};
	const uint64_t x = g[0] * size[0] + l[0], y = g[1] * size[1] + l[1],
		       z = g[2] * size[2] + l[2];

	return (z * n[1] * size[1] + y) * n[0] * size[0] + x;
}

static uint32_t function_of(const pctl_cpu_sanitizer *w, uint32_t inst)
{
	const pctl_program *p = w->program;

	for (uint32_t i = 0; i < p->n_functions; i++)
		if (inst - p->functions[i].first_inst < p->functions[i].n_insts)
			return i;
	return 0;
}

/* function and inst of a finding, from an instruction of the program's list. */
static void locate(const pctl_cpu_sanitizer *w, uint32_t inst, uint32_t *function,
		   uint32_t *in_function)
{
	*function = function_of(w, inst);
	*in_function = inst - w->program->functions[*function].first_inst;
}

static uint32_t first_lane(const pctl_cpu_batch *s, const uint32_t *mask, uint32_t wanted)
{
	for (uint32_t i = 0; i < s->n_lanes; i++)
		if (mask[i] == wanted)
			return i;
	return 0;
}

void pctl_cpu_batch_missed(pctl_cpu_batch *s, const pctl_cpu_ins *in, const pctl_cpu_mem *m)
{
	pctl_cpu_sanitizer *w = s->job->sanitizer;
	uint64_t n = 0;
	uint32_t first = 0;

	/* Ask each lane again, plainly: which levels does it miss? */
	for (uint32_t i = s->lo; i < s->hi; i++) {
		uint64_t off = m->offset;
		int ok = 1;

		if (!s->mask[i])
			continue;
		for (uint32_t k = 0; k < m->n_steps; k++) {
			const pctl_cpu_step *step = &s->code->steps[m->first_step + k];
			const uint32_t *index = pctl_cpu_at(s, step->index);
			const uint32_t at = index[step->uniform ? 0 : i];
			uint32_t length =
				step->runtime ? s->job->bounds[m->root].length : step->length;

			if (step->is_signed && length > 0x80000000u)
				length = 0x80000000u;
			ok = ok && at < length;
			off += (uint64_t)at * step->stride;
		}
		if (ok && m->space >= PCTL_SPACE_UNIFORM && s->job->bounds[m->root].is_short)
			ok = off + m->extent <= s->job->bounds[m->root].n_bytes;
		if (ok)
			continue;
		if (n++ == 0)
			first = i;
	}
	s->out_of_bounds += n;
	if (w && n) {
		pctl_finding f = {.kind = PCTL_FINDING_OUT_OF_BOUNDS, .dispatch = w->dispatch};

		f.var = m->root;
		locate(w, in->ir, &f.function, &f.inst);
		f.other_function = f.function;
		f.other_inst = f.inst;
		f.invocation = pctl_cpu_batch_invocation(s, s->first_group, first);
		f.other_invocation = f.invocation;
		f.count = n;
		pctl_cpu_sanitizer_add(w, &f);
	}
}

static void report_race(pctl_cpu_batch *s, const pctl_cpu_ins *in, const pctl_cpu_mem *m,
			uint32_t lane, uint64_t address, uint64_t other)
{
	pctl_cpu_sanitizer *w = s->job->sanitizer;
	pctl_finding f = {.kind = PCTL_FINDING_RACE, .dispatch = w->dispatch, .count = 1};
	uint64_t group;
	uint32_t local, inst;

	pctl_cpu_sanitizer_unpack(w, other, &group, &local, &inst);
	if (m->space == PCTL_SPACE_WORKGROUP)
		group = s->first_group;
	f.var = m->root;
	f.address = address;
	f.invocation = pctl_cpu_batch_invocation(s, s->first_group, lane);
	f.other_invocation = pctl_cpu_batch_invocation(s, group, local);
	locate(w, in->ir, &f.function, &f.inst);
	locate(w, inst, &f.other_function, &f.other_inst);
	pctl_cpu_sanitizer_add(w, &f);
}

/* All cells of one word or half; an access they race with, or 0. */
static uint64_t touch(pctl_cpu_sanitizer *w, const pctl_cpu_clock *clock,
		      const pctl_cpu_shadow *shadow, uint64_t from, uint64_t n_bytes, uint32_t kind,
		      uint32_t lane, uint32_t inst)
{
	uint64_t first = 0;

	for (uint64_t at = from; at < from + n_bytes; at += 1ull << shadow->shift) {
		const uint64_t other = pctl_cpu_sanitizer_touch(
			w, clock, &shadow->cells[at >> shadow->shift], kind, lane, inst);

		first = first ? first : other;
	}
	return first;
}

/* Lanes that set the turn flag, the lowest of them. */
static void exceeded(pctl_cpu_batch *s, const pctl_cpu_ins *in, uint32_t root)
{
	pctl_cpu_sanitizer *w = s->job->sanitizer;
	pctl_finding f = {.kind = PCTL_FINDING_TURNS,
			  .dispatch = w->dispatch,
			  .var = root,
			  .address = s->first_group,
			  .count = w->barriers};

	for (uint32_t i = s->lo; i < s->hi; i++) {
		if (!s->ok[i])
			continue;
		f.invocation = f.other_invocation = pctl_cpu_batch_invocation(s, s->first_group, i);
		locate(w, in->ir, &f.function, &f.inst);
		f.other_function = f.function;
		f.other_inst = f.inst;
		pctl_cpu_sanitizer_exceeded(w, &f, i);
		return;
	}
}

/* The lanes that are 1 in s->ok accessed the memory at s->off. */
void pctl_cpu_batch_touched(pctl_cpu_batch *s, const pctl_cpu_ins *in, const pctl_cpu_mem *m,
			    uint32_t kind)
{
	static const pctl_cpu_leaf atomic_leaf = {0};
	pctl_cpu_sanitizer *w = s->job->sanitizer;
	const pctl_cpu_bound *bound =
		m->space == PCTL_SPACE_WORKGROUP ? NULL : &s->job->bounds[m->root];
	pctl_cpu_shadow *shadow = bound ? bound->shadow : w->workgroup_shadow;
	const pctl_cpu_clock *clock = bound ? &w->storage : &w->workgroup;
	const uint64_t base = bound ? bound->buffer_offset : m->base;
	const pctl_cpu_leaf *leaves = m->n_leaves ? &s->code->leaves[m->first_leaf] : &atomic_leaf;
	const uint32_t n_leaves = m->n_leaves ? m->n_leaves : 1;

	if (bound && s->code->slots[m->root].group == PCTL_TURNS_GROUP)
		exceeded(s, in, m->root);
	for (uint32_t i = s->lo; i < s->hi && shadow; i++) {
		for (uint32_t k = 0; k < n_leaves && s->ok[i]; k++) {
			const uint64_t address = s->off[i] + leaves[k].off;
			const uint64_t n_bytes = pctl_cpu_mem_bytes(leaves[k].mem);

			for (uint64_t word = address; word < address + n_bytes; word += 4) {
				const uint64_t other =
					touch(w, clock, shadow, base + word,
					      n_bytes < 4 ? n_bytes : 4, kind, i, in->ir);

				if (other)
					report_race(s, in, m, i, word, other);
			}
		}
	}
}

static void count_barrier(pctl_cpu_batch *s, uint32_t bits)
{
	const uint32_t n = s->code->invocations;

	for (uint32_t base = 0; base < s->n_lanes; base += n) {
		uint32_t any = 0;

		for (uint32_t i = 0; i < n; i++)
			any |= s->mask[base + i];
		s->barriers[bits & 3] += any;
	}
}

void pctl_cpu_batch_barrier(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	pctl_cpu_sanitizer *w = s->job->sanitizer;
	pctl_finding f = {.kind = PCTL_FINDING_DIVERGENT_BARRIER, .count = 1};

	count_barrier(s, in->jump);
	if (!w)
		return;
	if (s->n_active != s->n_lanes) {
		f.dispatch = w->dispatch;
		locate(w, in->ir, &f.function, &f.inst);
		f.other_function = f.function;
		f.other_inst = f.inst;
		f.invocation =
			pctl_cpu_batch_invocation(s, s->first_group, first_lane(s, s->mask, 1));
		f.other_invocation =
			pctl_cpu_batch_invocation(s, s->first_group, first_lane(s, s->mask, 0));
		pctl_cpu_sanitizer_add(w, &f);
	}
	pctl_cpu_sanitizer_barrier(w, in->jump);
}
