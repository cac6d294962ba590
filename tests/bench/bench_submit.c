/* What a submit costs: an empty dispatch recorded a thousand times and submitted once, and one dispatch submitted a
 * thousand times, through the worker and directly in this process; and the copy bandwidth. usage: bench_submit PLUGINS_DIR DEVICE... */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "foundation/diag/diag.h"
#include "runtime/ipc/library.h"
#include "runtime/plugin/devices.h"
#include "compiler/eval/specialise.h"
#include "compiler/wgsl/wgsl.h"
#include "place.h"

#define DISPATCHES 1000u
#define TRIES 7u
#define COPY_BYTES (120ull << 20) /* below lavapipe's limit of a binding */
#define COPIES 16u

static const char EMPTY[] = "@compute @workgroup_size(1) fn main() {}\n";

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static pctl_status empty_program(const pctl_call *call, uint8_t **wire, uint64_t *n)
{
	pctl_wgsl_options options = {"empty.wgsl", 0, 0, NULL};
	pctl_program *p = NULL, *q = NULL;
	pctl_status status = pctl_wgsl_compile(EMPTY, sizeof(EMPTY) - 1, &options, call, &p);

	if (status == PCTL_OK)
		status = pctl_program_specialise(p, NULL, NULL, 0, call, &q);
	if (status == PCTL_OK)
		status = pctl_program_encode(q, call, wire, n);
	pctl_program_destroy(p);
	pctl_program_destroy(q);
	return status;
}

static pctl_status record(const pctl_backend *t, pctl_device *dev, const pctl_call *call,
			  pctl_kernel *k, uint32_t n, pctl_list **out)
{
	const uint32_t groups[3] = {1, 1, 1};
	pctl_status status = t->list_begin(dev, call, out);

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = t->list_dispatch(*out, call, k, NULL, 0, groups);
	return status == PCTL_OK ? t->list_end(*out, call) : status;
}

/* Median microseconds of `submits` submits of a list, each waited for. */
static pctl_status time_list(const pctl_backend *t, pctl_device *dev, const pctl_call *call,
			     pctl_list *l, uint32_t submits, double *out)
{
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_status status = PCTL_OK;
	double tries[TRIES];

	for (uint32_t i = 0; status == PCTL_OK && i < TRIES; i++) {
		double begun = now_us();

		for (uint32_t k = 0; status == PCTL_OK && k < submits; k++) {
			uint64_t ticket;

			status = t->submit(dev, call, l, 1, &ticket);
			if (status == PCTL_OK)
				status = t->wait(dev, call, ticket, 60000000000u, &done);
		}
		tries[i] = now_us() - begun;
	}
	qsort(tries, TRIES, sizeof(tries[0]), ascending);
	*out = tries[TRIES / 2];
	return status;
}

/* Bytes read and written a second by copies from buffer to buffer: the ceiling of anything bound by memory. */
static pctl_status measure_copy(const pctl_backend *t, pctl_device *dev, const char *device,
				const pctl_call *call)
{
	const uint32_t usage = PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER;
	pctl_buffer *from = NULL, *to = NULL;
	pctl_list *l = NULL;
	double us = 0;
	pctl_status status = t->buffer_create(dev, call, COPY_BYTES, usage, &from);

	if (status == PCTL_OK)
		status = t->buffer_create(dev, call, COPY_BYTES, usage, &to);
	if (status == PCTL_OK)
		status = t->list_begin(dev, call, &l);
	for (uint32_t i = 0; status == PCTL_OK && i < COPIES; i++) {
		status = t->list_copy(l, call, i % 2 ? to : from, 0, i % 2 ? from : to, 0,
				      COPY_BYTES);
		if (status == PCTL_OK)
			status = t->list_barrier(l, call);
	}
	if (status == PCTL_OK)
		status = t->list_end(l, call);
	if (status == PCTL_OK)
		status = time_list(t, dev, call, l, 1, &us);
	if (status == PCTL_OK)
		printf("{\"bench\":\"copy\",\"device\":\"%s\",\"gb_per_s\":%.1f}\n", device,
		       2.0 * COPY_BYTES * COPIES / us * 1e-3);
	if (l != NULL)
		t->list_destroy(dev, l);
	if (from != NULL)
		t->buffer_destroy(dev, from);
	if (to != NULL)
		t->buffer_destroy(dev, to);
	return status;
}

static pctl_status measure(const pctl_backend *t, pctl_instance *inst, uint32_t index,
			   const char *device, const char *where, const pctl_call *call)
{
	pctl_list *one = NULL, *many = NULL;
	double submits = 0, dispatches = 0;
	pctl_device *dev = NULL;
	pctl_kernel *k = NULL;
	uint8_t *wire = NULL;
	uint64_t n;
	pctl_status status = empty_program(call, &wire, &n);

	if (status == PCTL_OK)
		status = t->device_open(inst, call, index, &dev);
	if (status == PCTL_OK)
		status = t->kernel_build(dev, call, wire, n, 0, NULL, 0, &k);
	if (status == PCTL_OK)
		status = record(t, dev, call, k, 1, &one);
	if (status == PCTL_OK)
		status = record(t, dev, call, k, DISPATCHES, &many);
	if (status == PCTL_OK)
		status = time_list(t, dev, call, one, DISPATCHES, &submits);
	if (status == PCTL_OK)
		status = time_list(t, dev, call, many, 1, &dispatches);
	if (status == PCTL_OK)
		printf("{\"bench\":\"submit\",\"device\":\"%s\",\"where\":\"%s\",\"us_per_submit\":"
		       "%.2f,"
		       "\"us_per_recorded_dispatch\":%.3f}\n",
		       device, where, submits / DISPATCHES, dispatches / DISPATCHES);
	if (status == PCTL_OK)
		status = measure_copy(t, dev, device, call);
	if (one != NULL)
		t->list_destroy(dev, one);
	if (many != NULL)
		t->list_destroy(dev, many);
	if (k != NULL)
		t->kernel_destroy(dev, k);
	if (dev != NULL)
		t->device_close(dev);
	free(wire);
	return status;
}

static pctl_status through_worker(pctl_registry *r, const pctl_device_entry *e,
				  const pctl_call *call)
{
	pctl_backend_instance *s;
	pctl_status status = pctl_backend_instance_open(r, e->backend, e->env, 0, call, &s);

	if (status != PCTL_OK)
		return status;
	status = measure(s->table, s->inst, e->in_driver, e->selector, "worker", call);
	pctl_backend_instance_close(s, call);
	return status;
}

/* The driver is chosen by environment, so this process may do it once for one driver. */
static pctl_status directly(pctl_registry *r, const pctl_device_entry *e, const pctl_call *call)
{
	const pctl_plugin_info *info = pctl_registry_find(r, e->backend);
	pctl_library_instance li;
	pctl_library_host host;
	const pctl_plugin *plugin;
	pctl_status status;
	void *handle;

	for (uint32_t i = 0; i < e->env->n_set; i++)
		putenv((char *)e->env->set[i]);
	pctl_library_host_init(&host, NULL, 0, 0);
	status = pctl_library_load(info->library, info->library, call, &handle);
	if (status == PCTL_OK)
		status = pctl_library_plugin(handle, info->library, e->backend, call, &plugin);
	if (status == PCTL_OK)
		status = pctl_library_open(plugin, info->library, PCTL_BACKEND_INTERFACE,
					   &host.host, call, &li);
	if (status != PCTL_OK)
		return status;
	status = measure(li.table, li.inst, e->in_driver, e->selector, "direct", call);
	pctl_library_close(&li);
	return status;
}

int main(int argc, char **argv)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	const char *dirs[1] = {argc > 1 ? argv[1] : NULL};
	pctl_registry_options o = {.dirs = dirs,
				   .n_dirs = 1,
				   .cache = bench_cache(),
				   .worker = getenv("PIPECTL_WORKER")};
	pctl_status status = argc == 3 ? PCTL_OK : PCTL_E_USAGE;
	const pctl_device_entry *entry;
	pctl_devices *list = NULL;
	pctl_registry *r = NULL;

	if (status == PCTL_OK)
		status = pctl_registry_open(&o, call, &r);
	if (status == PCTL_OK)
		status = pctl_devices_find(r, argv[2], 0, call, &list, &entry);
	if (status == PCTL_OK)
		status = through_worker(r, entry, call);
	if (status == PCTL_OK)
		status = directly(r, entry, call);
	pctl_diag_render_text(l, stderr, 0);
	pctl_devices_destroy(list);
	pctl_registry_close(r);
	pctl_diag_list_destroy(l);
	if (status == PCTL_E_USAGE)
		fprintf(stderr, "usage: bench_submit PLUGINS_DIR DEVICE\n");
	return status != PCTL_OK;
}
