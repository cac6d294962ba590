/* Running submits: the device's own thread takes them in order, so that submit returns at once and
 * wait and cancel mean what they say. */
#include "runtime/device.h"
#include "kernels/elementary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static pctl_status run_indirect(pctl_device *dev, const pctl_cpu_cmd *cmd, const uint32_t *cancel)
{
	uint32_t groups[3];

	memcpy(groups, cmd->from->data + cmd->from_offset, sizeof(groups));
	for (int i = 0; i < 3; i++)
		if (groups[i] > cmd->groups[i])
			groups[i] = cmd->groups[i];
	return pctl_cpu_dispatch(dev, cmd, groups, cancel);
}

static void fill(const pctl_cpu_cmd *cmd)
{
	uint8_t *to = cmd->to->data + cmd->to_offset;

	for (uint64_t i = 0; i < cmd->n_bytes; i += 4)
		memcpy(to + i, &cmd->word, 4);
}

static pctl_status run_command(pctl_device *dev, pctl_cpu_ticket *t, const pctl_cpu_cmd *cmd,
			       uint64_t *first_stamp)
{
	uint64_t now;

	switch (cmd->kind) {
	case PCTL_CPU_CMD_DISPATCH:
		return pctl_cpu_dispatch(dev, cmd, cmd->groups, &t->cancel);
	case PCTL_CPU_CMD_INDIRECT:
		return run_indirect(dev, cmd, &t->cancel);
	case PCTL_CPU_CMD_COPY:
		memcpy(cmd->to->data + cmd->to_offset, cmd->from->data + cmd->from_offset,
		       cmd->n_bytes);
		return PCTL_OK;
	case PCTL_CPU_CMD_FILL:
		fill(cmd);
		return PCTL_OK;
	default:
		now = now_ns();
		if (*first_stamp == 0)
			*first_stamp = now;
		t->completion.timestamps[cmd->word] = now - *first_stamp;
		if (t->completion.n_timestamps <= cmd->word)
			t->completion.n_timestamps = cmd->word + 1;
		return PCTL_OK;
	}
}

static void run_ticket(pctl_device *dev, pctl_cpu_ticket *t)
{
	const uint64_t start = now_ns();
	uint64_t first_stamp = 0;

	for (uint32_t n = 0; n < t->times && t->status == PCTL_OK; n++) {
		for (uint32_t i = 0; i < t->list->n_cmds && t->status == PCTL_OK; i++) {
			if (__atomic_load_n(&t->cancel, __ATOMIC_RELAXED))
				t->status = PCTL_E_CANCELLED;
			else
				t->status = run_command(dev, t, &t->list->cmds[i], &first_stamp);
		}
		if (__atomic_load_n(&t->cancel, __ATOMIC_RELAXED) && n + 1 < t->times)
			t->status = PCTL_E_CANCELLED;
	}
	t->completion.device_ns = now_ns() - start;
}

static pctl_cpu_ticket *first_undone(const pctl_device *dev)
{
	pctl_cpu_ticket *t = dev->tickets;

	while (t && t->done)
		t = t->next;
	return t;
}

void *pctl_cpu_runner(void *device)
{
	pctl_device *dev = device;
	pctl_cpu_ticket *t;

	pthread_mutex_lock(&dev->lock);
	for (;;) {
		while (!(t = first_undone(dev)) && !dev->stop)
			pthread_cond_wait(&dev->work, &dev->lock);
		if (!t)
			break;
		pthread_mutex_unlock(&dev->lock);
		run_ticket(dev, t);
		pthread_mutex_lock(&dev->lock);
		t->done = 1;
		t->list->busy = 0;
		pthread_cond_broadcast(&dev->done);
	}
	pthread_mutex_unlock(&dev->lock);
	pctl_cpu_elementary_forget();
	return NULL;
}

void pctl_cpu_idle(pctl_device *dev)
{
	pthread_mutex_lock(&dev->lock);
	while (first_undone(dev))
		pthread_cond_wait(&dev->done, &dev->lock);
	pthread_mutex_unlock(&dev->lock);
}

pctl_status pctl_cpu_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			    uint64_t *ticket)
{
	pctl_cpu_ticket *t, **tail;
	uint32_t busy;

	if (!dev || !l || l->dev != dev || !ticket)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "submit: no list of this device, or no ticket");
	*ticket = 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return pctl_no_memory(call, "a submit");
	t->list = l;
	t->times = times;
	t->completion = (pctl_completion){.head = PCTL_HEAD(pctl_completion), .done = 1};
	pthread_mutex_lock(&dev->lock);
	busy = l->busy;
	if (!busy && l->state == PCTL_CPU_LIST_CLOSED) {
		l->busy = 1;
		t->id = *ticket = ++dev->last_ticket;
		for (tail = &dev->tickets; *tail; tail = &(*tail)->next)
			;
		*tail = t;
		t = NULL;
		pthread_cond_signal(&dev->work);
	}
	pthread_mutex_unlock(&dev->lock);
	if (!t)
		return PCTL_OK;
	free(t);
	return pctl_refuse(call, PC3213_LIST_STATE, "submit: the list %s",
			   busy ? "is under way already" : "was not ended, or is in error");
}

static pctl_cpu_ticket **find_ticket(pctl_device *dev, uint64_t id)
{
	pctl_cpu_ticket **at = &dev->tickets;

	while (*at && (*at)->id != id)
		at = &(*at)->next;
	return *at ? at : NULL;
}

static struct timespec in_ns(uint64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	return t;
}

#define SLICE_NS 20000000u /* how often wait asks whether the caller still wants the result */

pctl_status pctl_cpu_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			  uint64_t timeout_ns, pctl_completion *out)
{
	const uint64_t start = now_ns();
	pctl_cpu_ticket **at, *t = NULL;
	pctl_status status = PCTL_OK;

	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "wait: a pointer is missing");
	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	pthread_mutex_lock(&dev->lock);
	at = find_ticket(dev, ticket);
	while (at && !(*at)->done) {
		const uint64_t waited = now_ns() - start;
		const uint64_t left = timeout_ns > waited ? timeout_ns - waited : 0;
		struct timespec until;

		if (call && call->cancelled) {
			pthread_mutex_unlock(&dev->lock);
			if (pctl_is_cancelled(call))
				pctl_cpu_cancel(dev, ticket);
			pthread_mutex_lock(&dev->lock);
		}
		/* A cancelled submit ends soon: waiting for it keeps its buffers quiet afterwards.
		 */
		if (left == 0 && !__atomic_load_n(&(*at)->cancel, __ATOMIC_RELAXED))
			break;
		if ((*at)->done)
			break;
		until = in_ns(left && left < SLICE_NS ? left : SLICE_NS);
		pthread_cond_timedwait(&dev->done, &dev->lock, &until);
	}
	if (at && (*at)->done) {
		t = *at;
		*at = t->next;
	}
	pthread_mutex_unlock(&dev->lock);
	if (!at)
		return pctl_refuse(call, PC3214_TICKET_UNKNOWN, "wait: no submit has ticket %llu",
				   (unsigned long long)ticket);
	if (!t)
		return PCTL_OK;
	*out = t->completion;
	if (t->status == PCTL_E_CANCELLED)
		status = pctl_refuse(call, PC3216_SUBMIT_CANCELLED,
				     "the submit was stopped before its end");
	else if (t->status == PCTL_E_LIMIT)
		status = pctl_refuse(call, PC3217_SHADOW_LIMIT,
				     "the run is too long for the race detector");
	else if (t->status != PCTL_OK)
		status = pctl_refuse(call, PC2_NOMEM, "no memory to run a dispatch");
	free(t);
	return status;
}

void pctl_cpu_cancel(pctl_device *dev, uint64_t ticket)
{
	pctl_cpu_ticket **at;

	if (!dev)
		return;
	pthread_mutex_lock(&dev->lock);
	at = find_ticket(dev, ticket);
	if (at)
		__atomic_store_n(&(*at)->cancel, 1u, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&dev->lock);
}
