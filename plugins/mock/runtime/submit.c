/* Submits: handed to the inner device as they are, or, where something is to go wrong, taken apart and run here. */
#include "runtime/mock.h"

#include <stdlib.h>
#include <string.h>

#define SLICE_NS 100000000u

/* One inner list, to its end. */
static pctl_status run_inner(pctl_device *dev, const pctl_call *call, pctl_list *inner,
			     uint32_t times, pctl_completion *out)
{
	uint64_t ticket = 0;
	pctl_status s = dev->t->submit(dev->inner, call, inner, times, &ticket);

	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	while (s == PCTL_OK && !out->done) {
		if (pctl_is_cancelled(call))
			dev->t->cancel(dev->inner, ticket);
		s = dev->t->wait(dev->inner, call, ticket, SLICE_NS, out);
	}
	return s;
}

typedef struct running {
	pctl_list *l;
	const pctl_call *call;
	uint64_t start_ns;
	pctl_completion *done;
} running;

/* What commands from .. upto - 1 noted of the time. */
static void note_times(running *r, const pctl_completion *c, uint64_t before_ns, uint32_t from,
		       uint32_t upto)
{
	r->done->device_ns += c->device_ns;
	for (uint32_t i = from; i < upto; i++) {
		const uint32_t slot = r->l->cmds[i].word;

		if (r->l->cmds[i].kind != MOCK_TIMESTAMP)
			continue;
		r->done->timestamps[slot] = c->timestamps[slot] + before_ns;
		if (r->done->n_timestamps <= slot)
			r->done->n_timestamps = slot + 1;
	}
}

static pctl_status run_whole(running *r, uint32_t times)
{
	const uint64_t before_ns = mock_now_ns() - r->start_ns;
	pctl_completion c;
	pctl_status s = run_inner(r->l->dev, r->call, r->l->inner, times, &c);

	if (s == PCTL_OK)
		note_times(r, &c, before_ns, 0, r->l->n_cmds);
	return s;
}

static pctl_status run_piece(running *r, uint32_t from, uint32_t upto)
{
	const uint64_t before_ns = mock_now_ns() - r->start_ns;
	pctl_device *dev = r->l->dev;
	pctl_list *piece = NULL;
	pctl_completion c;
	pctl_status s;

	if (from == upto)
		return PCTL_OK;
	if (from == 0 && upto == r->l->n_cmds)
		return run_whole(r, 1);
	s = dev->t->list_begin(dev->inner, r->call, &piece);
	for (uint32_t i = from; s == PCTL_OK && i < upto; i++)
		s = mock_replay(&r->l->cmds[i], dev, piece, r->call);
	if (s == PCTL_OK)
		s = dev->t->list_end(piece, r->call);
	if (s == PCTL_OK)
		s = run_inner(dev, r->call, piece, 1, &c);
	if (s == PCTL_OK)
		note_times(r, &c, before_ns, from, upto);
	if (piece)
		dev->t->list_destroy(dev->inner, piece);
	return s;
}

/* The list `times` times, each event in its place. */
static pctl_status run_events(running *r, uint32_t times, const mock_event *events, uint32_t n)
{
	pctl_status s = PCTL_OK;
	uint32_t time = 0, k = 0;

	while (s == PCTL_OK && time < times) {
		const uint32_t next = k < n ? events[k].times : times;
		uint32_t from = 0;

		if (next > time) {
			s = run_whole(r, next - time);
			time = next;
			continue;
		}
		for (; s == PCTL_OK && k < n && events[k].times == time; k++) {
			s = run_piece(r, from, events[k].after);
			from = events[k].after;
			if (s == PCTL_OK)
				s = mock_flip(r->l->dev, r->call, &events[k].range,
					      events[k].fault->element, events[k].fault->bit);
		}
		if (s == PCTL_OK)
			s = run_piece(r, from, r->l->n_cmds);
		time++;
	}
	return s;
}

/* Everything now, faults and all. */
static pctl_status run_here(pctl_list *l, const pctl_call *call, uint32_t times,
			    const mock_event *events, uint32_t n, int stale, pctl_completion *done)
{
	running r = {l, call, mock_now_ns(), done};
	pctl_status s;

	*done = (pctl_completion){.head = PCTL_HEAD(pctl_completion), .done = 1};
	if (stale && l->kept)
		return mock_bring_back(l, call);
	s = run_events(&r, times, events, n);
	if (s == PCTL_OK)
		s = mock_corrupt(l, call);
	if (s == PCTL_OK && stale)
		s = mock_keep(l, call);
	return s;
}

/* Faults that strike the submit as a whole. 0: go on. */
static pctl_status strike(pctl_list *l, const pctl_call *call, uint32_t times, mock_ticket *t,
			  int *stale)
{
	const mock_script *script = &l->dev->inst->script;

	for (uint32_t i = 0; i < l->n_cmds; i++)
		t->hangs |= l->cmds[i].kernel && l->cmds[i].kernel->is_optional &&
			    mock_has(l->dev, MOCK_STUCK);
	for (uint32_t i = 0; i < script->n; i++) {
		const mock_fault *f = &script->faults[i];

		if (!mock_is_due(l, f, call ? call->trace_id : 0, times))
			continue;
		if (f->kind == MOCK_CRASH && l->dev->inst->in_host)
			return pctl_refuse(call, PC3283_MOCK_CRASH,
					   "the script \"%s\" crashes here, and this is the host",
					   l->dev->inst->text);
		/* The one thing no other plugin may do. */
		if (f->kind == MOCK_CRASH)
			abort();
		t->hangs |= f->kind == MOCK_HANG;
		t->is_lost |= f->kind == MOCK_LOST;
		if (f->kind == MOCK_SLOW)
			t->not_before_ns = mock_now_ns() + f->value * 1000000u;
		if (f->kind == MOCK_WAITS)
			t->waits = f->value < UINT32_MAX ? (uint32_t)f->value : UINT32_MAX;
		*stale |= f->kind == MOCK_STALE;
		t->done.done |= f->kind == MOCK_NO_DISPATCH;
	}
	return PCTL_OK;
}

static pctl_status run(pctl_list *l, const pctl_call *call, uint32_t times, mock_ticket *t)
{
	mock_event *events = NULL;
	uint32_t n = 0;
	int stale = 0;
	pctl_status s = strike(l, call, times, t, &stale);

	if (s != PCTL_OK || t->hangs || t->is_lost || t->done.done)
		return s;
	s = mock_events(l, call, times, &events, &n);
	if (s == PCTL_OK && (n || stale || mock_corrupts(l, call ? call->trace_id : 0))) {
		s = run_here(l, call, times, events, n, stale, &t->done);
	} else if (s == PCTL_OK) {
		s = l->dev->t->submit(l->dev->inner, call, l->inner, times, &t->inner);
		t->is_inner = 1;
	}
	free(events);
	return s;
}

pctl_status mock_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			uint64_t *ticket)
{
	mock_ticket *t;
	pctl_status s;

	if (!dev || !l || l->dev != dev || !ticket)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "submit: no list of this device, or no ticket");
	*ticket = 0;
	if (dev->is_lost)
		return pctl_refuse(call, PC3282_MOCK_LOST, "submit: the device is lost");
	t = calloc(1, sizeof(*t));
	if (!t)
		return pctl_no_memory(call, "a submit");
	t->done.head = (pctl_head)PCTL_HEAD(pctl_completion);
	dev->inst->submits++;
	s = run(l, call, times, t);
	if (s != PCTL_OK) {
		free(t);
		return s;
	}
	pthread_mutex_lock(&dev->lock);
	*ticket = t->id = ++dev->last_ticket;
	t->next = dev->tickets;
	dev->tickets = t;
	pthread_mutex_unlock(&dev->lock);
	return PCTL_OK;
}
