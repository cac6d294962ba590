/* The plugin's symbol, its one device and what it says of itself. Read from the bottom up. */
#include "runtime/mock.h"

#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64u

/* What was wrong with the script or the wrapped library when the instance was opened, told now. */
static pctl_status ready(pctl_instance *inst, const pctl_call *call)
{
	mock_script again;
	pctl_status s;

	if (inst->status == PCTL_OK)
		return PCTL_OK;
	s = mock_script_parse(inst->text, call, &again);
	if (s == PCTL_OK) {
		mock_inner_close(&inst->inner);
		s = mock_inner_open(inst, call);
	}
	return s != PCTL_OK ? s : inst->status;
}

static pctl_status inner_info(pctl_instance *inst, const pctl_call *call, pctl_device_info *out)
{
	pctl_device_info *all = calloc(DEVICES_MAX, sizeof(*all));
	pctl_status s;
	uint32_t n = 0;

	if (!all)
		return pctl_no_memory(call, "the devices");
	for (uint32_t i = 0; i < DEVICES_MAX; i++)
		all[i].head = (pctl_head)PCTL_HEAD(pctl_device_info);
	s = inst->inner.table->devices(inst->inner.inst, call, DEVICES_MAX, all, &n);
	if (s == PCTL_OK && (inst->inner.index >= n || inst->inner.index >= DEVICES_MAX))
		s = pctl_refuse(call, PC3281_MOCK_WRAP,
				"the wrapped backend has %u devices, and none of number %u", n,
				inst->inner.index);
	if (s == PCTL_OK)
		*out = all[inst->inner.index];
	free(all);
	return s;
}

static pctl_status devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			   pctl_device_info *out, uint32_t *n_out)
{
	pctl_device_info inner;
	pctl_status s;

	if (!inst || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "devices: a pointer is missing");
	*n_out = 0;
	s = ready(inst, call);
	if (s == PCTL_OK)
		s = inner_info(inst, call, &inner);
	if (s != PCTL_OK)
		return s;
	*n_out = 1;
	if (capacity == 0)
		return PCTL_OK;
	*out = inner;
	/* A mock is a device like others: legalised for, probed, judged. */
	if (inner.kind == PCTL_DEVICE_REFERENCE)
		out->kind = PCTL_DEVICE_CPU;
	for (uint32_t i = 0; i < inst->script.n; i++)
		if (inst->script.faults[i].kind == MOCK_GPU)
			out->kind = PCTL_DEVICE_DISCRETE;
	snprintf(out->name, sizeof(out->name), "mock of %.240s", inner.name);
	return PCTL_OK;
}

static pctl_status device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
			       pctl_device **out)
{
	pctl_device_info inner;
	pctl_device *dev;
	pctl_status s;

	if (!inst || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_open: a pointer is missing");
	*out = NULL;
	s = ready(inst, call);
	if (s == PCTL_OK && index != 0)
		s = pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "device_open: there is no device %u",
				index);
	if (s == PCTL_OK)
		s = inner_info(inst, call, &inner);
	if (s != PCTL_OK)
		return s;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return pctl_no_memory(call, "a device");
	dev->inst = inst;
	dev->t = inst->inner.table;
	dev->is_reference = inner.kind == PCTL_DEVICE_REFERENCE;
	s = dev->t->device_open(inst->inner.inst, call, inst->inner.index, &dev->inner);
	if (s != PCTL_OK) {
		free(dev);
		return s;
	}
	pthread_mutex_init(&dev->lock, NULL);
	*out = dev;
	return PCTL_OK;
}

static void device_close(pctl_device *dev)
{
	if (!dev)
		return;
	dev->t->device_close(dev->inner);
	while (dev->tickets) {
		mock_ticket *t = dev->tickets;

		dev->tickets = t->next;
		free(t);
	}
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

/* The inner device's facts and the script: no receipt, profile or certificate of a mock is ever the real device's. */
static pctl_status device_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				   pctl_key_value *out, uint32_t *n_out)
{
	const char *script;
	pctl_status s;
	uint32_t n = 0;

	if (!dev || !n_out || (capacity && !out))
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_identity: a pointer is missing");
	*n_out = 0;
	s = dev->t->device_identity(dev->inner, call, capacity, out, &n);
	if (s != PCTL_OK)
		return s;
	script = dev->inst->text && *dev->inst->text ? dev->inst->text : "alone";
	if (n < capacity) {
		memset(&out[n], 0, sizeof(out[n]));
		snprintf(out[n].key, sizeof(out[n].key), "mock");
		snprintf(out[n].value, sizeof(out[n].value), "%.255s", script);
		if (mock_has(dev, MOCK_DRIFT))
			snprintf(out[n].value, sizeof(out[n].value), "%.200s since %" PRIu64,
				 script, dev->inst->born_ns);
	}
	*n_out = n + 1;
	return PCTL_OK;
}

uint64_t mock_widest(const pctl_device *dev)
{
	uint64_t most = UINT64_MAX;

	for (uint32_t i = 0; i < dev->inst->script.n; i++)
		if (dev->inst->script.faults[i].kind == MOCK_NARROW &&
		    dev->inst->script.faults[i].value < most)
			most = dev->inst->script.faults[i].value;
	return most;
}

static pctl_status device_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out)
{
	int claims_all;
	pctl_status s;

	if (!dev || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT,
				   "device_caps: a pointer is missing");
	claims_all = mock_has(dev, MOCK_BRITTLE) || mock_has(dev, MOCK_STUCK);
	s = dev->t->device_caps(dev->inner, call, out);
	if (s == PCTL_OK && dev->is_reference) {
		out->caps |= PCTL_CAP_NATIVE_FLOAT | PCTL_CAP_F32;
		out->caps &= ~(PCTL_CAP_STRICT_FLOAT | PCTL_CAP_BF16);
	}
	/* The host asks only devices with an instruction of their own. */
	if (s == PCTL_OK && (mock_has(dev, MOCK_DOT4) || mock_has(dev, MOCK_PACKED) || claims_all))
		out->caps |= PCTL_CAP_DOT4;
	if (s == PCTL_OK && (mock_has(dev, MOCK_LANES) || mock_has(dev, MOCK_BALLOT) ||
			     mock_has(dev, MOCK_SINGLE) || claims_all))
		out->caps |= PCTL_CAP_SUBGROUPS;
	if (s == PCTL_OK && (mock_has(dev, MOCK_TURNED) || mock_has(dev, MOCK_UNSUMMED) ||
			     mock_has(dev, MOCK_REVERSED) || mock_has(dev, MOCK_TILES)))
		out->caps |= PCTL_CAP_SUBGROUPS | PCTL_CAP_TILES;
	if (s == PCTL_OK && mock_widest(dev) < out->max_binding_bytes)
		out->max_binding_bytes = mock_widest(dev);
	return s;
}

static pctl_status findings(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			    pctl_finding *out, uint32_t *n_out)
{
	return dev->t->findings(dev->inner, call, capacity, out, n_out);
}

static pctl_status counts(pctl_device *dev, const pctl_call *call, pctl_counts *out)
{
	return dev->t->counts(dev->inner, call, out);
}

/* Optional slots are there when the inner backend has them, and a cache only where nothing is changed before it. */
#define TABLE(cache_slot, findings_slot, counts_slot)                                            \
	{                                                                                        \
		.head = PCTL_HEAD(pctl_backend), .devices = devices, .device_open = device_open, \
		.device_close = device_close, .device_identity = device_identity,                \
		.device_caps = device_caps, .supports = mock_supports,                           \
		.buffer_create = mock_buffer_create, .buffer_destroy = mock_buffer_destroy,      \
		.buffer_write = mock_buffer_write, .buffer_read = mock_buffer_read,              \
		.kernel_build = mock_kernel_build, .kernel_cache = cache_slot,                   \
		.kernel_destroy = mock_kernel_destroy, .list_begin = mock_list_begin,            \
		.list_dispatch = mock_list_dispatch,                                             \
		.list_dispatch_indirect = mock_list_dispatch_indirect,                           \
		.list_copy = mock_list_copy, .list_fill = mock_list_fill,                        \
		.list_barrier = mock_list_barrier, .list_timestamp = mock_list_timestamp,        \
		.list_end = mock_list_end, .list_destroy = mock_list_destroy,                    \
		.submit = mock_submit, .wait = mock_wait, .cancel = mock_cancel,                 \
		.findings = findings_slot, .counts = counts_slot,                                \
	}
static const pctl_backend tables[2][2] = {
	{TABLE(NULL, NULL, NULL), TABLE(NULL, findings, counts)},
	{TABLE(mock_kernel_cache, NULL, NULL), TABLE(mock_kernel_cache, findings, counts)},
};

/* A script that cannot be read is no reason not to open: the device says what is wrong, with its code. */
static pctl_status plugin_open(const pctl_host *host, const pctl_call *call, pctl_instance **out)
{
	pctl_instance *inst;
	const char *text;

	if (!host || !out)
		return pctl_refuse(call, PC3201_BACKEND_ARGUMENT, "open: a pointer is missing");
	*out = NULL;
	inst = calloc(1, sizeof(*inst));
	if (!inst)
		return pctl_no_memory(call, "an instance");
	inst->born_ns = mock_now_ns();
	inst->host = host;
	text = mock_setting(host, "PIPECTL_SCRIPT", &inst->in_host);
	if (text && !(inst->text = strdup(text))) {
		free(inst);
		return pctl_no_memory(call, "an instance");
	}
	inst->status = mock_script_parse(inst->text, NULL, &inst->script);
	if (inst->status == PCTL_OK)
		inst->status = mock_inner_open(inst, NULL);
	*out = inst;
	return PCTL_OK;
}

static void plugin_close(pctl_instance *inst)
{
	if (!inst)
		return;
	mock_inner_close(&inst->inner);
	free(inst->text);
	free(inst);
}

static const void *plugin_interface(pctl_instance *inst, const char *name)
{
	const pctl_backend *t;

	if (!inst || !name || strcmp(name, PCTL_BACKEND_INTERFACE) != 0)
		return NULL;
	t = inst->status == PCTL_OK ? inst->inner.table : &mock_synthetic;
	return &tables[t->kernel_cache && !inst->script.mutates][t->findings && t->counts];
}

PCTL_EXPORT const pctl_plugin pctl_plugin_v1 = {
	.head = PCTL_HEAD(pctl_plugin),
	.id = "mock",
	.version = PIPECTL_VERSION,
	.build_flags = PCTL_BUILD_FLAGS,
	.open = plugin_open,
	.close = plugin_close,
	.interface = plugin_interface,
};
