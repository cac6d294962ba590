/* What of a resident run's constant inputs stays on the device, where not all of it may. Every step uses all of them in one order, so whatever
 * stays saves its bytes in every step, and no rule of eviction does better than a fixed choice (Belady's, for a cycle): what is read in
 * two places of a step before all else, then the first in the order of the step. The rest shares one slot; of the sizes that a
 * slot may have, the one with the fewest bytes a step is taken, then with the fewest submissions. */
#include <inttypes.h>
#include <stdlib.h>

#include "foundation/base/num.h"
#include "runtime/exec/resident_private.h"

#define SIZES_MOST 256u
#define FAR_APART 64u /* commands between two uses for which an input would come twice */

/*
 * A constant input of those that share.
 *
 * first    its first use in the first that uses it, UINT32_MAX: no command of a step does
 * pinned   a job reads it while the run is opened
 * gone     it is streamed already: what was recorded without it stays so
 * stays    as is being tried
 */
struct weight {
	pctl_value *value;
	uint64_t n_bytes;
	uint32_t first, last, is_spread, pinned, gone, stays, order;
};

struct budget {
	pctl_resident *r;
	struct weight *all;
	struct weight **sorted;
	uint32_t n, n_sizes;
	uint64_t sizes[SIZES_MOST];
	uint32_t **weight_of; /* of each maker, by span */
	uint64_t fixed, align;
};

/* A size of the slot, tried: what it takes at least, what stays, and what a step costs. */
struct trial {
	uint64_t slot, least, stays, bytes;
	uint32_t segments, fits;
};

static pctl_resident *maker(const struct budget *b, uint32_t i)
{
	return b->r->family->makers[i];
}

static int is_open(const struct budget *b, uint32_t i)
{
	return !maker(b, i)->is_closed;
}

/* ---- what there is ------------------------------------------------------------------------ */

static struct weight *add_weight(struct budget *b, const pctl_resident *m, uint32_t span)
{
	pctl_value *v = m->run.inputs[m->spans[span].number];
	struct weight *w = b->all;

	while (w < b->all + b->n && w->value != v)
		w++;
	if (w == b->all + b->n)
		*w = (struct weight){.value = v,
				     .n_bytes = m->spans[span].n_bytes,
				     .first = UINT32_MAX,
				     .order = b->n++};
	w->gone |= m != b->r && m->spans[span].is_streamed;
	return w;
}

static void use(const struct budget *b, const pctl_resident *m, const uint32_t *weight_of)
{
	for (uint32_t i = 0; m == b->r && i < m->n_once; i++)
		for (uint32_t k = 0; k < m->once[i].n_ranges; k++)
			if (m->spans[m->once[i].ranges[k].span].kind == PCTL_SPAN_INPUT)
				b->all[weight_of[m->once[i].ranges[k].span]].pinned = 1;
	for (uint32_t i = 0; i < m->n_commands; i++)
		for (uint32_t k = 0; k < m->commands[i].n_ranges; k++) {
			const uint32_t span = m->commands[i].ranges[k].span;
			struct weight *w;

			if (m->spans[span].kind != PCTL_SPAN_INPUT)
				continue;
			w = &b->all[weight_of[span]];
			w->is_spread |= w->first != UINT32_MAX && i > w->last + FAR_APART;
			if (w->first == UINT32_MAX || i < w->first)
				w->first = i;
			w->last = i;
		}
}

static pctl_status collect(struct budget *b)
{
	const pctl_resident_family *f = b->r->family;
	uint64_t n = 0;

	for (uint32_t i = 0; i < f->n_makers; i++)
		n += f->makers[i]->n_spans;
	b->all = calloc(n + 1, sizeof(*b->all));
	b->sorted = calloc(n + 1, sizeof(struct weight *));
	b->weight_of = calloc(f->n_makers + 1u, sizeof(uint32_t *));
	if (b->all == NULL || b->sorted == NULL || b->weight_of == NULL)
		return pctl_no_memory(b->r->call, "a resident run");
	for (uint32_t i = 0; i < f->n_makers; i++) {
		pctl_resident *m = maker(b, i);

		b->weight_of[i] = calloc(m->n_spans + 1u, sizeof(uint32_t));
		if (b->weight_of[i] == NULL)
			return pctl_no_memory(b->r->call, "a resident run");
		for (uint32_t k = 0; k < m->n_spans; k++) {
			const uint32_t before = b->n;

			if (m->spans[k].kind != PCTL_SPAN_INPUT)
				continue;
			b->weight_of[i][k] = (uint32_t)(add_weight(b, m, k) - b->all);
			m->spans[k].is_own = b->n > before;
		}
		if (is_open(b, i))
			use(b, m, b->weight_of[i]);
	}
	return PCTL_OK;
}

static int first_to_stay(const void *x, const void *y)
{
	const struct weight *a = *(struct weight *const *)x, *b = *(struct weight *const *)y;

	if (a->is_spread != b->is_spread)
		return a->is_spread ? -1 : 1;
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void add_size(struct budget *b, uint64_t n)
{
	const uint64_t most = pctl_session_caps(b->r->s)->max_buffer_bytes;

	if (n == 0 || b->n_sizes == SIZES_MOST || (most != 0 && n > most))
		return;
	for (uint32_t i = 0; i < b->n_sizes; i++)
		if (b->sizes[i] == n)
			return;
	b->sizes[b->n_sizes++] = n;
}

/* ---- trying a size ------------------------------------------------------------------------ */

static void mark(const struct budget *b)
{
	for (uint32_t i = 0; i < b->r->family->n_makers; i++) {
		pctl_resident *m = maker(b, i);

		for (uint32_t k = 0; k < m->n_spans; k++)
			if (m->spans[k].kind == PCTL_SPAN_INPUT)
				m->spans[k].is_streamed = !b->all[b->weight_of[i][k]].stays;
	}
}

/* What one command reads lies in the slot together: what does not go into it stays. */
static int shrink(const struct budget *b, uint32_t number, const pctl_resident_command *c,
		  uint64_t slot)
{
	pctl_resident *m = maker(b, number);
	uint64_t n = pctl_resident_slot_of(m, c);

	for (uint32_t k = 0; n > slot && k < c->n_ranges; k++) {
		pctl_resident_span *s = &m->spans[c->ranges[k].span];
		struct weight *w;

		if (!s->is_streamed)
			continue;
		w = &b->all[b->weight_of[number][c->ranges[k].span]];
		if (w->gone)
			continue;
		w->stays = 1;
		mark(b);
		n = pctl_resident_slot_of(m, c);
	}
	return n <= slot;
}

static uint64_t staying(const struct budget *b)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->all[i].stays)
			(void)pctl_num_add(sum, b->all[i].n_bytes, &sum);
	return sum;
}

static pctl_status try_size(const struct budget *b, uint64_t slot, uint64_t most, struct trial *t)
{
	uint64_t left;
	int goes = 1;
	pctl_status status = PCTL_OK;

	*t = (struct trial){.slot = slot};
	for (uint32_t i = 0; i < b->n; i++)
		b->all[i].stays = b->all[i].pinned;
	mark(b);
	for (uint32_t i = 0; goes && i < b->r->family->n_makers; i++)
		for (uint32_t k = 0; goes && is_open(b, i) && k < maker(b, i)->n_commands; k++)
			goes = shrink(b, i, &maker(b, i)->commands[k], slot);
	t->least = UINT64_MAX;
	if (!goes || !pctl_num_add(staying(b), slot, &t->least) ||
	    !pctl_num_add(t->least, b->fixed, &t->least) || t->least > most)
		return PCTL_OK;
	left = most - t->least;
	for (uint32_t i = 0; i < b->n; i++) {
		struct weight *w = b->sorted[i];

		if (w->stays || w->gone || w->first == UINT32_MAX || w->n_bytes > left)
			continue;
		w->stays = 1;
		left -= w->n_bytes;
	}
	mark(b);
	t->stays = staying(b);
	t->fits = 1;
	for (uint32_t i = 0; status == PCTL_OK && i < b->r->family->n_makers; i++) {
		uint64_t bytes = 0;
		uint32_t segments = 0;

		if (!is_open(b, i))
			continue;
		status = pctl_resident_count_segments(maker(b, i), slot, &bytes, &segments);
		(void)pctl_num_add(t->bytes, bytes, &t->bytes);
		t->segments += segments;
	}
	return status;
}

static int is_better(const struct trial *a, const struct trial *b)
{
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes;
	return a->segments != b->segments ? a->segments < b->segments : a->slot < b->slot;
}

/* The best size, tried last; else the least budget with which there is one. */
static pctl_status choose(struct budget *b, uint64_t most, struct trial *best, uint64_t *least)
{
	const uint64_t room = most > b->fixed ? most - b->fixed : 0;
	struct trial t;
	pctl_status status = PCTL_OK;

	*best = (struct trial){0};
	*least = UINT64_MAX;
	for (uint32_t i = 0; i < b->n; i++)
		add_size(b, pctl_num_align(b->all[i].n_bytes, b->align));
	for (uint32_t i = 0; i < b->r->family->n_makers; i++) {
		for (uint32_t k = 0; k < maker(b, i)->n_spans; k++)
			maker(b, i)->spans[k].is_streamed =
				maker(b, i)->spans[k].kind == PCTL_SPAN_INPUT;
		for (uint32_t k = 0; is_open(b, i) && k < maker(b, i)->n_commands; k++)
			add_size(b, pctl_resident_slot_of(maker(b, i), &maker(b, i)->commands[k]));
	}
	for (uint32_t k = 1; k < 8; k++)
		add_size(b, pctl_num_align(room >> k, b->align));
	for (uint32_t i = 0; status == PCTL_OK && i < b->n_sizes; i++) {
		status = try_size(b, b->sizes[i], most, &t);
		*least = t.least < *least ? t.least : *least;
		if (t.fits && (!best->fits || is_better(&t, best)))
			*best = t;
	}
	/* Nothing that could be streamed. */
	if (*least == UINT64_MAX)
		(void)pctl_num_add(staying(b), b->fixed, least);
	return status == PCTL_OK && best->fits ? try_size(b, best->slot, most, &t) : status;
}

/* ---- what follows ------------------------------------------------------------------------- */

static void leave_session(pctl_value *v, const pctl_resident *r)
{
	for (uint32_t i = 0; i < v->n_at; i++) {
		if (v->at[i].session != r->s)
			continue;
		r->t->buffer_destroy(r->dev, v->at[i].buffer);
		v->at[i] = v->at[--v->n_at];
		return;
	}
}

/* Those that are there already are recorded again, with what is left to them. */
static pctl_status record_others(struct budget *b, uint64_t slot)
{
	pctl_resident_family *f = b->r->family;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < f->n_makers; i++) {
		pctl_resident *m = maker(b, i);
		const pctl_call *before = m->call;

		if (m == b->r || !is_open(b, i))
			continue;
		m->call = b->r->call;
		status = pctl_resident_cut(m, slot);
		if (status == PCTL_OK)
			status = pctl_resident_hold(m);
		if (status == PCTL_OK)
			status = pctl_resident_record(m);
		m->call = before;
	}
	return status;
}

static pctl_status evict(struct budget *b, const struct trial *t)
{
	pctl_resident_family *f = b->r->family;
	pctl_status status;

	for (uint32_t i = 0; i < f->n_makers; i++)
		if (maker(b, i) != b->r && is_open(b, i))
			pctl_resident_drop_lists(maker(b, i));
	for (uint32_t i = 0; i < b->n; i++)
		if (!b->all[i].stays)
			leave_session(b->all[i].value, b->r);
	if (f->slot != NULL)
		b->r->t->buffer_destroy(b->r->dev, f->slot);
	f->slot = NULL;
	f->streams = 1;
	f->weight_bytes = t->stays;
	f->slot_bytes = t->slot;
	status = pctl_resident_create(b->r, t->slot, &f->slot);
	if (status == PCTL_OK)
		status = record_others(b, t->slot);
	if (status == PCTL_OK)
		status = pctl_resident_cut(b->r, t->slot);
	if (status == PCTL_OK)
		status = pctl_resident_hold(b->r);
	/* Others have no list to submit. */
	f->lost |= status != PCTL_OK;
	return status;
}

static void restore(const struct budget *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		b->all[i].stays = !b->all[i].gone;
	mark(b);
}

static void tell(const struct budget *b, const struct trial *t, uint64_t need)
{
	if (b->r->family->streams || b->r->family->is_declared)
		return;
	pctl_warn_at(b->r->call, PC5254_RESIDENT_STREAMS, NULL,
		     "--memory-budget says how much may lie there",
		     "%s: the resident run of \"%s\" needs %" PRIu64
		     " bytes of device memory, there are %" PRIu64 ": %" PRIu64
		     " of its constant inputs stay there, %" PRIu64
		     " come to it in each step, in %" PRIu32 " submissions",
		     pctl_session_name(b->r->s), b->r->run.graph->pipeline->name, need,
		     b->r->family->budget_bytes, t->stays, t->bytes, t->segments);
}

static pctl_status refuse(const pctl_resident *r, uint64_t need, uint64_t least)
{
	const char *name = r->run.graph->pipeline->name;
	pctl_status status = pctl_policy_memory_allowed(r->o.policy, least, name, r->call);

	if (status != PCTL_OK)
		return status;
	return pctl_refuse(r->call, PC5204_MEMORY,
			   "%s: the resident run of \"%s\" needs %" PRIu64
			   " bytes of device memory, with those that it shares, there are %" PRIu64
			   "; the least budget, with constant inputs that come to the device in "
			   "each step, is %" PRIu64 " bytes",
			   pctl_session_name(r->s), name, need, r->family->budget_bytes, least);
}

/* What may lie there: what was asked for, the policy's, and of a device's memory what is left for its driver, and for kernels. */
static void find_budget(pctl_resident *r, uint64_t memory_bytes)
{
	const uint64_t has = pctl_session_caps(r->s)->memory_bytes;
	pctl_resident_family *f = r->family;

	if (r->number != 0)
		return;
	f->is_declared = memory_bytes != 0;
	f->budget_bytes = memory_bytes != 0 && (has == 0 || memory_bytes < has) ? memory_bytes
										: has - has / 32;
	f->budget_bytes = pctl_policy_least(f->budget_bytes, r->o.policy->memory_bytes);
}

static void drop(struct budget *b)
{
	for (uint32_t i = 0; b->weight_of != NULL && i < b->r->family->n_makers; i++)
		free(b->weight_of[i]);
	free(b->weight_of);
	free(b->sorted);
	free(b->all);
}

static pctl_status fit(struct budget *b)
{
	pctl_resident_family *f = b->r->family;
	uint64_t need = 0, least = 0;
	struct trial best;
	pctl_status status;

	for (uint32_t i = 0; i < b->n; i++) {
		b->sorted[i] = &b->all[i];
		(void)pctl_num_add(need, b->all[i].n_bytes, &need);
	}
	if (!pctl_num_add(f->total_bytes, b->r->own_bytes, &b->fixed) ||
	    !pctl_num_add(need, b->fixed, &need))
		return refuse(b->r, UINT64_MAX, UINT64_MAX);
	if (!f->streams && (f->budget_bytes == 0 || need <= f->budget_bytes)) {
		f->weight_bytes = need - b->fixed;
		return pctl_resident_cut(b->r, 0);
	}
	if (b->n != 0)
		qsort(b->sorted, b->n, sizeof(struct weight *), first_to_stay);
	status = choose(b, f->budget_bytes == 0 ? UINT64_MAX : f->budget_bytes, &best, &least);
	if (status == PCTL_OK && !best.fits)
		status = refuse(b->r, need, least);
	if (status != PCTL_OK) {
		restore(b);
		return status;
	}
	tell(b, &best, need);
	return evict(b, &best);
}

pctl_status pctl_resident_fit(pctl_resident *r, uint64_t memory_bytes)
{
	struct budget b = {.r = r, .align = pctl_resident_alignment(r)};
	pctl_status status;

	find_budget(r, memory_bytes);
	status = collect(&b);
	if (status == PCTL_OK)
		status = fit(&b);
	drop(&b);
	return status;
}
