/* Tickets: what is waited for is the inner device's, or a fault's. */
#include "runtime/mock.h"

#include <stdlib.h>
#include <time.h>

#define SLICE_NS 2000000u

uint64_t mock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	const struct timespec t = {0, (long)(ns < SLICE_NS ? ns : SLICE_NS)};

	nanosleep(&t, NULL);
}

static mock_ticket *find(pctl_device *dev, uint64_t id)
{
	mock_ticket *t;

	pthread_mutex_lock(&dev->lock);
	for (t = dev->tickets; t && t->id != id;)
		t = t->next;
	pthread_mutex_unlock(&dev->lock);
	return t;
}

static void drop(pctl_device *dev, mock_ticket *t)
{
	mock_ticket **at = &dev->tickets;

	pthread_mutex_lock(&dev->lock);
	while (*at != t)
		at = &(*at)->next;
	*at = t->next;
	pthread_mutex_unlock(&dev->lock);
	free(t);
}

static int is_cancelled(pctl_device *dev, const mock_ticket *t, const pctl_call *call)
{
	uint32_t cancelled;

	pthread_mutex_lock(&dev->lock);
	cancelled = t->cancelled;
	pthread_mutex_unlock(&dev->lock);
	return cancelled || pctl_is_cancelled(call);
}

/* Hold the answer back as the script wants. 1: it may be given now. 0: the time is over. -1: cancelled. */
static int hold(pctl_device *dev, const pctl_call *call, mock_ticket *t, uint64_t end_ns)
{
	for (;;) {
		const uint64_t now = mock_now_ns();

		if (is_cancelled(dev, t, call))
			return -1;
		if (t->waits && end_ns != UINT64_MAX) {
			t->waits--;
			sleep_ns(end_ns > now ? end_ns - now : 0);
			return 0;
		}
		if (!t->hangs && now >= t->not_before_ns)
			return 1;
		if (now >= end_ns)
			return 0;
		sleep_ns(end_ns - now);
	}
}

static pctl_status end_cancelled(pctl_device *dev, const pctl_call *call, mock_ticket *t)
{
	pctl_completion ignored = {.head = PCTL_HEAD(pctl_completion)};

	/* The inner work ends, too: its buffers may go next. */
	if (t->is_inner) {
		dev->t->cancel(dev->inner, t->inner);
		dev->t->wait(dev->inner, NULL, t->inner, UINT64_MAX, &ignored);
	}
	drop(dev, t);
	return pctl_refuse(call, PC3216_SUBMIT_CANCELLED, "the submit was stopped before its end");
}

/* What the device says of the time is said once it is done. */
static void corrupt_times(const pctl_device *dev, pctl_completion *out)
{
	for (uint32_t i = 0; out->done && i < out->n_timestamps; i++) {
		if (mock_has(dev, MOCK_CLOCK_ZERO))
			out->timestamps[i] = 0;
		if (mock_has(dev, MOCK_CLOCK_BACK))
			out->timestamps[i] = 1000000u - 1000u * i;
		if (mock_has(dev, MOCK_CLOCK_HUGE))
			out->timestamps[i] = (uint64_t)i << 56;
	}
}

pctl_status mock_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket, uint64_t timeout_ns,
		      pctl_completion *out)
{
	const uint64_t now = mock_now_ns();
	const uint64_t end_ns = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
	mock_ticket *t;
	pctl_status s;
	int held;

	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "wait: a pointer is missing");
	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	t = find(dev, ticket);
	if (!t)
		return pctl_refuse(call, PC3214_TICKET_UNKNOWN, "wait: no submit has ticket %llu",
				   (unsigned long long)ticket);
	if (t->is_lost || dev->is_lost) {
		dev->is_lost = 1;
		drop(dev, t);
		return pctl_refuse(call, PC3282_MOCK_LOST,
				   "the script \"%s\" loses the device here", dev->inst->text);
	}
	held = hold(dev, call, t, end_ns);
	if (held < 0)
		return end_cancelled(dev, call, t);
	if (held == 0)
		return PCTL_OK;
	if (!t->is_inner) {
		*out = t->done;
		corrupt_times(dev, out);
		drop(dev, t);
		return PCTL_OK;
	}
	timeout_ns = end_ns == UINT64_MAX ? UINT64_MAX : end_ns - now;
	s = dev->t->wait(dev->inner, call, t->inner, timeout_ns, out);
	if (s == PCTL_OK)
		corrupt_times(dev, out);
	if (s != PCTL_OK || out->done)
		drop(dev, t);
	return s;
}

void mock_cancel(pctl_device *dev, uint64_t ticket)
{
	mock_ticket *t;

	if (!dev)
		return;
	pthread_mutex_lock(&dev->lock);
	for (t = dev->tickets; t && t->id != ticket;)
		t = t->next;
	if (t) {
		t->cancelled = 1;
		if (t->is_inner)
			dev->t->cancel(dev->inner, t->inner);
	}
	pthread_mutex_unlock(&dev->lock);
}
