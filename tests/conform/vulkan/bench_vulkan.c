/* Speed of the vulkan plugin on the first device found, as a table; no test. What index checks
 * cost, what a recorded dispatch and a submit cost, and how fast bytes go in and out. */
#include "devices.h"

#include <stdlib.h>
#include <time.h>

#define MUST(call_of_api)                                                        \
	do {                                                                     \
		if ((call_of_api) != PCTL_OK) {                                  \
			fprintf(stderr, "%s: %s\n", #call_of_api, r->last_text); \
			exit(1);                                                 \
		}                                                                \
	} while (0)

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* out[i] = a[i] + b[i] over vectors of `width`; proven: the indices carry the host's proof. */
static rig_program add_program(rig *r, uint32_t width, int proven)
{
	pctl_builder *b = rig_builder();
	const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	const uint32_t type = width == 1 ? u32 : pctl_build_vector(b, PCTL_SCALAR_U32, width);
	const uint32_t list = pctl_build_array(b, type, 0, 0);
	const uint32_t a = rig_storage(b, 0, list, 0), c = rig_storage(b, 1, list, 0);
	const uint32_t out = rig_storage(b, 2, list, 1);
	pctl_entry e = {.workgroup_size = {256, 1, 1}};
	pctl_program *p = NULL;
	rig_program wire;
	uint32_t i, x, y;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	i = rig_global_x(b);
	x = rig_inst(b, PCTL_OP_LOAD, type, 2, a, i);
	y = rig_inst(b, PCTL_OP_LOAD, type, 2, c, i);
	rig_inst(b, PCTL_OP_STORE, 0, 3, pctl_build_op(b, PCTL_OP_ADD, type, x, y), out, i);
	e.function = pctl_build_function_end(b);
	pctl_build_entry(b, &e, "main");
	MUST(pctl_builder_finish(b, &r->call, &p));
	for (i = 0; i < p->n_insts && proven; i++)
		if (p->insts[i].op == PCTL_OP_LOAD || p->insts[i].op == PCTL_OP_STORE)
			p->insts[i].flags = PCTL_INST_PROVEN(0);
	MUST(pctl_program_encode(p, &r->call, &wire.wire, &wire.n));
	pctl_program_destroy(p);
	pctl_builder_destroy(b);
	return wire;
}

static void bandwidth(rig *r, pctl_buffer *const buffers[3], uint64_t n_bytes, uint32_t width,
		      int proven)
{
	enum { TIMES = 20 };
	rig_program p = add_program(r, width, proven);
	const uint32_t groups[3] = {(uint32_t)(n_bytes / 4 / width / 256), 1, 1};
	pctl_binding bindings[3] = {0};
	pctl_completion done;
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket;
	uint32_t i;

	for (i = 0; i < 3; i++)
		bindings[i] = (pctl_binding){0, i, buffers[i], 0, n_bytes};
	MUST(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
	MUST(r->api->list_begin(r->dev, &r->call, &l));
	MUST(r->api->list_dispatch(l, &r->call, k, bindings, 3, groups));
	MUST(r->api->list_end(l, &r->call));
	for (i = 0; i < 2; i++) { /* the first warms up */
		MUST(r->api->submit(r->dev, &r->call, l, TIMES, &ticket));
		MUST(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done));
	}
	printf("add of vec%u, %-9s %8.1f GB/s\n", width, proven ? "proven" : "checked",
	       3.0 * TIMES * (double)n_bytes / (double)done.device_ns);
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	free(p.wire);
}

static void overhead(rig *r, pctl_buffer *const buffers[3])
{
	enum { N = 1000 };
	rig_program p = add_program(r, 1, 0);
	pctl_binding bindings[3] = {0};
	pctl_completion done;
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket;
	uint32_t i;
	double start;

	for (i = 0; i < 3; i++)
		bindings[i] = (pctl_binding){0, i, buffers[i], 0, 1024};
	MUST(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
	MUST(r->api->list_begin(r->dev, &r->call, &l));
	for (i = 0; i < N; i++) {
		MUST(r->api->list_dispatch(l, &r->call, k, bindings, 3,
					   (const uint32_t[]){1, 1, 1}));
		MUST(r->api->list_barrier(l, &r->call));
	}
	MUST(r->api->list_end(l, &r->call));
	for (i = 0; i < 3; i++) {
		MUST(r->api->submit(r->dev, &r->call, l, 1, &ticket));
		MUST(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done));
	}
	printf("recorded dispatch and barrier %8.2f us\n", (double)done.device_ns / 1e3 / N);
	r->api->list_destroy(r->dev, l);
	MUST(r->api->list_begin(r->dev, &r->call, &l));
	MUST(r->api->list_dispatch(l, &r->call, k, bindings, 3, (const uint32_t[]){1, 1, 1}));
	MUST(r->api->list_end(l, &r->call));
	start = now();
	for (i = 0; i < N; i++) {
		MUST(r->api->submit(r->dev, &r->call, l, 1, &ticket));
		MUST(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done));
	}
	printf("submit and wait               %8.2f us\n", (now() - start) * 1e6 / N);
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	free(p.wire);
}

int main(void)
{
	rig bench, *r = &bench;
	pctl_buffer *buffers[3] = {0};
	uint64_t n_bytes;
	uint32_t i;
	uint8_t *data;
	double start;

	if (!devices_open(r, 0))
		return 1;
	n_bytes = r->caps.max_binding_bytes < 1u << 30 ? 1u << 25 : 1u << 30;
	printf("%s, %s: buffers of %llu bytes\n", r->info.name, r->info.driver,
	       (unsigned long long)n_bytes);
	for (i = 0; i < 3; i++)
		MUST(r->api->buffer_create(r->dev, &r->call, n_bytes,
					   PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
					   &buffers[i]));
	data = calloc(1, n_bytes);
	if (!data)
		return 1;
	memset(data, 1, n_bytes);
	start = now();
	MUST(r->api->buffer_write(r->dev, &r->call, buffers[0], 0, data, n_bytes));
	printf("host to device                %8.2f GB/s\n",
	       (double)n_bytes / (now() - start) / 1e9);
	start = now();
	MUST(r->api->buffer_read(r->dev, &r->call, buffers[0], 0, data, n_bytes));
	printf("device to host                %8.2f GB/s\n",
	       (double)n_bytes / (now() - start) / 1e9);
	for (i = 1; i <= 4; i *= 2) {
		bandwidth(r, buffers, n_bytes, i, 1);
		bandwidth(r, buffers, n_bytes, i, 0);
	}
	overhead(r, buffers);
	for (i = 0; i < 3; i++)
		r->api->buffer_destroy(r->dev, buffers[i]);
	free(data);
	rig_close(r);
	return 0;
}
