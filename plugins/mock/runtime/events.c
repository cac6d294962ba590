/* What the script wants of a submit: where in it a bit is to be flipped, and which faults are due. Commands are placed
 * by trace ids (pipectl/host.h): those they were recorded with and that of the submit. */
#include "runtime/mock.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct placed {
	uint32_t job, round, step;
	uint32_t ends_round; /* the last command of its round */
} placed;

typedef struct rounds {
	uint32_t first, n; /* of those the list was recorded for */
} rounds;

static rounds rounds_of(const pctl_list *l)
{
	uint32_t first = MOCK_ANY, last = 0;

	for (uint32_t i = 0; i < l->n_cmds; i++) {
		const uint32_t round = PCTL_TRACE_ROUND(l->cmds[i].trace);

		if (!PCTL_TRACE_JOB(l->cmds[i].trace))
			continue;
		first = round < first ? round : first;
		last = round > last ? round : last;
	}
	return first == MOCK_ANY ? (rounds){0, 1} : (rounds){first, last - first + 1};
}

/* Where command i stands when the list runs for the time number `time`. `count`: steps of its round up to it. */
static placed place(const pctl_list *l, const rounds *r, uint32_t i, uint32_t time, uint64_t trace,
		    uint32_t count)
{
	const uint64_t own = l->cmds[i].trace;
	const uint32_t recorded = PCTL_TRACE_JOB(own) ? PCTL_TRACE_ROUND(own) - r->first : 0;
	placed p = {.job = PCTL_TRACE_JOB(trace) ? PCTL_TRACE_JOB(trace) : PCTL_TRACE_JOB(own)};

	p.round = (PCTL_TRACE_JOB(trace) ? PCTL_TRACE_ROUND(trace) : r->first) + time * r->n +
		  recorded;
	p.step = PCTL_TRACE_STEP(own)	  ? PCTL_TRACE_STEP(own)
		 : PCTL_TRACE_STEP(trace) ? PCTL_TRACE_STEP(trace)
					  : count;
	p.ends_round = 1;
	for (uint32_t j = i + 1; j < l->n_cmds; j++)
		if (mock_is_step(&l->cmds[j])) {
			p.ends_round = l->cmds[j].trace >> 16 != own >> 16;
			/* What stands before a step that runs alone only brings it its data. */
			if (PCTL_TRACE_STEP(own) ? l->cmds[j].trace == own : PCTL_TRACE_STEP(trace))
				p.step = MOCK_ANY;
			break;
		}
	return p;
}

static int matches(const mock_fault *f, const placed *p)
{
	return p->job == f->job && p->round != PCTL_TRACE_ROUND_MAX &&
	       (f->round == MOCK_ANY || f->round == p->round) &&
	       (f->step == 0 || f->step == p->step);
}

int mock_is_due(const pctl_list *l, const mock_fault *f, uint64_t trace, uint32_t times)
{
	const rounds r = rounds_of(l);
	uint32_t in_job = PCTL_TRACE_JOB(trace);

	for (uint32_t i = 0; i < l->n_cmds && !in_job; i++)
		in_job = PCTL_TRACE_JOB(l->cmds[i].trace);
	if (f->late && !in_job)
		return 0;
	if (f->target != MOCK_AT_JOB)
		return f->target == MOCK_NO_TARGET || f->submit == l->dev->inst->submits;
	for (uint32_t time = 0; time < times; time++)
		for (uint32_t i = 0, count = 0; i < l->n_cmds; i++) {
			placed p;

			if (!mock_is_step(&l->cmds[i]))
				continue;
			p = place(l, &r, i, time, trace, ++count);
			if (p.ends_round)
				count = 0;
			if (matches(f, &p))
				return 1;
		}
	return 0;
}

/* ---- flips -------------------------------------------------------------------------------- */

static mock_range range_of(const pctl_binding *b)
{
	return (mock_range){b->buffer, b->offset, b->n_bytes};
}

/* The last written binding of a dispatch, or the one that is asked for; buffer NULL: none. */
static mock_range binding_of(const mock_cmd *c, const mock_fault *f)
{
	mock_range found = {NULL, 0, 0};

	for (uint32_t i = 0; c->kernel && i < c->n_bindings; i++) {
		const pctl_binding *b = &c->bindings[i];

		if (f && f->has_binding ? b->group == f->group && b->binding == f->binding
					: mock_is_written(c, b))
			found = range_of(b);
	}
	return found;
}

static mock_range victim(const pctl_list *l, uint32_t last, const mock_fault *f)
{
	const mock_cmd *c = &l->cmds[last];
	mock_range r = {NULL, 0, 0};

	if (f && f->step && !f->has_binding && !c->kernel)
		return (mock_range){c->to, c->to_offset, c->n_bytes};
	for (uint32_t i = last + 1; i-- > 0 && !r.buffer;)
		r = binding_of(&l->cmds[i], f);
	/* A list that only moves bytes. */
	for (uint32_t i = last + 1; i-- > 0 && !r.buffer && !(f && f->has_binding);)
		r = (mock_range){l->cmds[i].to, l->cmds[i].to_offset, l->cmds[i].n_bytes};
	return r;
}

mock_range mock_last_output(const pctl_list *l)
{
	return l->n_cmds ? victim(l, l->n_cmds - 1, NULL) : (mock_range){NULL, 0, 0};
}

typedef struct events {
	pctl_list *l;
	const pctl_call *call;
	mock_event *items;
	uint32_t n, cap;
	pctl_status status;
} events;

static void add(events *e, mock_fault *f, uint32_t time, uint32_t last)
{
	const mock_range r = victim(e->l, last, f);

	f->seen++;
	if (f->repeat && f->seen != f->repeat)
		return;
	if (!r.buffer || f->element >= r.n_bytes / 4) {
		e->status = pctl_refuse(e->call, PC3280_MOCK_SCRIPT,
					"flip-bit: element %" PRIu64 " of a binding of %" PRIu64
					" bytes, in the script \"%s\"",
					f->element, r.n_bytes, e->l->dev->inst->text);
		return;
	}
	if (e->n == e->cap) {
		const uint32_t cap = e->cap ? 2 * e->cap : 8;
		mock_event *more = realloc(e->items, cap * sizeof(*more));

		if (!more) {
			e->status = pctl_no_memory(e->call, "a fault");
			return;
		}
		e->items = more;
		e->cap = cap;
	}
	e->items[e->n++] = (mock_event){time, last + 1, r, f};
}

/* A round that is cut short, and a step that runs alone, end it only at the last step that a round was seen to have. */
static int ends(const mock_fault *f, const placed *p, uint64_t trace)
{
	return (p->ends_round || PCTL_TRACE_STEP(trace)) && p->step >= f->last_step;
}

static void flip_in_job(events *e, mock_fault *f, const rounds *r, uint32_t time, uint32_t times,
			uint64_t trace)
{
	uint32_t count = 0, last = MOCK_ANY;
	placed p = {0};

	for (uint32_t i = 0; i < e->l->n_cmds && e->status == PCTL_OK; i++) {
		if (!mock_is_step(&e->l->cmds[i]))
			continue;
		p = place(e->l, r, i, time, trace, ++count);
		if (p.job == f->job && p.ends_round && p.step > f->last_step &&
		    !PCTL_TRACE_STEP(trace))
			f->last_step = p.step;
		if (p.ends_round)
			count = 0;
		last = matches(f, &p) ? i : last;
		if (matches(f, &p) && (f->step || (f->round != MOCK_ANY && ends(f, &p, trace))))
			add(e, f, time, i);
	}
	/* No round: once, after all that was submitted. */
	if (!f->step && f->round == MOCK_ANY && time + 1 == times && last != MOCK_ANY &&
	    ends(f, &p, trace))
		add(e, f, time, last);
}

static int by_place(const void *a, const void *b)
{
	const mock_event *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? -1 : 1;
	return x->after < y->after ? -1 : x->after > y->after;
}

pctl_status mock_events(pctl_list *l, const pctl_call *call, uint32_t times, mock_event **out,
			uint32_t *n_out)
{
	mock_script *script = &l->dev->inst->script;
	const uint64_t trace = call ? call->trace_id : 0;
	const rounds r = rounds_of(l);
	events e = {.l = l, .call = call};

	for (uint32_t k = 0; k < script->n && l->n_cmds && times; k++) {
		mock_fault *f = &script->faults[k];

		if (f->kind != MOCK_FLIP_BIT)
			continue;
		if (f->target == MOCK_AT_SUBMIT && f->submit == l->dev->inst->submits)
			add(&e, f, times - 1, l->n_cmds - 1);
		for (uint32_t time = 0; f->target == MOCK_AT_JOB && time < times; time++)
			flip_in_job(&e, f, &r, time, times, trace);
	}
	if (e.status != PCTL_OK) {
		free(e.items);
		e.items = NULL;
		e.n = 0;
	}
	if (e.n)
		qsort(e.items, e.n, sizeof(*e.items), by_place);
	*out = e.items;
	*n_out = e.n;
	return e.status;
}
