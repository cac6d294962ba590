/* Running prepared code: memory. Each level's index is checked against that level's length; what
 * misses reads zero and writes nothing. Nothing here trusts a proof made elsewhere. */
#include "lanes/batch.h"

#include <string.h>

/* How the active lanes address an access. */
typedef struct access {
	const pctl_cpu_mem *m;
	uint8_t *base;	/* of the variable */
	uint64_t off;	/* same_place: the one offset */
	uint32_t n_ok;	/* active lanes that are in bounds; their lanes are 1 in s->ok unless
			   same_place */
	int same_place; /* all active lanes hit the same place, or all miss */
	int lane_memory;
} access;

static uint32_t step_length(const pctl_cpu_batch *s, const pctl_cpu_mem *m,
			    const pctl_cpu_step *step)
{
	uint32_t length = step->length;

	if (step->runtime) {
		length = s->job->bounds[m->root].length;
		if (step->is_signed && length > 0x80000000u)
			length = 0x80000000u;
	}
	return length;
}

/* The places of all lanes when they may differ. */
static void place_lanes(pctl_cpu_batch *s, access *a, uint64_t off)
{
	const pctl_cpu_mem *m = a->m;
	const pctl_cpu_kernels *k = s->job->k;
	const int groups = m->space == PCTL_SPACE_WORKGROUP && s->code->groups_per_batch > 1;

	memcpy(s->ok + s->lo, s->mask + s->lo, (size_t)(s->hi - s->lo) * 4);
	for (uint32_t i = s->lo; i < s->hi; i++)
		s->off[i] = off + (groups ? s->group_base[i] : 0);
	a->n_ok = s->n_active;
	for (uint32_t i = 0; i < m->n_steps; i++) {
		const pctl_cpu_step *step = &s->code->steps[m->first_step + i];

		if (!step->uniform)
			a->n_ok = k->step(s->lo, s->hi, s->off, s->ok, pctl_cpu_at(s, step->index),
					  step_length(s, m, step), step->stride);
	}
}

/* The bytes bound may end before the variable's fixed part does. */
static void check_end(pctl_cpu_batch *s, access *a, uint64_t n_bytes)
{
	if (a->same_place) {
		if (n_bytes < a->m->extent || a->off > n_bytes - a->m->extent)
			a->n_ok = 0;
		return;
	}
	a->n_ok = 0;
	for (uint32_t i = s->lo; i < s->hi; i++) {
		s->ok[i] &=
			(uint32_t)(n_bytes >= a->m->extent && s->off[i] <= n_bytes - a->m->extent);
		a->n_ok += s->ok[i];
	}
}

static void resolve(pctl_cpu_batch *s, const pctl_cpu_ins *in, access *a)
{
	const pctl_cpu_mem *m = &s->code->mems[in->extra];
	uint64_t off = m->offset;
	int inside = 1;

	*a = (access){.m = m, .same_place = 1, .n_ok = s->n_active};
	switch (m->space) {
	case PCTL_SPACE_WORKGROUP:
		a->base = s->workgroup + m->base;
		a->same_place = s->code->groups_per_batch == 1;
		break;
	case PCTL_SPACE_UNIFORM:
	case PCTL_SPACE_STORAGE:
		a->base = s->job->bounds[m->root].base;
		break;
	default:
		a->base = pctl_cpu_at(s, m->base);
		a->lane_memory = 1;
		break;
	}
	for (uint32_t i = 0; i < m->n_steps; i++) {
		const pctl_cpu_step *step = &s->code->steps[m->first_step + i];
		const uint32_t *index = pctl_cpu_at(s, step->index);

		if (!step->uniform) {
			a->same_place = 0;
		} else if (index[0] < step_length(s, m, step)) {
			off += (uint64_t)index[0] * step->stride;
		} else {
			inside = 0;
		}
	}
	if (!inside) {
		a->same_place = 1;
		a->n_ok = 0;
	} else if (a->same_place) {
		a->off = off;
	} else {
		place_lanes(s, a, off);
	}
	if (m->space >= PCTL_SPACE_UNIFORM && s->job->bounds[m->root].is_short)
		check_end(s, a, s->job->bounds[m->root].n_bytes);
	if (a->n_ok != s->n_active && s->code->flags)
		pctl_cpu_batch_missed(s, in, m);
}

/* Lane memory: the word column `off` words into the variable. */
static uint8_t *column(const pctl_cpu_batch *s, const access *a, uint64_t off)
{
	return a->base + off * s->code->lanes * 4;
}

static void zero_leaf(pctl_cpu_batch *s, const pctl_cpu_leaf *leaf)
{
	const size_t size = leaf->wide ? 8 : 4;
	uint8_t *d = pctl_cpu_at(s, leaf->reg);

	if (leaf->uniform)
		memset(d, 0, size);
	else
		memset(d + s->lo * size, 0, (s->hi - s->lo) * size);
}

static void load_same(pctl_cpu_batch *s, const access *a, const pctl_cpu_leaf *leaf)
{
	const uint8_t *from = a->base + a->off + leaf->off;
	const uint32_t lo = leaf->uniform ? 0 : s->lo, hi = leaf->uniform ? 1 : s->hi;
	const pctl_cpu_kernels *k = s->job->k;

	if (a->lane_memory)
		k->copy[leaf->wide](lo, hi, pctl_cpu_at(s, leaf->reg),
				    column(s, a, a->off + leaf->off), NULL, NULL, NULL);
	else
		k->splat[leaf->mem](lo, hi, pctl_cpu_at(s, leaf->reg), from, NULL, NULL, NULL);
}

static void load_lane_memory(pctl_cpu_batch *s, const access *a, const pctl_cpu_leaf *leaf)
{
	void *d = pctl_cpu_at(s, leaf->reg);

	for (uint32_t i = s->lo; i < s->hi; i++) {
		const void *from = s->ok[i] ? column(s, a, s->off[i] + leaf->off) : NULL;

		if (leaf->wide)
			((uint64_t *)d)[i] = from ? ((const uint64_t *)from)[i] : 0;
		else
			((uint32_t *)d)[i] = from ? ((const uint32_t *)from)[i] : 0;
	}
}

/* Register d of lane i becomes the element in byte memory at `from`, or zero. */
static inline void load_one(void *d, uint32_t i, const void *from, uint32_t mem)
{
	if (mem == PCTL_CPU_MEM_8)
		((uint64_t *)d)[i] = from ? *(const uint64_t *)from : 0;
	else if (mem == PCTL_CPU_MEM_4)
		((uint32_t *)d)[i] = from ? *(const uint32_t *)from : 0;
	else
		((uint32_t *)d)[i] = from ? *(const uint16_t *)from : 0;
}

static inline void store_one(void *to, const void *d, uint32_t i, uint32_t mem)
{
	if (mem == PCTL_CPU_MEM_8)
		*(uint64_t *)to = ((const uint64_t *)d)[i];
	else if (mem == PCTL_CPU_MEM_4)
		*(uint32_t *)to = ((const uint32_t *)d)[i];
	else
		*(uint16_t *)to = (uint16_t)((const uint32_t *)d)[i];
}

static void load_lanes(pctl_cpu_batch *s, const access *a, const pctl_cpu_leaf *leaf)
{
	uint8_t *base = a->base + leaf->off;
	void *d = pctl_cpu_at(s, leaf->reg);

	if (a->lane_memory) {
		load_lane_memory(s, a, leaf);
	} else if (a->n_ok == s->hi - s->lo) {
		s->job->k->gather[leaf->mem](s->lo, s->hi, d, base, s->off, 0);
	} else {
		for (uint32_t i = s->lo; i < s->hi; i++)
			load_one(d, i, s->ok[i] ? base + s->off[i] : NULL, leaf->mem);
	}
}

/* The common access: one index that differs by lane, into byte memory, nobody watching or counting.
 */
typedef struct plain {
	uint8_t *base; /* of the place for index 0 */
	const uint32_t *index;
	uint32_t length, stride;
	uint32_t hi;
	uint32_t all;  /* every lane of [lo, hi) is active and inside */
	uint32_t line; /* and the indices go up by one */
} plain;

static int is_plain(pctl_cpu_batch *s, const pctl_cpu_mem *m, plain *p)
{
	const pctl_cpu_step *step = m->n_steps == 1 ? &s->code->steps[m->first_step] : NULL;
	uint32_t bent;

	if (!step || step->uniform || s->code->flags)
		return 0;
	if (m->space == PCTL_SPACE_WORKGROUP && s->code->groups_per_batch == 1)
		p->base = s->workgroup + m->base + m->offset;
	else if (m->space >= PCTL_SPACE_UNIFORM && !s->job->bounds[m->root].is_short)
		p->base = s->job->bounds[m->root].base + m->offset;
	else
		return 0;
	p->index = pctl_cpu_at(s, step->index);
	p->length = step_length(s, m, step);
	p->stride = step->stride;
	p->hi = s->hi < s->n_lanes ? s->hi : s->n_lanes; /* the padding has no say */
	p->all =
		s->job->k->scan(s->lo, p->hi, s->mask, p->index, p->length, &bent) == p->hi - s->lo;
	p->line = p->all && bent == 0;
	return 1;
}

static void load_plain(pctl_cpu_batch *s, const plain *p, const pctl_cpu_leaf *leaf)
{
	const uint32_t size = pctl_cpu_mem_bytes(leaf->mem);
	const uint8_t *base = p->base + leaf->off;
	uint8_t *d = pctl_cpu_at(s, leaf->reg);

	if (p->line && p->stride == size && leaf->mem != PCTL_CPU_MEM_2) {
		memcpy(d + (size_t)s->lo * size, base + (uint64_t)p->index[s->lo] * size,
		       (size_t)(p->hi - s->lo) * size);
	} else if (p->all) {
		s->job->k->fetch[leaf->mem](s->lo, p->hi, d, base, p->index, p->stride);
	} else {
		for (uint32_t i = s->lo; i < p->hi; i++) {
			const int ok = s->mask[i] && p->index[i] < p->length;

			load_one(d, i, ok ? base + (uint64_t)p->index[i] * p->stride : NULL,
				 leaf->mem);
		}
	}
}

static void store_plain(pctl_cpu_batch *s, const plain *p, const pctl_cpu_leaf *leaf)
{
	const uint32_t size = pctl_cpu_mem_bytes(leaf->mem);
	uint8_t *base = p->base + leaf->off;
	const uint8_t *from = pctl_cpu_at(s, leaf->reg);

	if (p->line && p->stride == size && !leaf->uniform && leaf->mem != PCTL_CPU_MEM_2) {
		memcpy(base + (uint64_t)p->index[s->lo] * size, from + (size_t)s->lo * size,
		       (size_t)(p->hi - s->lo) * size);
	} else if (p->all && !leaf->uniform) {
		s->job->k->place[leaf->mem](s->lo, p->hi, from, base, p->index, p->stride);
	} else {
		for (uint32_t i = s->lo; i < p->hi; i++) {
			void *to = base + (uint64_t)p->index[i] * p->stride;
			const uint32_t k = leaf->uniform ? 0 : i;

			if (!s->mask[i] || p->index[i] >= p->length)
				continue;
			store_one(to, from, k, leaf->mem);
		}
	}
}

static void make_truth(pctl_cpu_batch *s, const pctl_cpu_leaf *leaf)
{
	uint32_t *d = pctl_cpu_at(s, leaf->reg);

	/* A bool in memory is true when its word is not zero. */
	for (uint32_t i = leaf->uniform ? 0 : s->lo; i < (leaf->uniform ? 1 : s->hi); i++)
		d[i] = d[i] != 0;
}

void pctl_cpu_batch_load(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const pctl_cpu_mem *m = &s->code->mems[in->extra];
	const pctl_cpu_leaf *leaves = &s->code->leaves[m->first_leaf];
	access a = {0};
	plain p;

	if (is_plain(s, m, &p)) {
		for (uint32_t i = 0; i < m->n_leaves; i++)
			load_plain(s, &p, &leaves[i]);
	} else {
		resolve(s, in, &a);
		for (uint32_t i = 0; i < m->n_leaves; i++) {
			if (a.n_ok == 0)
				zero_leaf(s, &leaves[i]);
			else if (a.same_place)
				load_same(s, &a, &leaves[i]);
			else
				load_lanes(s, &a, &leaves[i]);
		}
	}
	for (uint32_t i = 0; i < m->n_leaves; i++)
		if (leaves[i].is_bool)
			make_truth(s, &leaves[i]);
	if (s->job->sanitizer && a.n_ok && m->sanitized) {
		if (a.same_place)
			place_lanes(s, &a, a.off);
		pctl_cpu_batch_touched(s, in, m, PCTL_CPU_READ);
	}
}

static void store_leaf(pctl_cpu_batch *s, const access *a, const pctl_cpu_leaf *leaf)
{
	const uint32_t *mask = a->same_place ? s->mask : s->ok;
	const void *from = pctl_cpu_at(s, leaf->reg);

	for (uint32_t i = s->lo; i < s->hi; i++) {
		const uint64_t off = (a->same_place ? a->off : s->off[i]) + leaf->off;
		const uint32_t k = leaf->uniform ? 0 : i;
		uint8_t *to;

		if (!mask[i])
			continue;
		to = a->lane_memory ? column(s, a, off) + (size_t)i * (leaf->wide ? 8 : 4)
				    : a->base + off;
		store_one(to, from, k, a->lane_memory ? leaf->wide : leaf->mem);
	}
}

void pctl_cpu_batch_store(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const pctl_cpu_mem *m = &s->code->mems[in->extra];
	access a;
	plain p;

	if (is_plain(s, m, &p)) {
		for (uint32_t i = 0; i < m->n_leaves; i++)
			store_plain(s, &p, &s->code->leaves[m->first_leaf + i]);
		return;
	}
	resolve(s, in, &a);
	if (a.n_ok == 0)
		return;
	for (uint32_t i = 0; i < a.m->n_leaves; i++)
		store_leaf(s, &a, &s->code->leaves[a.m->first_leaf + i]);
	if (s->job->sanitizer && a.m->sanitized) {
		if (a.same_place)
			place_lanes(s, &a, a.off);
		pctl_cpu_batch_touched(s, in, a.m, PCTL_CPU_WRITE);
	}
}

static uint32_t new_value(uint16_t op, int is_signed, uint32_t old, uint32_t x)
{
	const int less = is_signed ? (int32_t)x < (int32_t)old : x < old;

	switch (op) {
	case PCTL_OP_ATOMIC_ADD:
		return old + x;
	case PCTL_OP_ATOMIC_SUB:
		return old - x;
	case PCTL_OP_ATOMIC_MIN:
		return less ? x : old;
	case PCTL_OP_ATOMIC_MAX:
		return less ? old : x;
	case PCTL_OP_ATOMIC_AND:
		return old & x;
	case PCTL_OP_ATOMIC_OR:
		return old | x;
	case PCTL_OP_ATOMIC_XOR:
		return old ^ x;
	default: /* ATOMIC_STORE, ATOMIC_EXCHANGE */
		return x;
	}
}

static uint32_t atomic_one(const pctl_cpu_mem *m, uint32_t *at, uint32_t x, uint32_t y)
{
	uint32_t old = __atomic_load_n(at, __ATOMIC_RELAXED);

	switch (m->op) {
	case PCTL_OP_ATOMIC_LOAD:
		return old;
	case PCTL_OP_ATOMIC_ADD:
		return __atomic_fetch_add(at, x, __ATOMIC_RELAXED);
	case PCTL_OP_ATOMIC_CAS:
		old = x;
		__atomic_compare_exchange_n(at, &old, y, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		return old;
	default:
		while (!__atomic_compare_exchange_n(at, &old,
						    new_value(m->op, m->is_signed, old, x), 0,
						    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			;
		return old;
	}
}

void pctl_cpu_batch_atomic(pctl_cpu_batch *s, const pctl_cpu_ins *in)
{
	const uint32_t *x = pctl_cpu_at(s, in->a), *y = pctl_cpu_at(s, in->b);
	uint32_t *d = in->d ? pctl_cpu_at(s, in->d) : NULL;
	access a;

	resolve(s, in, &a);
	for (uint32_t i = s->lo; i < s->hi; i++) {
		const uint64_t off = a.same_place ? a.off : s->off[i];
		uint32_t old = 0;

		if (a.n_ok && (a.same_place ? s->mask[i] : s->ok[i]))
			old = atomic_one(a.m, (uint32_t *)(void *)(a.base + off), in->a ? x[i] : 0,
					 in->b ? y[i] : 0);
		if (d)
			d[i] = old;
	}
	if (s->job->sanitizer && a.n_ok) {
		if (a.same_place)
			place_lanes(s, &a, a.off);
		pctl_cpu_batch_touched(s, in, a.m, PCTL_CPU_TOUCH_ATOMIC);
	}
}
