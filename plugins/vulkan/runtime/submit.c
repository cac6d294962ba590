/* Submitting lists and waiting for them. A list run many times is given to the queue in batches, so
 * that cancel can take effect between them; wait feeds the next batch. */
#include <stdlib.h>
#include <time.h>

#include "runtime/vk.h"

#define WINDOW 3u      /* batches under way */
#define BATCH_MAX 128u /* runs of a batch */
#define BATCH_SHORT_NS 4000000ull
#define BATCH_LONG_NS 40000000ull
#define POLL_NS 20000000ull

struct pctl_vk_ticket {
	pctl_vk_ticket *next;
	uint64_t number;
	pctl_list *list;
	uint32_t left; /* runs not given to the queue yet */
	uint32_t batch;
	uint32_t started;
	uint64_t values[WINDOW]; /* of batches under way, oldest first */
	uint32_t n_values;
	uint32_t given_up; /* runs were left when it was cancelled */
	atomic_uint cancelled;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static pctl_vk_ticket *find(pctl_device *dev, uint64_t number)
{
	pctl_vk_ticket *t = dev->tickets;

	while (t && t->number != number)
		t = t->next;
	return t;
}

static void drop(pctl_device *dev, pctl_vk_ticket *t)
{
	pctl_vk_ticket **at;

	pthread_mutex_lock(&dev->tickets_lock);
	for (at = &dev->tickets; *at != t; at = &(*at)->next)
		;
	*at = t->next;
	pthread_mutex_unlock(&dev->tickets_lock);
	t->list->under_way = 0;
	free(t);
}

void pctl_vk_tickets_close(pctl_device *dev)
{
	pctl_vk_ticket *t;

	while ((t = dev->tickets) != NULL) {
		dev->tickets = t->next;
		free(t);
	}
}

/* One batch: a barrier before, between and after, the start timestamp once. */
static pctl_status give(pctl_device *dev, const pctl_call *call, pctl_vk_ticket *t)
{
	VkCommandBuffer cmds[2 * BATCH_MAX + 2];
	const uint32_t runs = t->left < t->batch ? t->left : t->batch;
	const int dispatches_only =
		t->list->all_stages == VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT && !t->list->n_scratch;
	uint32_t n = 0, i;
	pctl_status status;

	if (!t->started && t->list->start)
		cmds[n++] = t->list->start;
	cmds[n++] = dev->around;
	for (i = 0; i < runs; i++) {
		if (i)
			cmds[n++] = dispatches_only ? dev->between : dev->around;
		cmds[n++] = t->list->cmd;
	}
	cmds[n++] = dev->around;
	status = pctl_vk_sync_submit(dev, call, cmds, n, &t->values[t->n_values]);
	if (status != PCTL_OK)
		return status;
	t->started = 1;
	t->n_values++;
	t->left -= runs;
	return PCTL_OK;
}

static pctl_status feed(pctl_device *dev, const pctl_call *call, pctl_vk_ticket *t)
{
	pctl_status status = PCTL_OK;

	if (atomic_load(&t->cancelled) && t->left) {
		t->left = 0;
		t->given_up = 1;
	}
	while (status == PCTL_OK && t->left && t->n_values < WINDOW)
		status = give(dev, call, t);
	return status;
}

/* Wait for the oldest batch, at most until `deadline`, and give the next. */
static pctl_status advance(pctl_device *dev, const pctl_call *call, pctl_vk_ticket *t,
			   uint64_t deadline, int *moved)
{
	const uint64_t start = now_ns();
	uint64_t room = deadline > start ? deadline - start : 0;
	pctl_status status;
	uint64_t took;
	uint32_t i;

	*moved = 0;
	if (room > POLL_NS)
		room = POLL_NS;
	status = pctl_vk_sync_wait(dev, call, t->values[0], room, moved);
	if (status != PCTL_OK || !*moved)
		return status;
	took = now_ns() - start;
	if (took < BATCH_SHORT_NS && t->batch < BATCH_MAX)
		t->batch *= 2;
	else if (took > BATCH_LONG_NS && t->batch > 1)
		t->batch /= 2;
	for (i = 1; i < t->n_values; i++)
		t->values[i - 1] = t->values[i];
	t->n_values--;
	return feed(dev, call, t);
}

/* Everything submitted before runs to its end first: order is the order of submits. */
static pctl_status drain(pctl_device *dev, const pctl_call *call)
{
	pctl_status status = PCTL_OK;
	pctl_vk_ticket *t;
	int moved;

	for (t = dev->tickets; t && status == PCTL_OK; t = t->next) {
		status = feed(dev, call, t);
		while (status == PCTL_OK && t->left)
			status = advance(dev, call, t, UINT64_MAX, &moved);
	}
	return status;
}

pctl_status pctl_vk_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			   uint64_t *ticket)
{
	pctl_vk_ticket *t, **at;
	pctl_status status;

	if (!l || l->dev != dev || !ticket)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "submit: the list is NULL or another device's");
	*ticket = 0;
	if (l->state != PCTL_VK_LIST_READY || l->under_way)
		return pctl_refuse(call, PC3213_LIST_STATE, "submit: the list is %s",
				   l->under_way			     ? "under way"
				   : l->state == PCTL_VK_LIST_BROKEN ? "in error"
								     : "not closed");
	if (dev->lost)
		return pctl_vk_fail(dev, call, VK_ERROR_DEVICE_LOST, "submit to a lost device");
	status = drain(dev, call);
	if (status != PCTL_OK)
		return status;
	t = calloc(1, sizeof(*t));
	if (!t)
		return pctl_no_memory(call, "a submit");
	t->number = dev->last_ticket + 1;
	t->list = l;
	t->left = times;
	t->batch = 4;
	if (times)
		status = give(dev, call, t);
	status = pctl_vk_checked(dev->inst, call, status);
	if (status != PCTL_OK) {
		if (t->n_values && !dev->lost)
			vkQueueWaitIdle(dev->queue);
		free(t);
		return status;
	}
	l->under_way = 1;
	dev->last_ticket = t->number;
	pthread_mutex_lock(&dev->tickets_lock);
	for (at = &dev->tickets; *at; at = &(*at)->next)
		;
	*at = t;
	pthread_mutex_unlock(&dev->tickets_lock);
	*ticket = t->number;
	/* What follows can fail only as wait would, and wait will say so. */
	return PCTL_OK;
}

/* ---- results ---- */

static uint64_t ticks_ns(const pctl_device *dev, uint64_t from, uint64_t to)
{
	const uint64_t mask =
		dev->timestamp_bits >= 64 ? UINT64_MAX : (1ull << dev->timestamp_bits) - 1;

	return (uint64_t)((double)((to - from) & mask) * (double)dev->props.limits.timestampPeriod);
}

static pctl_status read_times(pctl_device *dev, const pctl_call *call, const pctl_list *l,
			      pctl_completion *out)
{
	uint64_t ticks[PCTL_VK_SLOTS] = {0}, ends[2] = {0};
	uint32_t s, first = PCTL_VK_SLOTS;
	VkResult r;

	if (!l->queries)
		return PCTL_OK;
	r = vkGetQueryPoolResults(dev->vk, l->queries, PCTL_VK_SLOTS, 2, sizeof(ends), ends,
				  sizeof(*ends), VK_QUERY_RESULT_64_BIT);
	for (s = 0; s < PCTL_VK_SLOTS && r == VK_SUCCESS; s++) {
		if (!(l->slots >> s & 1))
			continue;
		r = vkGetQueryPoolResults(dev->vk, l->queries, s, 1, sizeof(ticks[s]), &ticks[s],
					  sizeof(ticks[s]), VK_QUERY_RESULT_64_BIT);
		out->n_timestamps = s + 1;
		if (first == PCTL_VK_SLOTS || ticks[s] < ticks[first])
			first = s;
	}
	if (r < VK_SUCCESS)
		return pctl_vk_fail(dev, call, r, "vkGetQueryPoolResults");
	for (s = 0; s < out->n_timestamps; s++)
		if (l->slots >> s & 1)
			out->timestamps[s] = ticks_ns(dev, ticks[first], ticks[s]);
	out->device_ns = ticks_ns(dev, ends[0], ends[1]);
	return PCTL_OK;
}

static pctl_status finish(pctl_device *dev, const pctl_call *call, pctl_vk_ticket *t,
			  pctl_completion *out)
{
	pctl_status status = PCTL_OK;

	if (t->given_up)
		status = pctl_refuse(call, PC3216_SUBMIT_CANCELLED, "submit %llu on %s",
				     (unsigned long long)t->number, dev->props.deviceName);
	else if (t->started)
		status = read_times(dev, call, t->list, out);
	out->done = status == PCTL_OK;
	drop(dev, t);
	return status;
}

pctl_status pctl_vk_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			 uint64_t timeout_ns, pctl_completion *out)
{
	const uint64_t start = now_ns();
	const uint64_t deadline = timeout_ns > UINT64_MAX - start ? UINT64_MAX : start + timeout_ns;
	pctl_vk_ticket *t;
	pctl_status status;
	int moved = 1;

	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "wait: out is NULL");
	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	t = find(dev, ticket);
	if (!t)
		return pctl_refuse(call, PC3214_TICKET_UNKNOWN, "ticket %llu",
				   (unsigned long long)ticket);
	status = feed(dev, call, t);
	while (status == PCTL_OK && t->n_values) {
		if (pctl_is_cancelled(call))
			atomic_store(&t->cancelled, 1);
		status = advance(dev, call, t, deadline, &moved);
		if (!moved && now_ns() >= deadline)
			break;
	}
	if (status == PCTL_OK && !t->n_values)
		status = finish(dev, call, t, out);
	else if (status != PCTL_OK)
		drop(dev, t);
	return pctl_vk_checked(dev->inst, call, status);
}

void pctl_vk_cancel(pctl_device *dev, uint64_t ticket)
{
	pctl_vk_ticket *t;

	pthread_mutex_lock(&dev->tickets_lock);
	t = find(dev, ticket);
	if (t)
		atomic_store(&t->cancelled, 1);
	pthread_mutex_unlock(&dev->tickets_lock);
}
