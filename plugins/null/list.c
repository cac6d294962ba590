/* Command lists and submits. Commands are checked when recorded; submit runs them before it
 * returns, which is the simplest way to keep every promise of wait and cancel. */
#include "null.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CMD_COPY, CMD_FILL, CMD_TIMESTAMP };
enum { LIST_OPEN, LIST_CLOSED, LIST_BROKEN };

typedef struct cmd {
	uint32_t kind;
	uint32_t word; /* the pattern, or the timestamp's slot */
	pctl_buffer *from, *to;
	uint64_t from_offset, to_offset, n_bytes;
} cmd;

struct pctl_list {
	pctl_device *dev;
	cmd *cmds;
	uint32_t n_cmds, cap_cmds;
	uint32_t state;
	uint32_t reserved;
};

static pctl_status check_open(const pctl_list *l, const pctl_call *call)
{
	if (!l)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "the list is missing");
	if (l->state != LIST_OPEN)
		return pctl_refuse(call, PC3213_LIST_STATE, "the list is not open for recording");
	return PCTL_OK;
}

/* After an error while recording, a list is only good for destroy. */
static pctl_status broken(pctl_list *l, pctl_status status)
{
	if (status != PCTL_OK && l && l->state == LIST_OPEN)
		l->state = LIST_BROKEN;
	return status;
}

static pctl_status append(pctl_list *l, const pctl_call *call, const cmd *c)
{
	if (l->n_cmds == l->cap_cmds) {
		const uint32_t cap = l->cap_cmds ? l->cap_cmds * 2 : 16;
		cmd *grown = cap > l->cap_cmds ? realloc(l->cmds, cap * sizeof(*grown)) : NULL;

		if (!grown)
			return pctl_no_memory(call, "a command");
		l->cmds = grown;
		l->cap_cmds = cap;
	}
	if (c->from)
		c->from->refs++;
	if (c->to)
		c->to->refs++;
	l->cmds[l->n_cmds++] = *c;
	return PCTL_OK;
}

pctl_status pctl_null_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "list_begin: a pointer is missing");
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return pctl_no_memory(call, "a list");
	(*out)->dev = dev;
	return PCTL_OK;
}

pctl_status pctl_null_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				    const pctl_binding *bindings, uint32_t n_bindings,
				    const uint32_t groups[3])
{
	pctl_status status = check_open(l, call);

	(void)k; /* whatever it is, kernel_build of this backend did not make it */
	(void)bindings;
	(void)n_bindings;
	(void)groups;
	if (status != PCTL_OK)
		return status;
	return broken(l, pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				     "dispatch: no kernel of this device"));
}

pctl_status pctl_null_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					     const pctl_binding *bindings, uint32_t n_bindings,
					     pctl_buffer *buf, uint64_t offset,
					     const uint32_t limit[3])
{
	(void)buf;
	(void)offset;
	return pctl_null_list_dispatch(l, call, k, bindings, n_bindings, limit);
}

static int words(uint64_t a, uint64_t b, uint64_t n)
{
	return a % 4 == 0 && b % 4 == 0 && n % 4 == 0;
}

pctl_status pctl_null_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
				uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				uint64_t n_bytes)
{
	const cmd c = {CMD_COPY, 0, from, to, from_offset, to_offset, n_bytes};
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	status = pctl_null_buffer_range(l->dev, call, from, from_offset, n_bytes,
					PCTL_BUFFER_TRANSFER, "list_copy");
	if (status == PCTL_OK)
		status = pctl_null_buffer_range(l->dev, call, to, to_offset, n_bytes,
						PCTL_BUFFER_TRANSFER, "list_copy");
	if (status == PCTL_OK && !words(from_offset, to_offset, n_bytes))
		status = pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				     "list_copy: offsets and sizes are multiples of 4");
	if (status == PCTL_OK && from == to && from_offset < to_offset + n_bytes &&
	    to_offset < from_offset + n_bytes)
		status = pctl_refuse(call, PC3202_BACKEND_RANGE,
				     "list_copy: source and target overlap");
	if (status == PCTL_OK)
		status = append(l, call, &c);
	return broken(l, status);
}

pctl_status pctl_null_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	const cmd c = {CMD_FILL, word, NULL, buf, 0, offset, n_bytes};
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	status = pctl_null_buffer_range(l->dev, call, buf, offset, n_bytes, PCTL_BUFFER_TRANSFER,
					"list_fill");
	if (status == PCTL_OK && !words(offset, 0, n_bytes))
		status = pctl_refuse(call, PC3203_BACKEND_ALIGNMENT,
				     "list_fill: offsets and sizes are multiples of 4");
	if (status == PCTL_OK)
		status = append(l, call, &c);
	return broken(l, status);
}

pctl_status pctl_null_list_barrier(pctl_list *l, const pctl_call *call)
{
	return check_open(l, call); /* commands run in order: nothing to record */
}

pctl_status pctl_null_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot)
{
	const cmd c = {.kind = CMD_TIMESTAMP, .word = slot};
	pctl_status status = check_open(l, call);

	if (status != PCTL_OK)
		return status;
	if (slot >= PCTL_NULL_TIMESTAMPS)
		status = pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				     "timestamp slot %u; 0 to %u are there", slot,
				     PCTL_NULL_TIMESTAMPS - 1);
	if (status == PCTL_OK)
		status = append(l, call, &c);
	return broken(l, status);
}

pctl_status pctl_null_list_end(pctl_list *l, const pctl_call *call)
{
	pctl_status status = check_open(l, call);

	if (status == PCTL_OK)
		l->state = LIST_CLOSED;
	return status;
}

void pctl_null_list_destroy(pctl_device *dev, pctl_list *l)
{
	if (!dev || !l || l->dev != dev)
		return;
	for (uint32_t i = 0; i < l->n_cmds; i++) {
		pctl_null_buffer_release(l->cmds[i].from);
		pctl_null_buffer_release(l->cmds[i].to);
	}
	free(l->cmds);
	free(l);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void run(pctl_completion *done, const cmd *c, uint64_t *first_stamp)
{
	uint64_t now;

	switch (c->kind) {
	case CMD_COPY:
		memcpy(c->to->data + c->to_offset, c->from->data + c->from_offset, c->n_bytes);
		break;
	case CMD_FILL:
		for (uint64_t i = 0; i < c->n_bytes; i += 4)
			memcpy(c->to->data + c->to_offset + i, &c->word, 4);
		break;
	default:
		now = now_ns();
		if (*first_stamp == 0)
			*first_stamp = now;
		done->timestamps[c->word] = now - *first_stamp;
		if (done->n_timestamps <= c->word)
			done->n_timestamps = c->word + 1;
		break;
	}
}

pctl_status pctl_null_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			     uint64_t *ticket)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion), .done = 1};
	const uint64_t start = now_ns();
	uint64_t first_stamp = 0;

	if (!dev || !l || l->dev != dev || !ticket)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "submit: no list of this device, or no ticket");
	*ticket = 0;
	if (l->state != LIST_CLOSED)
		return pctl_refuse(call, PC3213_LIST_STATE,
				   "submit: the list was not ended, or is in error");
	for (uint32_t n = 0; n < times; n++) {
		/* Errors of submit leave nothing under way. */
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC3216_SUBMIT_CANCELLED,
					   "the submit was stopped before its end");
		for (uint32_t i = 0; i < l->n_cmds; i++)
			run(&done, &l->cmds[i], &first_stamp);
	}
	done.device_ns = now_ns() - start;
	dev->completion = done;
	dev->handed_out = 0;
	*ticket = ++dev->last_ticket;
	return PCTL_OK;
}

pctl_status pctl_null_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			   uint64_t timeout_ns, pctl_completion *out)
{
	(void)timeout_ns; /* it is done already */
	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "wait: a pointer is missing");
	*out = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	if (ticket == 0 || ticket > dev->last_ticket ||
	    (ticket == dev->last_ticket && dev->handed_out))
		return pctl_refuse(call, PC3214_TICKET_UNKNOWN, "wait: no submit has ticket %llu",
				   (unsigned long long)ticket);
	if (ticket == dev->last_ticket) {
		*out = dev->completion;
		dev->handed_out = 1;
	} else {
		out->done = 1; /* an older one: done, its times are gone */
	}
	return PCTL_OK;
}

void pctl_null_cancel(pctl_device *dev, uint64_t ticket)
{
	(void)dev;
	(void)ticket; /* a ticket exists only once its work is done */
}
