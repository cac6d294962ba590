/* The sanitizer; see sanitizer.h. Kept small so that the rule of what races is in one place:
 * pctl_cpu_sanitizer_touch. */
#include "lanes/sanitizer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define INST_BITS 20
#define LOCAL_BITS 10
#define SERIAL_MAX ((1ull << 34) - 1)
#define FINDINGS_MAX 4096u

pctl_cpu_shadow *pctl_cpu_shadow_create(uint64_t n_bytes, uint32_t shift)
{
	pctl_cpu_shadow *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->shift = shift;
	s->n_cells = (n_bytes >> shift) + 1;
	s->cells = mmap(NULL, s->n_cells * sizeof(*s->cells), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s->cells == MAP_FAILED) {
		free(s);
		return NULL;
	}
	return s;
}

void pctl_cpu_shadow_destroy(pctl_cpu_shadow *s)
{
	if (!s)
		return;
	munmap(s->cells, s->n_cells * sizeof(*s->cells));
	free(s);
}

pctl_cpu_sanitizer *pctl_cpu_sanitizer_create(void)
{
	return calloc(1, sizeof(pctl_cpu_sanitizer));
}

void pctl_cpu_sanitizer_destroy(pctl_cpu_sanitizer *w)
{
	if (!w)
		return;
	pctl_cpu_shadow_destroy(w->workgroup_shadow);
	free(w->findings);
	free(w->group_starts);
	free(w);
}

int pctl_cpu_sanitizer_dispatch(pctl_cpu_sanitizer *w, const pctl_program *p, uint32_t dispatch,
				uint64_t workgroup_bytes, uint32_t shift)
{
	w->program = p;
	w->dispatch = dispatch;
	w->exceeded = 0;
	w->n_groups = 0;
	w->storage.first = w->storage.now + 1;
	/* Serials of an earlier dispatch must mean nothing in this one's memory. */
	pctl_cpu_shadow_destroy(w->workgroup_shadow);
	w->workgroup_shadow = NULL;
	w->workgroup = (pctl_cpu_clock){0, 0, 1};
	if (workgroup_bytes) {
		w->workgroup_shadow = pctl_cpu_shadow_create(workgroup_bytes, shift);
		return w->workgroup_shadow != NULL;
	}
	return 1;
}

static void tick(pctl_cpu_sanitizer *w, pctl_cpu_clock *c)
{
	if (c->now >= SERIAL_MAX)
		w->overflow = 1;
	else
		c->now++;
}

int pctl_cpu_sanitizer_group(pctl_cpu_sanitizer *w)
{
	if (w->n_groups == w->cap_groups) {
		const uint64_t cap = w->cap_groups ? w->cap_groups * 2 : 256;
		uint64_t *grown = realloc(w->group_starts, cap * sizeof(*grown));

		if (!grown)
			return 0;
		w->group_starts = grown;
		w->cap_groups = cap;
	}
	tick(w, &w->storage);
	tick(w, &w->workgroup);
	w->storage.group = w->storage.now;
	w->barriers = 0;
	/* Another group's workgroup memory is other memory. */
	w->workgroup.group = w->workgroup.first = w->workgroup.now;
	w->group_starts[w->n_groups++] = w->storage.now;
	return 1;
}

void pctl_cpu_sanitizer_barrier(pctl_cpu_sanitizer *w, uint32_t bits)
{
	w->barriers++;
	if (bits & PCTL_BARRIER_STORAGE)
		tick(w, &w->storage);
	if (bits & PCTL_BARRIER_WORKGROUP)
		tick(w, &w->workgroup);
}

static uint64_t serial_of(uint64_t access)
{
	return access >> (INST_BITS + LOCAL_BITS);
}

static uint32_t local_of(uint64_t access)
{
	return (uint32_t)(access >> INST_BITS) & ((1u << LOCAL_BITS) - 1);
}

/* Does a remembered access race with one of invocation `local` now, if their kinds can? */
static int races(const pctl_cpu_clock *c, uint64_t access, uint32_t local)
{
	const uint64_t serial = serial_of(access);

	if (access == 0 || serial < c->first)
		return 0;
	if (serial < c->group)
		return 1; /* another workgroup of this dispatch */
	return serial == c->now && local_of(access) != local;
}

/* Can a remembered access no longer race with anything of the running workgroup? */
static int is_stale(const pctl_cpu_clock *c, uint64_t access)
{
	const uint64_t serial = serial_of(access);

	return access == 0 || serial < c->first || (serial >= c->group && serial != c->now);
}

/* Keep up to two accesses by different invocations, any of which may yet race. */
static void remember(const pctl_cpu_clock *c, uint64_t *two, uint64_t access)
{
	for (int i = 0; i < 2; i++) {
		if (is_stale(c, two[i]) ||
		    (serial_of(two[i]) == c->now && local_of(two[i]) == local_of(access))) {
			two[i] = access;
			return;
		}
	}
}

static uint64_t first_race(const pctl_cpu_clock *c, const uint64_t *two, uint32_t local)
{
	for (int i = 0; i < 2; i++)
		if (races(c, two[i], local))
			return two[i];
	return 0;
}

uint64_t pctl_cpu_sanitizer_touch(pctl_cpu_sanitizer *w, const pctl_cpu_clock *c,
				  pctl_cpu_cell *cell, uint32_t kind, uint32_t local, uint32_t inst)
{
	const uint64_t access = (c->now << (INST_BITS + LOCAL_BITS)) |
				((uint64_t)local << INST_BITS) | (inst & ((1u << INST_BITS) - 1));
	uint64_t other = races(c, cell->write, local) ? cell->write : 0;

	(void)w;
	if (!other && kind != PCTL_CPU_TOUCH_ATOMIC)
		other = first_race(c, cell->atomics, local);
	if (!other && kind != PCTL_CPU_READ)
		other = first_race(c, cell->reads, local);
	if (kind == PCTL_CPU_WRITE)
		cell->write = access;
	else
		remember(c, kind == PCTL_CPU_READ ? cell->reads : cell->atomics, access);
	return other;
}

void pctl_cpu_sanitizer_unpack(const pctl_cpu_sanitizer *w, uint64_t access, uint64_t *group,
			       uint32_t *local, uint32_t *inst)
{
	const uint64_t serial = serial_of(access);
	uint64_t lo = 0, hi = w->n_groups;

	while (hi - lo > 1) {
		const uint64_t mid = lo + (hi - lo) / 2;

		if (w->group_starts[mid] <= serial)
			lo = mid;
		else
			hi = mid;
	}
	*group = lo;
	*local = local_of(access);
	*inst = (uint32_t)access & ((1u << INST_BITS) - 1);
}

void pctl_cpu_sanitizer_add(pctl_cpu_sanitizer *w, const pctl_finding *f)
{
	for (uint32_t i = 0; i < w->n_findings; i++) {
		pctl_finding *g = &w->findings[i];

		if (g->kind == f->kind && g->dispatch == f->dispatch &&
		    g->function == f->function && g->inst == f->inst &&
		    g->other_function == f->other_function && g->other_inst == f->other_inst) {
			g->count += f->count;
			return;
		}
	}
	if (w->n_findings == w->cap_findings) {
		const uint32_t cap = w->cap_findings ? w->cap_findings * 2 : 64;
		pctl_finding *grown;

		if (cap > FINDINGS_MAX)
			return;
		grown = realloc(w->findings, cap * sizeof(*grown));
		if (!grown)
			return;
		w->findings = grown;
		w->cap_findings = cap;
	}
	w->findings[w->n_findings++] = *f;
}

/* Barriers are passed by a workgroup as one, so what comes later in the same interval alone can be before it. */
void pctl_cpu_sanitizer_exceeded(pctl_cpu_sanitizer *w, const pctl_finding *f, uint32_t local)
{
	const uint32_t n = w->n_findings;

	if (!w->exceeded) {
		pctl_cpu_sanitizer_add(w, f);
		w->exceeded = w->n_findings > n;
		w->exceeded_finding = n;
		w->exceeded_local = local;
	} else if (w->findings[w->exceeded_finding].address == f->address &&
		   w->findings[w->exceeded_finding].count == f->count &&
		   local < w->exceeded_local) {
		w->findings[w->exceeded_finding] = *f;
		w->exceeded_local = local;
	}
}
