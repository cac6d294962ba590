/* Any bytes as a file of a machine, with one kernel behind every name: the reader survives, what is refused says why, and what is
 * accepted can be asked for its ports and, where it is small, planned. */
#include <stdlib.h>
#include <string.h>

#include "unit/test_graph_fake.h"

#include "runtime/graph/vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define KERNEL                                                            \
	"@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n" \
	"@group(0) @binding(2) var<storage, read> heap: array<u32>;\n"    \
	"@group(1) @binding(0) var<uniform> p: vec4<u32>;\n"              \
	"@compute @workgroup_size(1) fn main() { r[0] = heap[p.x]; }\n"

struct texts {
	const char *machine;
	size_t n;
};

static char *resolve(void *ctx, const char *from, const char *path)
{
	(void)ctx;
	(void)from;
	return strdup(path);
}

static int exists(void *ctx, const char *name)
{
	(void)ctx;
	return strstr(name, "none") == NULL;
}

static pctl_status read_text(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
			     char **out, uint64_t *n_out)
{
	const struct texts *t = ctx;
	const int is_machine = strcmp(name, "m") == 0;
	const char *text = is_machine ? t->machine : KERNEL;

	(void)limit;
	*n_out = is_machine ? t->n : sizeof(KERNEL) - 1;
	*out = malloc(*n_out + 1);
	if (*out == NULL)
		return pctl_no_memory(call, "a text");
	memcpy(*out, text, *n_out);
	(*out)[*n_out] = '\0';
	return PCTL_OK;
}

static void ask(const pctl_vm_desc *d, const pctl_call *call, const pctl_diag_list *l)
{
	static const char *const names[] = {"r0",      "r31",	  "r32",     "r1_0", "kv_0",
					    "globals", "control", "metrics", "w",    "r_"};
	pctl_vm_port port;

	for (uint32_t i = 0; i < 2 * sizeof(names) / sizeof(*names); i++)
		if (pctl_vm_port_find(d, names[i / 2], i % 2, NULL, call, &port) != PCTL_OK &&
		    pctl_diag_list_errors(l) == 0)
			abort();
}

static void plan(const pctl_vm_desc *d, pctl_kernels *k, const pctl_call *call,
		 const pctl_diag_list *l)
{
	const pctl_planner planner = {.ops = &fake_source, .kernels = k};
	pctl_vm_buffers where;
	pctl_job_plan *p = NULL;
	pctl_status status;

	if ((uint64_t)d->instances * d->n_steps > 64)
		return;
	status = pctl_vm_turn_plan(&planner, d, 0, call, &where, NULL, &p);
	if ((status == PCTL_OK) != (p != NULL) ||
	    (status != PCTL_OK && pctl_diag_list_errors(l) == 0))
		abort();
	for (uint32_t i = 0; p != NULL && i < p->n_steps; i++)
		for (uint32_t b = 0; b < p->steps[i].n_bindings; b++) {
			const pctl_plan_binding *x = &p->steps[i].bindings[b];

			if (x->buffer >= p->n_buffers ||
			    x->offset + x->n_bytes > p->buffers[x->buffer].n_bytes)
				abort();
		}
	pctl_job_plan_destroy(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct texts texts = {(const char *)data, n};
	const pctl_vfs vfs = {&texts, resolve, exists, read_text, NULL};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_arena *arena = pctl_arena_create();
	pctl_vm_desc *d = NULL;
	pctl_status status;

	(void)tests_skipped; /* of the test header, whose fake op library is used here */
	status = pctl_vm_read(&vfs, "m", &fake_source, arena, pctl_diag_list_call(l), &d);
	if ((status == PCTL_OK) != (d != NULL) ||
	    (status != PCTL_OK && pctl_diag_list_errors(l) == 0))
		abort();
	if (d != NULL) {
		ask(d, pctl_diag_list_call(l), l);
		plan(d, k, pctl_diag_list_call(l), l);
	}
	pctl_arena_destroy(arena);
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
	return 0;
}
