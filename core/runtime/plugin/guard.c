/* The table before a backend's own; see guard.h. Instances, devices and lists are its own objects around the backend's;
 * buffers, kernels and tickets pass through. */
#include "runtime/plugin/guard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/ipc/protocol.h"
#include "runtime/ipc/words.h"

#define DIAGS_MAX 64u /* of one call; a backend that says more is cut off */
#define MOST_RECORDS 4096u

struct pctl_guard {
	pctl_backend table;
	const pctl_backend *inner;
	pctl_instance *inst;
	char *id;
	int stamp;
};

typedef struct guarded_device {
	pctl_guard *g;
	pctl_device *dev;
	pctl_device_caps caps; /* as they were judged: a second answer is not asked for */
} guarded_device;

typedef struct guarded_list {
	pctl_guard *g;
	pctl_list *l;
} guarded_list;

/* ---- one call ----------------------------------------------------------------------------------- */

typedef struct said {
	pctl_call call;
	const pctl_call *outer;
	const pctl_guard *g;
	uint32_t n, n_errors;
} said;

static void hear(void *ctx, const pctl_diag *d)
{
	said *s = ctx;

	if (s->n++ >= DIAGS_MAX)
		return;
	s->n_errors += d->severity >= PCTL_SEVERITY_ERROR;
	if (s->g->stamp)
		pctl_words_emit(s->g->id, d, s->outer);
	else
		(void)pctl_emit(s->outer, d);
}

static uint32_t hear_cancelled(void *ctx)
{
	const said *s = ctx;

	return pctl_is_cancelled(s->outer);
}

/* The call to hand on; a caller that wants no words gets none. */
static const pctl_call *begin(said *s, const pctl_guard *g, const pctl_call *outer)
{
	*s = (said){.outer = outer, .g = g};
	if (outer == NULL)
		return NULL;
	s->call = *outer;
	s->call.ctx = s;
	s->call.diag = hear;
	s->call.cancelled = outer->cancelled == NULL ? NULL : hear_cancelled;
	return &s->call;
}

static pctl_status breach(const said *s, const char *what)
{
	return pctl_refuse(s->outer, PC3108_WORKER_CONTRACT, "plugin \"%s\": %s", s->g->id, what);
}

static pctl_status end(const said *s, const char *what, pctl_status status)
{
	if (!pctl_ipc_status_known(status))
		return pctl_refuse(s->outer, PC3108_WORKER_CONTRACT,
				   "plugin \"%s\" answered %s with the unknown status %" PRId32,
				   s->g->id, what, status);
	if (status != PCTL_OK && status != PCTL_E_CANCELLED && s->n_errors == 0)
		(void)pctl_refuse(s->outer, PC3118_WORKER_WORDLESS,
				  "plugin \"%s\" failed in %s with status %s and gave no reason",
				  s->g->id, what, pctl_status_name(status));
	return status;
}

/* The same for a call that makes something. */
static pctl_status made(const said *s, const char *what, pctl_status status, const void *thing)
{
	status = end(s, what, status);
	return status == PCTL_OK && thing == NULL ? breach(s, "answered OK, but made nothing")
						  : status;
}

/* ---- devices ------------------------------------------------------------------------------------ */

static pctl_guard *of_instance(pctl_instance *inst)
{
	return (pctl_guard *)(void *)inst;
}

static guarded_device *of_device(pctl_device *dev)
{
	return (guarded_device *)(void *)dev;
}

static guarded_list *of_list(pctl_list *l)
{
	return (guarded_list *)(void *)l;
}

/* A name as it may be shown and stored. PC3234 when it is no text. */
static pctl_status judge_text(const said *s, const char *what, char *field, size_t size)
{
	char clean[PCTL_NAME_MAX];

	if (!pctl_words_valid(field, size))
		return pctl_refuse(
			s->outer, PC3234_DEVICE_TEXT,
			"plugin \"%s\": %s of a device is not UTF-8 that ends within %zu "
			"bytes",
			s->g->id, what, size);
	pctl_words_clean(field, clean, size < sizeof(clean) ? size : sizeof(clean));
	memcpy(field, clean, strlen(clean) + 1);
	return PCTL_OK;
}

static pctl_status do_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			      pctl_device_info *out, uint32_t *n_out)
{
	pctl_guard *g = of_instance(inst);
	said s;
	pctl_status status;

	*n_out = 0;
	status = g->inner->devices(g->inst, begin(&s, g, call), capacity, out, n_out);
	status = end(&s, "devices", status);
	if (status == PCTL_OK && *n_out > MOST_RECORDS)
		status = breach(&s, "has more devices than there can be");
	for (uint32_t i = 0; status == PCTL_OK && i < *n_out && i < capacity; i++) {
		if (out[i].kind > PCTL_DEVICE_DISCRETE)
			status = pctl_refuse(call, PC3233_DEVICE_CAPS,
					     "plugin \"%s\": kind of a device is %" PRIu32
					     ", allowed is 0 to %d",
					     g->id, out[i].kind, PCTL_DEVICE_DISCRETE);
		if (status == PCTL_OK)
			status = judge_text(&s, "the name", out[i].name, sizeof(out[i].name));
		if (status == PCTL_OK)
			status = judge_text(&s, "the driver", out[i].driver, sizeof(out[i].driver));
	}
	return status;
}

static pctl_status judge_device(guarded_device *d, const pctl_call *call)
{
	const pctl_backend *t = d->g->inner;
	said s;
	pctl_status status;

	d->caps = (pctl_device_caps){.head = PCTL_HEAD(pctl_device_caps)};
	status = t->device_caps(d->dev, begin(&s, d->g, call), &d->caps);
	status = end(&s, "device_caps", status);
	return status == PCTL_OK ? pctl_guard_check_caps(d->g->id, &d->caps, call) : status;
}

static pctl_status do_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				  pctl_device **out)
{
	pctl_guard *g = of_instance(inst);
	guarded_device *d = calloc(1, sizeof(*d));
	said s;
	pctl_status status;

	*out = NULL;
	if (d == NULL)
		return pctl_no_memory(call, "a device");
	d->g = g;
	status = g->inner->device_open(g->inst, begin(&s, g, call), index, &d->dev);
	status = made(&s, "device_open", status, d->dev);
	if (status == PCTL_OK) {
		status = judge_device(d, call);
		if (status != PCTL_OK)
			g->inner->device_close(d->dev);
	}
	if (status != PCTL_OK) {
		free(d);
		return status;
	}
	*out = (pctl_device *)(void *)d;
	return PCTL_OK;
}

static void do_device_close(pctl_device *dev)
{
	guarded_device *d = of_device(dev);

	d->g->inner->device_close(d->dev);
	free(d);
}

static pctl_status do_device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				      pctl_key_value *out, uint32_t *n_out)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status;

	*n_out = 0;
	status = d->g->inner->device_identity(d->dev, begin(&s, d->g, call), capacity, out, n_out);
	status = end(&s, "device_identity", status);
	if (status == PCTL_OK && *n_out > MOST_RECORDS)
		status = breach(&s, "has more facts than there can be");
	for (uint32_t i = 0; status == PCTL_OK && i < *n_out && i < capacity; i++) {
		status = judge_text(&s, "a fact's name", out[i].key, sizeof(out[i].key));
		if (status == PCTL_OK)
			status = judge_text(&s, "a fact", out[i].value, sizeof(out[i].value));
	}
	return status;
}

static pctl_status do_device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	(void)call;
	*out = of_device(dev)->caps;
	return PCTL_OK;
}

static pctl_status do_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			       uint64_t n, pctl_support *out)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status = d->g->inner->supports(d->dev, begin(&s, d->g, call), wire, n, out);

	status = end(&s, "supports", status);
	if (status == PCTL_OK && !out->supported)
		status = judge_text(&s, "a reason", out->reason, sizeof(out->reason));
	if (status == PCTL_OK && !out->supported && out->reason[0] == '\0')
		status = breach(&s, "does not support a program and gives no reason");
	return status;
}

/* ---- buffers and kernels ------------------------------------------------------------------------ */

static pctl_status do_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				    uint32_t usage, pctl_buffer **out)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status;

	*out = NULL;
	status = d->g->inner->buffer_create(d->dev, begin(&s, d->g, call), n_bytes, usage, out);
	return made(&s, "buffer_create", status, *out);
}

static void do_buffer_destroy(pctl_device *dev, pctl_buffer *buf)
{
	of_device(dev)->g->inner->buffer_destroy(of_device(dev)->dev, buf);
}

static pctl_status do_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				   uint64_t offset, const void *data, uint64_t n_bytes)
{
	guarded_device *d = of_device(dev);
	said s;
	const pctl_status status = d->g->inner->buffer_write(d->dev, begin(&s, d->g, call), buf,
							     offset, data, n_bytes);

	return end(&s, "buffer_write", status);
}

static pctl_status do_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				  uint64_t offset, void *data, uint64_t n_bytes)
{
	guarded_device *d = of_device(dev);
	said s;
	const pctl_status status =
		d->g->inner->buffer_read(d->dev, begin(&s, d->g, call), buf, offset, data, n_bytes);

	return end(&s, "buffer_read", status);
}

static pctl_status do_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				   uint64_t n, uint32_t flags, const void *cache,
				   uint64_t cache_bytes, pctl_kernel **out)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status;

	*out = NULL;
	status = d->g->inner->kernel_build(d->dev, begin(&s, d->g, call), wire, n, flags, cache,
					   cache_bytes, out);
	return made(&s, "kernel_build", status, *out);
}

static pctl_status do_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				   uint64_t capacity, void *out, uint64_t *n_out)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status;

	*n_out = 0;
	status = d->g->inner->kernel_cache(d->dev, begin(&s, d->g, call), k, capacity, out, n_out);
	return end(&s, "kernel_cache", status);
}

static pctl_status do_kernel_source(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				    uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				    char *language)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status;

	*n_out = 0;
	language[0] = '\0';
	status = d->g->inner->kernel_source(d->dev, begin(&s, d->g, call), wire, n, capacity, out,
					    n_out, language);
	status = end(&s, "kernel_source", status);
	return status == PCTL_OK ? judge_text(&s, "the language", language, PCTL_NAME_MAX) : status;
}

static void do_kernel_destroy(pctl_device *dev, pctl_kernel *k)
{
	of_device(dev)->g->inner->kernel_destroy(of_device(dev)->dev, k);
}

/* ---- lists -------------------------------------------------------------------------------------- */

static pctl_status do_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	guarded_device *d = of_device(dev);
	guarded_list *l = calloc(1, sizeof(*l));
	said s;
	pctl_status status;

	*out = NULL;
	if (l == NULL)
		return pctl_no_memory(call, "a list");
	l->g = d->g;
	status = d->g->inner->list_begin(d->dev, begin(&s, d->g, call), &l->l);
	status = made(&s, "list_begin", status, l->l);
	if (status != PCTL_OK)
		free(l);
	else
		*out = (pctl_list *)(void *)l;
	return status;
}

static pctl_status do_list_dispatch(pctl_list *list, const pctl_call *call, pctl_kernel *k,
				    const pctl_binding *bindings, uint32_t n_bindings,
				    const uint32_t groups[3])
{
	guarded_list *l = of_list(list);
	said s;
	const pctl_status status = l->g->inner->list_dispatch(l->l, begin(&s, l->g, call), k,
							      bindings, n_bindings, groups);

	return end(&s, "list_dispatch", status);
}

static pctl_status do_list_dispatch_indirect(pctl_list *list, const pctl_call *call, pctl_kernel *k,
					     const pctl_binding *bindings, uint32_t n_bindings,
					     pctl_buffer *buf, uint64_t offset,
					     const uint32_t limit[3])
{
	guarded_list *l = of_list(list);
	said s;
	const pctl_status status = l->g->inner->list_dispatch_indirect(
		l->l, begin(&s, l->g, call), k, bindings, n_bindings, buf, offset, limit);

	return end(&s, "list_dispatch_indirect", status);
}

static pctl_status do_list_copy(pctl_list *list, const pctl_call *call, pctl_buffer *from,
				uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
				uint64_t n_bytes)
{
	guarded_list *l = of_list(list);
	said s;
	const pctl_status status = l->g->inner->list_copy(l->l, begin(&s, l->g, call), from,
							  from_offset, to, to_offset, n_bytes);

	return end(&s, "list_copy", status);
}

static pctl_status do_list_fill(pctl_list *list, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	guarded_list *l = of_list(list);
	said s;
	const pctl_status status =
		l->g->inner->list_fill(l->l, begin(&s, l->g, call), buf, offset, n_bytes, word);

	return end(&s, "list_fill", status);
}

static pctl_status do_list_barrier(pctl_list *list, const pctl_call *call)
{
	guarded_list *l = of_list(list);
	said s;
	const pctl_status status = l->g->inner->list_barrier(l->l, begin(&s, l->g, call));

	return end(&s, "list_barrier", status);
}

static pctl_status do_list_timestamp(pctl_list *list, const pctl_call *call, uint32_t slot)
{
	guarded_list *l = of_list(list);
	said s;
	const pctl_status status = l->g->inner->list_timestamp(l->l, begin(&s, l->g, call), slot);

	return end(&s, "list_timestamp", status);
}

static pctl_status do_list_end(pctl_list *list, const pctl_call *call)
{
	guarded_list *l = of_list(list);
	said s;
	const pctl_status status = l->g->inner->list_end(l->l, begin(&s, l->g, call));

	return end(&s, "list_end", status);
}

static void do_list_destroy(pctl_device *dev, pctl_list *list)
{
	guarded_list *l = of_list(list);

	if (l == NULL)
		return;
	l->g->inner->list_destroy(of_device(dev)->dev, l->l);
	free(l);
}

/* ---- running ------------------------------------------------------------------------------------ */

static pctl_status do_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			     uint64_t *ticket)
{
	guarded_device *d = of_device(dev);
	said s;
	const pctl_status status =
		d->g->inner->submit(d->dev, begin(&s, d->g, call), of_list(l)->l, times, ticket);

	return end(&s, "submit", status);
}

static pctl_status do_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			   uint64_t timeout_ns, pctl_completion *out)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status =
		d->g->inner->wait(d->dev, begin(&s, d->g, call), ticket, timeout_ns, out);

	status = end(&s, "wait", status);
	if (status == PCTL_OK &&
	    out->n_timestamps > sizeof(out->timestamps) / sizeof(out->timestamps[0]))
		status = breach(&s, "has more timestamps than there are slots");
	return status;
}

static void do_cancel(pctl_device *dev, uint64_t ticket)
{
	of_device(dev)->g->inner->cancel(of_device(dev)->dev, ticket);
}

static pctl_status do_findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			       pctl_finding *out, uint32_t *n_out)
{
	guarded_device *d = of_device(dev);
	said s;
	pctl_status status;

	*n_out = 0;
	status = d->g->inner->findings(d->dev, begin(&s, d->g, call), capacity, out, n_out);
	return end(&s, "findings", status);
}

static pctl_status do_counts(pctl_device *dev, const pctl_call *call, pctl_counts *out)
{
	guarded_device *d = of_device(dev);
	said s;
	const pctl_status status = d->g->inner->counts(d->dev, begin(&s, d->g, call), out);

	return end(&s, "counts", status);
}

/* ---- the guard ---------------------------------------------------------------------------------- */

static const pctl_backend guarded = {
	.head = PCTL_HEAD(pctl_backend),
	.devices = do_devices,
	.device_open = do_device_open,
	.device_close = do_device_close,
	.device_identity = do_device_identity,
	.device_caps = do_device_caps,
	.supports = do_supports,
	.buffer_create = do_buffer_create,
	.buffer_destroy = do_buffer_destroy,
	.buffer_write = do_buffer_write,
	.buffer_read = do_buffer_read,
	.kernel_build = do_kernel_build,
	.kernel_cache = do_kernel_cache,
	.kernel_destroy = do_kernel_destroy,
	.list_begin = do_list_begin,
	.list_dispatch = do_list_dispatch,
	.list_dispatch_indirect = do_list_dispatch_indirect,
	.list_copy = do_list_copy,
	.list_fill = do_list_fill,
	.list_barrier = do_list_barrier,
	.list_timestamp = do_list_timestamp,
	.list_end = do_list_end,
	.list_destroy = do_list_destroy,
	.submit = do_submit,
	.wait = do_wait,
	.cancel = do_cancel,
	.findings = do_findings,
	.counts = do_counts,
	.kernel_source = do_kernel_source,
};

pctl_status pctl_guard_create(const char *id, int stamp, const pctl_backend *table,
			      pctl_instance *inst, const pctl_call *call, pctl_guard **out)
{
	pctl_guard *g = calloc(1, sizeof(*g));

	*out = NULL;
	if (g == NULL || (g->id = strdup(id)) == NULL) {
		free(g);
		return pctl_no_memory(call, "a session");
	}
	g->table = guarded;
	g->inner = table;
	g->inst = inst;
	g->stamp = stamp;
	if (table->kernel_cache == NULL)
		g->table.kernel_cache = NULL;
	if (table->findings == NULL)
		g->table.findings = NULL;
	if (table->counts == NULL)
		g->table.counts = NULL;
	if (!PCTL_HAS(table, pctl_backend, kernel_source) || table->kernel_source == NULL)
		g->table.kernel_source = NULL;
	*out = g;
	return PCTL_OK;
}

void pctl_guard_destroy(pctl_guard *g)
{
	if (g == NULL)
		return;
	free(g->id);
	free(g);
}

const pctl_backend *pctl_guard_table(const pctl_guard *g)
{
	return &g->table;
}

pctl_instance *pctl_guard_instance(pctl_guard *g)
{
	return (pctl_instance *)(void *)g;
}
