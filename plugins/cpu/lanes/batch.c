/* Running prepared code: the interpreter's loop. Every instruction runs over all lanes of the
 * batch; control flow only moves lanes between masks, so the lanes of a workgroup are always in
 * step and barriers have nothing to wait for. */
#include "kernels/elementary.h"
#include "lanes/batch.h"

#include <stdlib.h>
#include <string.h>

void pctl_cpu_batch_destroy(pctl_cpu_batch *s)
{
	if (!s)
		return;
	free(s->registers);
	free(s->off);
	free(s->ok);
	free(s->group_base);
	free(s->workgroup);
	free(s->case_counts);
	free(s->block_counts);
	free(s->frames);
	free(s);
}

static void *zeroed(uint64_t n_bytes)
{
	const uint64_t n = (n_bytes + 127) & ~(uint64_t)63;
	void *p = aligned_alloc(64, n);

	if (p)
		memset(p, 0, n);
	return p;
}

static void fill_consts(pctl_cpu_batch *s, const pctl_cpu_kernels *k)
{
	const pctl_cpu_code *c = s->code;

	for (uint32_t i = 0; i < c->n_consts; i++) {
		const pctl_cpu_const *v = &c->consts[i];
		const uint32_t n = v->uniform ? 1 : c->lanes;

		k->splat[v->wide](0, n, pctl_cpu_at(s, v->reg), &v->bits, NULL, NULL, NULL);
	}
}

/* What depends on a lane's number alone. */
static void fill_locals(pctl_cpu_batch *s)
{
	const pctl_cpu_code *c = s->code;

	for (uint32_t i = 0; i < c->lanes; i++) {
		const uint32_t local = i % c->invocations;
		const uint32_t id[3] = {local % c->local_size[0],
					local / c->local_size[0] % c->local_size[1],
					local / c->local_size[0] / c->local_size[1]};

		for (uint32_t k = 0; k < 3; k++)
			if (c->special[PCTL_CPU_REG_LOCAL_ID + k])
				((uint32_t *)pctl_cpu_at(
					s, c->special[PCTL_CPU_REG_LOCAL_ID + k]))[i] = id[k];
		if (c->special[PCTL_CPU_REG_LOCAL_INDEX])
			((uint32_t *)pctl_cpu_at(s, c->special[PCTL_CPU_REG_LOCAL_INDEX]))[i] =
				local;
		s->group_base[i] = (uint64_t)(i / c->invocations) * c->workgroup_stride;
	}
}

pctl_cpu_batch *pctl_cpu_batch_create(const pctl_cpu_code *code, const pctl_cpu_kernels *k)
{
	pctl_cpu_batch *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->code = code;
	s->registers = zeroed(code->register_bytes);
	s->off = zeroed((uint64_t)code->lanes * 8);
	s->ok = zeroed((uint64_t)code->lanes * 4);
	s->group_base = zeroed((uint64_t)code->lanes * 8);
	s->workgroup = zeroed((uint64_t)code->workgroup_stride * code->groups_per_batch);
	s->case_counts = zeroed((uint64_t)code->n_case_counts * 4);
	s->block_counts = zeroed((uint64_t)code->n_blocks * 8);
	s->frames = zeroed((uint64_t)code->n_functions * sizeof(*s->frames));
	if (!s->registers || !s->off || !s->ok || !s->group_base || !s->workgroup ||
	    !s->case_counts || !s->block_counts || !s->frames) {
		pctl_cpu_batch_destroy(s);
		return NULL;
	}
	fill_consts(s, k);
	fill_locals(s);
	return s;
}

/* The mask has n active lanes: find the range that holds them, in steps of 16. */
static void set_active(pctl_cpu_batch *s, uint32_t n)
{
	const uint32_t *m = s->mask;
	uint32_t lo = 0, hi = s->width;

	s->n_active = n;
	if (n == 0) {
		s->lo = s->hi = 0;
		return;
	}
	if (n != s->n_lanes) {
		while (!m[lo])
			lo++;
		while (!m[hi - 1])
			hi--;
		lo &= ~15u;
		hi = (hi + 15) & ~15u;
	}
	s->lo = lo;
	s->hi = hi;
}

static void recount(pctl_cpu_batch *s)
{
	set_active(s, s->job->k->mask_count(s->width, s->mask));
}

static void clear_mask(const pctl_cpu_batch *s, uint32_t *mask)
{
	memset(mask, 0, (size_t)s->width * 4);
}

static void copy_mask(const pctl_cpu_batch *s, uint32_t *to, const uint32_t *from)
{
	memcpy(to, from, (size_t)s->width * 4);
}

static void join_mask(const pctl_cpu_batch *s, uint32_t *to, const uint32_t *from)
{
	s->job->k->mask_or(0, s->width, to, from, NULL, NULL, NULL);
}

/* Lanes for which the condition does not hold go from the active mask to `other`, which is
 * replaced. */
static void split(pctl_cpu_batch *s, const pctl_cpu_ins *in, uint32_t *other)
{
	const uint32_t *condition = pctl_cpu_at(s, in->a);

	if (!(in->flags & PCTL_CPU_UNIFORM)) {
		set_active(s, s->job->k->mask_split(s->width, s->mask, other, condition));
	} else if (condition[0]) {
		clear_mask(s, other);
	} else {
		copy_mask(s, other, s->mask);
		clear_mask(s, s->mask);
		set_active(s, 0);
	}
}

static void enter_else(pctl_cpu_batch *s, uint32_t *other)
{
	s->job->k->mask_swap(s->width, s->mask, other);
	recount(s);
}

static uint32_t case_of(const pctl_cpu_code *c, const pctl_cpu_switch *sw, uint32_t value)
{
	const pctl_cpu_case *cases = c->cases + sw->first_case;
	uint32_t lo = 0, hi = sw->n_literals;

	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (cases[mid].literal < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < sw->n_literals && cases[lo].literal == value ? cases[lo].number
								 : sw->default_number;
}

static void enter_switch(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const pctl_cpu_switch *sw = &s->code->switches[in->extra];
	const uint32_t *selector = pctl_cpu_at(s, in->a);
	const int uniform = in->flags & PCTL_CPU_UNIFORM;
	uint32_t *number = pctl_cpu_at(s, in->d);
	uint32_t *counts = s->case_counts + sw->first_count;

	memset(counts, 0, (size_t)sw->n_cases * 4);
	for (uint32_t i = s->lo; i < s->hi; i++) {
		if (!s->mask[i])
			continue;
		number[i] = case_of(s->code, sw, selector[uniform ? 0 : i]);
		counts[number[i]]++;
	}
	copy_mask(s, pctl_cpu_at(s, in->c), s->mask);
	clear_mask(s, pctl_cpu_at(s, in->e));
	clear_mask(s, s->mask);
	set_active(s, 0);
}

static const pctl_cpu_ins *enter_case(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const uint32_t n = s->case_counts[in->extra];

	if (s->n_active)
		join_mask(s, pctl_cpu_at(s, in->e), s->mask);
	if (n == 0) {
		clear_mask(s, s->mask);
		set_active(s, 0);
		return s->code->ins + in->jump;
	}
	s->job->k->mask_equal(0, s->width, s->mask, pctl_cpu_at(s, in->c), pctl_cpu_at(s, in->d),
			      pctl_cpu_at(s, in->a), NULL);
	set_active(s, n);
	return in + 1;
}

/* The active lanes go to mask `to` (0: they are done with the function). */
static void leave(pctl_cpu_batch *s, uint32_t to)
{
	if (to)
		join_mask(s, pctl_cpu_at(s, to), s->mask);
	clear_mask(s, s->mask);
	set_active(s, 0);
}

static void call(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	uint32_t *mask = pctl_cpu_at(s, s->code->function_mask[in->jump]);

	s->frames[s->n_frames++] = (pctl_cpu_frame){in + 1, s->mask, s->n_active, s->lo, s->hi, 0};
	copy_mask(s, mask, s->mask);
	s->mask = mask;
}

static const pctl_cpu_ins *end_function(pctl_cpu_batch *s)
{
	const pctl_cpu_frame *f;

	if (s->n_frames == 0)
		return NULL;
	f = &s->frames[--s->n_frames];
	s->mask = f->mask;
	s->n_active = f->n_active;
	s->lo = f->lo;
	s->hi = f->hi;
	return f->back;
}

static void blend(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const pctl_cpu_kernels *k = s->job->k;
	const uint32_t wide = in->flags & PCTL_CPU_WIDE;
	const uint32_t uniform = in->flags & PCTL_CPU_UNIFORM;
	pctl_cpu_kernel *move;

	if (s->n_active == s->n_lanes)
		move = uniform ? k->splat[wide] : k->copy[wide];
	else
		move = uniform ? k->blend_u[wide] : k->blend[wide];
	if (in->d != in->a)
		move(s->lo, s->hi, pctl_cpu_at(s, in->d), pctl_cpu_at(s, in->a), s->mask, NULL,
		     NULL);
}

static void math(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	static const uint32_t one = 1;
	const int uniform = in->flags & PCTL_CPU_UNIFORM;

	pctl_cpu_elementary(in->jump, in->extra, uniform ? &one : s->mask, uniform ? 0 : s->lo,
			    uniform ? 1 : s->hi, pctl_cpu_at(s, in->d), pctl_cpu_at(s, in->a),
			    pctl_cpu_at(s, in->b));
}

static void lookup(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const int uniform = in->flags & PCTL_CPU_UNIFORM;

	s->job->k->lookup[in->flags & PCTL_CPU_WIDE](uniform ? 0 : s->lo, uniform ? 1 : s->hi,
						     pctl_cpu_at(s, in->d), pctl_cpu_at(s, in->a),
						     s->code->words + in->jump, in->extra);
}

static pctl_status execute(pctl_cpu_batch *s)
{
	const pctl_cpu_code *c = s->code;
	const pctl_cpu_ins *in = c->ins + c->function_start[c->entry_function];

/* After an instruction that may leave no lane active. */
#define NEXT_OR_SKIP (s->n_active ? in + 1 : c->ins + in->jump)
	while (in) {
		switch (in->kind) {
		case PCTL_CPU_ELEM:
			in->kernel(s->lo, s->hi, pctl_cpu_at(s, in->d), pctl_cpu_at(s, in->a),
				   pctl_cpu_at(s, in->b), pctl_cpu_at(s, in->c),
				   pctl_cpu_at(s, in->e));
			in++;
			break;
		case PCTL_CPU_ELEM_U:
			in->kernel(0, 1, pctl_cpu_at(s, in->d), pctl_cpu_at(s, in->a),
				   pctl_cpu_at(s, in->b), pctl_cpu_at(s, in->c),
				   pctl_cpu_at(s, in->e));
			in++;
			break;
		case PCTL_CPU_MATH:
			math(s, in);
			in++;
			break;
		case PCTL_CPU_LOOKUP:
			lookup(s, in);
			in++;
			break;
		case PCTL_CPU_BLEND:
			blend(s, in);
			in++;
			break;
		case PCTL_CPU_COUNT:
			s->block_counts[in->jump] += s->n_active;
			in++;
			break;
		case PCTL_CPU_CLEAR:
			memset(pctl_cpu_at(s, in->d), 0, (size_t)in->jump * 64);
			in++;
			break;
		case PCTL_CPU_LENGTH:
			*(uint32_t *)pctl_cpu_at(s, in->d) = s->job->bounds[in->jump].length;
			in++;
			break;
		case PCTL_CPU_LOAD:
			pctl_cpu_batch_load(s, in);
			in++;
			break;
		case PCTL_CPU_STORE:
			pctl_cpu_batch_store(s, in);
			in++;
			break;
		case PCTL_CPU_ATOMIC:
			pctl_cpu_batch_atomic(s, in);
			in++;
			break;
		case PCTL_CPU_BARRIER:
			pctl_cpu_batch_barrier(s, in);
			in++;
			break;
		case PCTL_CPU_SUBGROUP:
			pctl_cpu_batch_subgroup(s, in);
			in++;
			break;
		case PCTL_CPU_TILE:
			pctl_cpu_batch_tile(s, in);
			in++;
			break;
		case PCTL_CPU_IF:
			split(s, in, pctl_cpu_at(s, in->c));
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_ELSE:
			enter_else(s, pctl_cpu_at(s, in->c));
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_END_IF:
			join_mask(s, s->mask, pctl_cpu_at(s, in->c));
			recount(s);
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_SWITCH:
			enter_switch(s, in);
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_CASE:
			in = enter_case(s, in);
			break;
		case PCTL_CPU_END_SWITCH:
			join_mask(s, s->mask, pctl_cpu_at(s, in->e));
			recount(s);
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_LOOP:
			clear_mask(s, pctl_cpu_at(s, in->c));
			clear_mask(s, pctl_cpu_at(s, in->e));
			in++;
			break;
		case PCTL_CPU_LOOP_TEST:
			split(s, in, s->ok);
			join_mask(s, pctl_cpu_at(s, in->c), s->ok);
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_CONTINUING:
			join_mask(s, s->mask, pctl_cpu_at(s, in->e));
			clear_mask(s, pctl_cpu_at(s, in->e));
			recount(s);
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_END_LOOP:
			if (s->n_active) {
				if (__atomic_load_n(s->job->cancel, __ATOMIC_RELAXED))
					return PCTL_E_CANCELLED;
				in = c->ins + in->extra;
				break;
			}
			copy_mask(s, s->mask, pctl_cpu_at(s, in->c));
			recount(s);
			in = NEXT_OR_SKIP;
			break;
		case PCTL_CPU_LEAVE:
			leave(s, in->c);
			in = c->ins + in->jump;
			break;
		case PCTL_CPU_CALL:
			call(s, in);
			in = c->ins + c->function_start[in->jump];
			break;
		case PCTL_CPU_END_FUNCTION:
			in = end_function(s);
			break;
		default:
			return PCTL_E_INTERNAL;
		}
	}
#undef NEXT_OR_SKIP
	return s->job->sanitizer && s->job->sanitizer->overflow ? PCTL_E_LIMIT : PCTL_OK;
}

/* What depends on which workgroups these are. */
static void fill_ids(pctl_cpu_batch *s)
{
	const pctl_cpu_code *c = s->code;
	const uint32_t *groups = s->job->groups;

	for (uint32_t k = 0; k < 3; k++) {
		const uint32_t global = c->special[PCTL_CPU_REG_GLOBAL_ID + k];
		const uint32_t group = c->special[PCTL_CPU_REG_GROUP_ID + k];
		const uint32_t count = c->special[PCTL_CPU_REG_N_GROUPS + k];
		const uint64_t below = k == 0	? 1
				       : k == 1 ? groups[0]
						: (uint64_t)groups[0] * groups[1];
		const uint32_t inner = k == 0	? 1
				       : k == 1 ? c->local_size[0]
						: c->local_size[0] * c->local_size[1];

		if (count)
			*(uint32_t *)pctl_cpu_at(s, count) = groups[k];
		if (group && c->groups_per_batch == 1)
			*(uint32_t *)pctl_cpu_at(s, group) =
				(uint32_t)(s->first_group / below % groups[k]);
		for (uint32_t base = 0; base < s->n_lanes && (global || group);
		     base += c->invocations) {
			const uint64_t g = s->first_group + base / c->invocations;
			const uint32_t id = (uint32_t)(g / below % groups[k]);

			for (uint32_t i = 0; i < c->invocations && group && c->groups_per_batch > 1;
			     i++)
				((uint32_t *)pctl_cpu_at(s, group))[base + i] = id;
			for (uint32_t i = 0; i < c->invocations && global; i++)
				((uint32_t *)pctl_cpu_at(s, global))[base + i] =
					id * c->local_size[k] + i / inner % c->local_size[k];
		}
	}
}

pctl_status pctl_cpu_batch_run(pctl_cpu_batch *s, pctl_cpu_job *job, uint64_t first_group,
			       uint32_t n_groups)
{
	const pctl_cpu_code *c = s->code;

	s->job = job;
	s->first_group = first_group;
	s->n_lanes = n_groups * c->invocations;
	s->width = (s->n_lanes + 15) & ~15u;
	s->n_frames = 0;
	fill_ids(s);
	if (c->private_reg)
		memset(pctl_cpu_at(s, c->private_reg), 0, (size_t)c->private_units * 8);
	if (c->workgroup_stride)
		memset(s->workgroup, 0, (size_t)c->workgroup_stride * n_groups);
	s->mask = pctl_cpu_at(s, c->function_mask[c->entry_function]);
	for (uint32_t i = 0; i < s->width; i++)
		s->mask[i] = i < s->n_lanes;
	set_active(s, s->n_lanes);
	return execute(s);
}
