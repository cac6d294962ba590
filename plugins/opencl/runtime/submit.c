/* Running lists: commands are handed to the in-order queue a window at a time, so that a cancel is
 * prompt and the counts of an indirect dispatch can be read back between commands. Everything
 * happens in the thread that calls submit and wait; the driver's own threads only wake a sleeper.
 */
#include "runtime/opencl.h"

#include <stdlib.h>
#include <time.h>

#define PAUSE_LEAST 20000u
#define PAUSE_MOST 5000000u

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void drop_event(cl_event *event)
{
	if (*event)
		clReleaseEvent(*event);
	*event = NULL;
}

/* 1 finished, 0 under way, negative: the driver's error. */
static cl_int event_state(cl_event event)
{
	cl_int state = CL_QUEUED;
	const cl_int error = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(state),
					    &state, NULL);

	if (error != CL_SUCCESS)
		return error;
	return state < 0 ? state : state == CL_COMPLETE;
}

static uint64_t event_end(cl_event event)
{
	cl_ulong t = 0;

	if (!event || clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(t), &t,
					      NULL) != CL_SUCCESS)
		return 0;
	return t;
}

static cl_int marker(pctl_device *dev, cl_event *event)
{
	drop_event(event);
	return clEnqueueMarkerWithWaitList(dev->queue, 0, NULL, event);
}

static cl_int enqueue_dispatch(pctl_device *dev, const command *c, const size_t groups[3])
{
	size_t global[3];

	for (uint32_t i = 0; i < 3; i++) {
		if (!groups[i])
			return CL_SUCCESS;
		global[i] = groups[i] * c->local[i];
	}
	return clEnqueueNDRangeKernel(dev->queue, c->kernel, 3, NULL, global, c->local, 0, NULL,
				      NULL);
}

static cl_int enqueue_counts(pctl_device *dev, ticket *t, const command *c)
{
	t->counting = 1;
	drop_event(&t->count_event);
	return clEnqueueReadBuffer(dev->queue, c->from, CL_FALSE, c->from_offset, sizeof(t->counts),
				   t->counts, 0, NULL, &t->count_event);
}

static cl_int enqueue_counted(pctl_device *dev, ticket *t, const command *c)
{
	size_t groups[3];

	t->counting = 0;
	for (uint32_t i = 0; i < 3; i++)
		groups[i] = t->counts[i] < c->groups[i] ? t->counts[i] : c->groups[i];
	return enqueue_dispatch(dev, c, groups);
}

static cl_int enqueue(pctl_device *dev, ticket *t, const command *c)
{
	switch (c->kind) {
	case COMMAND_DISPATCH:
		return enqueue_dispatch(dev, c, c->groups);
	case COMMAND_COPY:
		return clEnqueueCopyBuffer(dev->queue, c->from, c->to, c->from_offset, c->to_offset,
					   c->n_bytes, 0, NULL, NULL);
	case COMMAND_FILL:
		return clEnqueueFillBuffer(dev->queue, c->to, &c->word, sizeof(c->word),
					   c->to_offset, c->n_bytes, 0, NULL, NULL);
	default:
		return marker(dev, &t->list->slots[c->slot]);
	}
}

/* What pump reports besides a driver's error, which is negative. */
enum { PUMP_WAITING = 1, PUMP_SENT = 2, PUMP_AGAIN = 3 };

/* Set the event that wait looks at, and push everything to the device. */
static cl_int send_fence(pctl_device *dev, cl_event *event)
{
	cl_int error = marker(dev, event);

	if (error == CL_SUCCESS)
		error = clFlush(dev->queue);
	return error;
}

/* Hand over a window of commands, where no more than one before it is under way; the caller looks at its clock and cancel
 * test between windows, also on a driver that runs commands at once. */
static cl_int pump(pctl_device *dev, ticket *t)
{
	cl_int error = CL_SUCCESS, state;

	while (t->times && error == CL_SUCCESS) {
		const command *c;

		if (t->at == t->list->n_commands) {
			t->at = 0;
			t->times--;
			continue;
		}
		c = &t->list->commands[t->at];
		if (t->counting) {
			state = event_state(t->count_event);
			if (state <= 0)
				return state < 0 ? state : PUMP_WAITING;
			error = enqueue_counted(dev, t, c);
		} else if (t->in_flight == OPENCL_WINDOW) {
			/* A window is sent while the one before runs, so that the device never waits for the host. */
			state = t->fence ? event_state(t->fence) : 1;
			if (state <= 0)
				return state < 0 ? state : PUMP_WAITING;
			error = send_fence(dev, &t->fence);
			t->in_flight = 0;
			if (error == CL_SUCCESS)
				return PUMP_AGAIN;
			continue;
		} else if (c->kind == COMMAND_INDIRECT) {
			error = enqueue_counts(dev, t, c);
			if (error == CL_SUCCESS)
				error = clFlush(dev->queue);
			continue;
		} else {
			error = enqueue(dev, t, c);
		}
		t->at++;
		t->in_flight++;
		/* Some drivers keep what they are handed until a flush: the device begins with the first few. */
		if (error == CL_SUCCESS && t->in_flight % OPENCL_FLUSH == OPENCL_FLUSH_FIRST)
			error = clFlush(dev->queue);
	}
	if (error == CL_SUCCESS && !t->all_sent) {
		t->all_sent = 1;
		error = send_fence(dev, &t->last);
	}
	return error == CL_SUCCESS ? PUMP_SENT : error;
}

static void ticket_free(ticket *t)
{
	drop_event(&t->first);
	drop_event(&t->fence);
	drop_event(&t->last);
	drop_event(&t->count_event);
	free(t);
}

static void ticket_remove(pctl_device *dev, ticket *t)
{
	ticket **at = &dev->tickets;

	while (*at && *at != t)
		at = &(*at)->next;
	if (*at)
		*at = t->next;
	ticket_free(t);
}

void opencl_tickets_drop(pctl_device *dev)
{
	while (dev->tickets)
		ticket_remove(dev, dev->tickets);
}

pctl_status opencl_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *out)
{
	ticket **at = &dev->tickets, *t;
	cl_int state;

	*out = 0;
	if (dev->lost)
		return opencl_fail(dev, call, CL_DEVICE_NOT_AVAILABLE, "submit to a lost device");
	if (!l->ended)
		return pctl_refuse(call, PC3213_LIST_STATE,
				   "the list is not ended, or holds a refused command");
	while (*at) {
		if ((*at)->list == l)
			return pctl_refuse(call, PC3213_LIST_STATE,
					   "the list is under way already");
		at = &(*at)->next;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return pctl_refuse(call, PC2_NOMEM, "opencl: a submit");
	t->list = l;
	t->times = times;
	t->id = ++dev->next_ticket;
	state = marker(dev, &t->first);
	/* Behind another ticket the commands must wait their turn: the queue runs in order. */
	if (state == CL_SUCCESS && at == &dev->tickets)
		state = pump(dev, t);
	if (state < 0) {
		clFinish(dev->queue);
		ticket_free(t);
		return opencl_fail(dev, call, state, "submitting a command list");
	}
	*at = t;
	*out = t->id;
	return PCTL_OK;
}

static void complete(ticket *t, pctl_completion *out)
{
	const uint64_t begin = event_end(t->first), end = event_end(t->last);
	uint64_t zero = 0;

	out->done = 1;
	out->n_timestamps = t->list->n_slots;
	out->device_ns = begin && end > begin ? end - begin : 0;
	for (uint32_t i = 0; i < t->list->n_slots; i++) {
		out->timestamps[i] = event_end(t->list->slots[i]);
		if (out->timestamps[i] && (!zero || out->timestamps[i] < zero))
			zero = out->timestamps[i];
	}
	for (uint32_t i = 0; i < t->list->n_slots; i++)
		if (out->timestamps[i])
			out->timestamps[i] -= zero;
}

enum { ADVANCE_SLEEP = 0, ADVANCE_DONE = 1, ADVANCE_AGAIN = 2 };

/* Move the oldest tickets on until `t` is finished or something must be waited for. Negative: the
 * driver's error. */
static cl_int advance(pctl_device *dev, ticket *t)
{
	for (ticket *older = dev->tickets; older; older = older->next) {
		const cl_int sent = pump(dev, older);

		if (sent == PUMP_AGAIN)
			return ADVANCE_AGAIN;
		if (sent != PUMP_SENT)
			return sent < 0 ? sent : ADVANCE_SLEEP;
		if (older == t)
			return event_state(t->last);
	}
	return CL_INVALID_EVENT;
}

static cl_event awaited(pctl_device *dev)
{
	const ticket *t = dev->tickets;

	if (t->counting)
		return t->count_event;
	return t->all_sent ? t->last : t->fence;
}

static int is_cancelled(pctl_device *dev, const ticket *t, const pctl_call *call)
{
	return __atomic_load_n(&dev->cancel_id, __ATOMIC_ACQUIRE) == t->id ||
	       pctl_is_cancelled(call);
}

/* What was handed over cannot be taken back; the rest of the ticket is dropped. */
static pctl_status cancel_now(pctl_device *dev, const pctl_call *call, ticket *t)
{
	clFinish(dev->queue);
	ticket_remove(dev, t);
	return pctl_refuse(call, PC3216_SUBMIT_CANCELLED, "opencl: a submit was cancelled");
}

pctl_status opencl_wait(pctl_device *dev, const pctl_call *call, uint64_t id, uint64_t timeout_ns,
			pctl_completion *out)
{
	const uint64_t start = now_ns();
	uint64_t pause = PAUSE_LEAST;
	cl_event watched = NULL;
	ticket *t = dev->tickets;

	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	while (t && t->id != id)
		t = t->next;
	if (!t)
		return pctl_refuse(call, PC3214_TICKET_UNKNOWN, "ticket %llu is not under way",
				   (unsigned long long)id);
	for (;;) {
		const uint32_t seen = opencl_waker_generation(dev->wake);
		const cl_int state = advance(dev, t);
		uint64_t spent;

		if (state < 0) {
			ticket_remove(dev, t);
			dev->lost = 1;
			return pctl_refuse(call, PC3271_OPENCL_LOST,
					   "running a command list: %s (%d)",
					   opencl_error_name(state), state);
		}
		if (state == ADVANCE_DONE) {
			complete(t, out);
			ticket_remove(dev, t);
			return PCTL_OK;
		}
		if (is_cancelled(dev, t, call))
			return cancel_now(dev, call, t);
		spent = now_ns() - start;
		if (spent >= timeout_ns)
			return PCTL_OK;
		if (state == ADVANCE_AGAIN)
			continue;
		if (awaited(dev) != watched) {
			watched = awaited(dev);
			if (watched && opencl_waker_watch(dev->wake, watched))
				pause = 500000;
		}
		/* A callback of a GPU's driver comes late, by as much as a short list takes; what is asked for in between is late by a part of what was waited. */
		if (!dev->is_cpu)
			pause = spent / 16 > PAUSE_LEAST ? spent / 16 : PAUSE_LEAST;
		if (pause > PAUSE_MOST)
			pause = PAUSE_MOST;
		opencl_waker_sleep(dev->wake, seen,
				   pause < timeout_ns - spent ? pause : timeout_ns - spent);
		pause += pause / 4;
	}
}

void opencl_cancel(pctl_device *dev, uint64_t id)
{
	__atomic_store_n(&dev->cancel_id, id, __ATOMIC_RELEASE);
	opencl_waker_signal(dev->wake);
}
