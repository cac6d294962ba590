/* A backend that lies: the reference interpreter's devices, four of them, of which "liar" and "liar reference" go wrong
 * where the environment variable PIPECTL_LIAR says. Lists are kept here and played one command after another, so that
 * a fault stands exactly behind one step.
 *
 *   PIPECTL_LIAR="flip JOB ROUND STEP GROUP.BINDING ELEMENT BIT FROM TO"
 *   PIPECTL_LIAR="crash JOB ROUND STEP 0.0 0 0 FROM TO"
 *
 * flips a bit of a 32-bit element after the step (from 1; 0: the last there is), or kills this process. FROM and TO:
 * of the device's openings that ran something since the text changed, from 1, those in which it does so. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipectl/backend.h"

enum { N_DEVICES = 4, MOST_DEVICES = 16 };

static const struct {
	const char *name;
	uint32_t kind, lies;
} devices_[N_DEVICES] = {{"honest one", PCTL_DEVICE_OTHER, 0},
			 {"liar", PCTL_DEVICE_OTHER, 1},
			 {"honest two", PCTL_DEVICE_OTHER, 0},
			 {"false reference", PCTL_DEVICE_REFERENCE, 1}};

struct spec {
	char what[16], job[64];
	uint32_t round, step, group, binding, bit, from, to;
	uint64_t element;
};

static const pctl_plugin *inner_plugin;
static const pctl_backend *inner;
static pctl_backend table;
static char last_text[256];
static uint32_t openings;
static uint64_t last_ticket;

/* Opened devices that lie, and with what number. */
static struct {
	pctl_device *dev;
	uint32_t opening;
} opened[MOST_DEVICES];

enum { DISPATCH, COPY, FILL, BARRIER };

typedef struct command {
	uint32_t what, word, n_bindings;
	pctl_kernel *kernel;
	pctl_binding bindings[16];
	uint32_t groups[3];
	pctl_buffer *from, *to;
	uint64_t from_offset, to_offset, n_bytes;
} command;

struct pctl_list {
	pctl_device *dev;
	command *commands;
	uint32_t n;
};

static int read_spec(struct spec *s)
{
	const char *text = getenv("PIPECTL_LIAR");
	unsigned long long element;

	if (text == NULL ||
	    sscanf(text, "%15s %63s %u %u %u.%u %llu %u %u %u", s->what, s->job, &s->round,
		   &s->step, &s->group, &s->binding, &element, &s->bit, &s->from, &s->to) != 10)
		return 0;
	s->element = element;
	return 1;
}

static pctl_status list_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
				pctl_device_info *out, uint32_t *n_out)
{
	(void)inst;
	(void)call;
	for (uint32_t i = 0; i < N_DEVICES && i < capacity; i++) {
		out[i].kind = devices_[i].kind;
		strcpy(out[i].name, devices_[i].name);
		strcpy(out[i].driver, "interpreter in disguise 1");
	}
	*n_out = N_DEVICES;
	return PCTL_OK;
}

static pctl_status device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out)
{
	pctl_status status = inner->device_open(inst, call, 0, out);
	uint32_t i = 0;

	if (status != PCTL_OK || !devices_[index].lies)
		return status;
	while (i < MOST_DEVICES - 1 && opened[i].dev != NULL)
		i++;
	opened[i].dev = *out;
	opened[i].opening = 0;
	return PCTL_OK;
}

static void device_close(pctl_device *dev)
{
	for (uint32_t i = 0; i < MOST_DEVICES; i++)
		if (opened[i].dev == dev)
			opened[i].dev = NULL;
	inner->device_close(dev);
}

static pctl_status list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	(void)call;
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return PCTL_E_NOMEM;
	(*out)->dev = dev;
	return PCTL_OK;
}

static command *add(pctl_list *l, uint32_t what)
{
	l->commands = realloc(l->commands, (l->n + 1u) * sizeof(*l->commands));
	if (l->commands == NULL)
		abort();
	memset(&l->commands[l->n], 0, sizeof(*l->commands));
	l->commands[l->n].what = what;
	return &l->commands[l->n++];
}

static pctl_status list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				 const pctl_binding *bindings, uint32_t n, const uint32_t groups[3])
{
	command *c;

	if (n > 16)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "%u bindings", n);
	c = add(l, DISPATCH);
	c->kernel = k;
	c->n_bindings = n;
	memcpy(c->bindings, bindings, n * sizeof(*bindings));
	memcpy(c->groups, groups, sizeof(c->groups));
	return PCTL_OK;
}

static pctl_status list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			     uint64_t from_offset, pctl_buffer *to, uint64_t to_offset, uint64_t n)
{
	command *c = add(l, COPY);

	(void)call;
	c->from = from;
	c->from_offset = from_offset;
	c->to = to;
	c->to_offset = to_offset;
	c->n_bytes = n;
	return PCTL_OK;
}

static pctl_status list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *b, uint64_t offset,
			     uint64_t n, uint32_t word)
{
	command *c = add(l, FILL);

	(void)call;
	c->to = b;
	c->to_offset = offset;
	c->n_bytes = n;
	c->word = word;
	return PCTL_OK;
}

static pctl_status list_barrier(pctl_list *l, const pctl_call *call)
{
	(void)call;
	add(l, BARRIER);
	return PCTL_OK;
}

static pctl_status list_end(pctl_list *l, const pctl_call *call)
{
	(void)l;
	(void)call;
	return PCTL_OK;
}

static void list_destroy(pctl_device *dev, pctl_list *l)
{
	(void)dev;
	free(l->commands);
	free(l);
}

static pctl_status play(pctl_device *dev, const pctl_call *call, const command *c)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket;
	pctl_list *l;
	pctl_status status = inner->list_begin(dev, call, &l);

	if (status != PCTL_OK)
		return status;
	if (c->what == DISPATCH)
		status = inner->list_dispatch(l, call, c->kernel, c->bindings, c->n_bindings,
					      c->groups);
	else if (c->what == COPY)
		status = inner->list_copy(l, call, c->from, c->from_offset, c->to, c->to_offset,
					  c->n_bytes);
	else if (c->what == FILL)
		status = inner->list_fill(l, call, c->to, c->to_offset, c->n_bytes, c->word);
	if (status == PCTL_OK)
		status = inner->list_end(l, call);
	if (status == PCTL_OK)
		status = inner->submit(dev, call, l, 1, &ticket);
	while (status == PCTL_OK && !done.done)
		status = inner->wait(dev, call, ticket, 1000000000u, &done);
	inner->list_destroy(dev, l);
	return status;
}

static pctl_status flip(pctl_device *dev, const pctl_call *call, const command *c,
			const struct spec *s)
{
	for (uint32_t i = 0; i < c->n_bindings; i++) {
		const pctl_binding *b = &c->bindings[i];
		uint64_t at = b->offset + 4 * s->element;
		uint32_t word;
		pctl_status status;

		if (b->group != s->group || b->binding != s->binding ||
		    4 * s->element + 4 > b->n_bytes)
			continue;
		status = inner->buffer_read(dev, call, b->buffer, at, &word, 4);
		word ^= 1u << s->bit;
		return status == PCTL_OK ? inner->buffer_write(dev, call, b->buffer, at, &word, 4)
					 : status;
	}
	return PCTL_OK;
}

/* The number of this opening, given at its first submit: devices are opened to be listed, too. 0: it is honest. */
static uint32_t opening_of(const pctl_device *dev)
{
	const char *text = getenv("PIPECTL_LIAR");
	uint32_t i = 0;

	while (i < MOST_DEVICES && opened[i].dev != dev)
		i++;
	if (i == MOST_DEVICES)
		return 0;
	if (strncmp(last_text, text == NULL ? "" : text, sizeof(last_text) - 1) != 0) {
		strncpy(last_text, text == NULL ? "" : text, sizeof(last_text) - 1);
		openings = 0;
	}
	if (opened[i].opening == 0)
		opened[i].opening = ++openings;
	return opened[i].opening;
}

/* Is this the submit to lie in, and behind which of its commands (from 1). */
static uint32_t lies_after(const pctl_device *dev, const pctl_call *call, const pctl_list *l,
			   const struct spec *s)
{
	uint32_t steps = 0, i, opening = opening_of(dev);

	if (opening == 0 || opening < s->from || opening > s->to || call->trace_id == 0 ||
	    PCTL_TRACE_JOB(call->trace_id) != pctl_trace_job(s->job) ||
	    PCTL_TRACE_ROUND(call->trace_id) != s->round)
		return 0;
	/* Alone, a step stands at the end of its list. */
	if (PCTL_TRACE_STEP(call->trace_id) != 0)
		return PCTL_TRACE_STEP(call->trace_id) == s->step || s->step == 0 ? l->n : 0;
	if (s->step == 0)
		return l->n;
	for (i = 0; i < l->n; i++) {
		steps += l->commands[i].what != BARRIER;
		if (steps == s->step)
			return i + 1;
	}
	return 0;
}

/* Everything is done when submit returns. */
static pctl_status wait_(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			 uint64_t timeout_ns, pctl_completion *out)
{
	(void)dev;
	(void)call;
	(void)ticket;
	(void)timeout_ns;
	out->done = 1;
	return PCTL_OK;
}

static void cancel(pctl_device *dev, uint64_t ticket)
{
	(void)dev;
	(void)ticket;
}

static pctl_status submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *ticket)
{
	struct spec s = {.round = 0};
	uint32_t after = read_spec(&s) ? lies_after(dev, call, l, &s) : 0;
	pctl_status status = PCTL_OK;

	for (uint32_t t = 0; t < times; t++) {
		for (uint32_t i = 0; i < l->n && status == PCTL_OK; i++) {
			if (l->commands[i].what != BARRIER)
				status = play(dev, call, &l->commands[i]);
			if (status != PCTL_OK || i + 1 != after)
				continue;
			if (strcmp(s.what, "crash") == 0)
				raise(SIGKILL);
			status = flip(dev, call, &l->commands[i], &s);
		}
	}
	*ticket = ++last_ticket;
	return status;
}

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	void *library = dlopen(LIAR_INNER, RTLD_NOW | RTLD_LOCAL);
	pctl_status status;

	*out = NULL;
	inner_plugin = library == NULL ? NULL : dlsym(library, PCTL_PLUGIN_SYMBOL);
	if (inner_plugin == NULL)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "no reference to lie about");
	status = inner_plugin->open(host, call, out);
	if (status != PCTL_OK)
		return status;
	inner = inner_plugin->interface(*out, PCTL_BACKEND_INTERFACE);
	table = *inner;
	table.devices = list_devices;
	table.device_open = device_open;
	table.device_close = device_close;
	table.list_begin = list_begin;
	table.list_dispatch = list_dispatch;
	table.list_copy = list_copy;
	table.list_fill = list_fill;
	table.list_barrier = list_barrier;
	table.list_end = list_end;
	table.list_destroy = list_destroy;
	table.submit = submit;
	table.wait = wait_;
	table.cancel = cancel;
	return PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	inner_plugin->close(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	(void)inst;
	return strcmp(name, PCTL_BACKEND_INTERFACE) == 0 ? &table : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	PCTL_HEAD(pctl_plugin), "liar",		  "1.0", PCTL_BUILD_FLAGS, 0, plugin_open,
	plugin_close,		plugin_interface,
};
