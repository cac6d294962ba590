/* The plugin's symbol, its one device and the answers that need no running: identity, limits,
 * support, findings and counts. */
#include "runtime/device.h"
#include "kernels/elementary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pctl_status devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	if (!inst || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "devices: a pointer is missing");
	*n_out = 1;
	if (capacity == 0)
		return PCTL_OK;
	*out = (pctl_device_info){.head = PCTL_HEAD(pctl_device_info),
				  .kind = PCTL_DEVICE_REFERENCE};
	snprintf(out->name, sizeof(out->name), "pipectl lockstep interpreter");
	snprintf(out->driver, sizeof(out->driver), "pipectl-cpu %s", PIPECTL_VERSION);
	return PCTL_OK;
}

static pctl_status device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				   pctl_key_value *out, uint32_t *n_out)
{
	static const char *const facts[][2] = {
		{"vendor", "pipectl"},	   {"device", "lockstep interpreter"},
		{"driver", "pipectl-cpu"}, {"driver-version", PIPECTL_VERSION},
		{"compiler", __VERSION__}, {"api", PCTL_BACKEND_INTERFACE},
		{"semantics", "1"}};
	const uint32_t n = sizeof(facts) / sizeof(facts[0]);

	if (!dev || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_identity: a pointer is missing");
	*n_out = n;
	for (uint32_t i = 0; i < n && i < capacity; i++) {
		memset(&out[i], 0, sizeof(out[i]));
		snprintf(out[i].key, sizeof(out[i].key), "%s", facts[i][0]);
		snprintf(out[i].value, sizeof(out[i].value), "%s", facts[i][1]);
	}
	return PCTL_OK;
}

static pctl_status device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_caps: a pointer is missing");
	*out = (pctl_device_caps){
		.head = PCTL_HEAD(pctl_device_caps),
		.caps = PCTL_CPU_CAPS,
		.memory_bytes = dev->memory_bytes,
		.max_binding_bytes = PCTL_CPU_MAX_BINDING_BYTES,
		.max_buffer_bytes = dev->memory_bytes,
		.binding_alignment = PCTL_CPU_BINDING_ALIGNMENT,
		.max_groups = {PCTL_CPU_MAX_GROUPS, PCTL_CPU_MAX_GROUPS, PCTL_CPU_MAX_GROUPS},
		.max_local = {PCTL_CPU_MAX_INVOCATIONS, PCTL_CPU_MAX_INVOCATIONS,
			      PCTL_CPU_MAX_INVOCATIONS},
		.max_invocations = PCTL_CPU_MAX_INVOCATIONS,
		.max_workgroup_bytes = PCTL_CPU_MAX_WORKGROUP_BYTES,
		.max_bindings = PCTL_CPU_MAX_BINDINGS,
		.timestamp_ns_den = 1,
	};
	return PCTL_OK;
}

/* A sink that turns the first diagnostic into the answer of `supports`. */
static void keep_reason(void *ctx, const pctl_diag *d)
{
	pctl_support *out = ctx;

	if (out->code)
		return;
	out->code = d->code;
	snprintf(out->reason, sizeof(out->reason), "%s", d->message);
}

static pctl_status supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			    uint64_t n, pctl_support *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call), .ctx = out, .diag = keep_reason};
	pctl_program *p = NULL;
	pctl_status status;

	if (!dev || !out || (!wire && n))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "supports: a pointer is missing");
	*out = (pctl_support){.head = PCTL_HEAD(pctl_support)};
	status = pctl_program_decode(wire, n, &quiet, &p);
	if (status == PCTL_OK)
		status = pctl_cpu_check(p, &quiet);
	pctl_program_destroy(p);
	out->supported = status == PCTL_OK;
	if (status == PCTL_E_NOMEM)
		return pctl_refuse(call, PC2_NOMEM, "no memory to look at the program");
	return PCTL_OK;
}

pctl_status pctl_cpu_findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			      pctl_finding *out, uint32_t *n_out)
{
	if (!dev || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "findings: a pointer is missing");
	*n_out = 0;
	pctl_cpu_idle(dev);
	if (!dev->sanitizer)
		return PCTL_OK;
	*n_out = dev->sanitizer->n_findings;
	for (uint32_t i = 0; i < *n_out && i < capacity; i++)
		out[i] = dev->sanitizer->findings[i];
	/* A caller that only asked how many there are gets them with the next call. */
	if (capacity >= *n_out)
		dev->sanitizer->n_findings = 0;
	return PCTL_OK;
}

pctl_status pctl_cpu_counts(pctl_device *dev, const pctl_call *call, pctl_counts *out)
{
	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "counts: a pointer is missing");
	pctl_cpu_idle(dev);
	*out = (pctl_counts){.head = PCTL_HEAD(pctl_counts)};
	if (!dev->counts)
		return PCTL_OK;
	*out = *dev->counts;
	out->head = (pctl_head)PCTL_HEAD(pctl_counts);
	memset(dev->counts, 0, sizeof(*dev->counts));
	return PCTL_OK;
}

static uint64_t physical_memory(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 1ull << 30;
}

static void device_free(pctl_device *dev)
{
	pctl_cpu_pool_destroy(dev->pool);
	pctl_cpu_sanitizer_destroy(dev->sanitizer);
	pthread_cond_destroy(&dev->work);
	pthread_cond_destroy(&dev->done);
	pthread_mutex_destroy(&dev->lock);
	free(dev->counts);
	free(dev->nothing);
	free(dev);
}

pctl_status pctl_cpu_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				 pctl_device **out)
{
	pthread_condattr_t attr;
	pctl_device *dev;

	if (!inst || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_open: a pointer is missing");
	*out = NULL;
	if (index != 0)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_open: there is no device %u", index);
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return pctl_no_memory(call, "a device");
	dev->inst = inst;
	dev->k = pctl_cpu_kernels_best();
	dev->n_threads = pctl_cpu_elementary_threads() ? pctl_cpu_pool_processors() : 1;
	dev->memory_bytes = physical_memory();
	pthread_mutex_init(&dev->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&dev->work, &attr);
	pthread_cond_init(&dev->done, &attr);
	pthread_condattr_destroy(&attr);
	dev->nothing = calloc(1, 64);
	dev->pool = pctl_cpu_pool_create(dev->n_threads);
	if (!dev->nothing || !dev->pool ||
	    pthread_create(&dev->runner, NULL, pctl_cpu_runner, dev) != 0) {
		device_free(dev);
		return pctl_refuse(call, PC2_NOMEM, "no memory or threads for a device");
	}
	*out = dev;
	return PCTL_OK;
}

void pctl_cpu_device_close(pctl_device *dev)
{
	if (!dev)
		return;
	pthread_mutex_lock(&dev->lock);
	dev->stop = 1;
	pthread_cond_signal(&dev->work);
	pthread_mutex_unlock(&dev->lock);
	pthread_join(dev->runner, NULL);
	while (dev->tickets) {
		pctl_cpu_ticket *t = dev->tickets;

		dev->tickets = t->next;
		free(t);
	}
	device_free(dev);
}

static const pctl_backend backend = {
	.head = PCTL_HEAD(pctl_backend),
	.devices = devices,
	.device_open = pctl_cpu_device_open,
	.device_close = pctl_cpu_device_close,
	.device_identity = device_identity,
	.device_caps = device_caps,
	.supports = supports,
	.buffer_create = pctl_cpu_buffer_create,
	.buffer_destroy = pctl_cpu_buffer_destroy,
	.buffer_write = pctl_cpu_buffer_write,
	.buffer_read = pctl_cpu_buffer_read,
	.kernel_build = pctl_cpu_kernel_build,
	.kernel_destroy = pctl_cpu_kernel_destroy,
	.list_begin = pctl_cpu_list_begin,
	.list_dispatch = pctl_cpu_list_dispatch,
	.list_dispatch_indirect = pctl_cpu_list_dispatch_indirect,
	.list_copy = pctl_cpu_list_copy,
	.list_fill = pctl_cpu_list_fill,
	.list_barrier = pctl_cpu_list_barrier,
	.list_timestamp = pctl_cpu_list_timestamp,
	.list_end = pctl_cpu_list_end,
	.list_destroy = pctl_cpu_list_destroy,
	.submit = pctl_cpu_submit,
	.wait = pctl_cpu_wait,
	.cancel = pctl_cpu_cancel,
	.findings = pctl_cpu_findings,
	.counts = pctl_cpu_counts,
};

static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	if (!out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "open: a pointer is missing");
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return pctl_no_memory(call, "an instance");
	(*out)->host = host;
	return PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	return inst && name && strcmp(name, PCTL_BACKEND_INTERFACE) == 0 ? &backend : NULL;
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = "cpu",
	.version = PIPECTL_VERSION,
	.build_flags = PCTL_BUILD_FLAGS,
	.open = plugin_open,
	.close = plugin_close,
	.interface = plugin_interface,
};
