/* Dispatches whose workgroups stand in a buffer when they run (SEMANTICS.md 17.11): what the library says is not believed. The numbers
 * are copied, and held against the most by a kernel of the host's own, which sets a flag as one on a turn budget does. */
#include "runtime/graph/jobplan_private.h"

#include <stdlib.h>
#include <string.h>

#define COUNTS_BYTES 12u

static const char text[] = "@group(0) @binding(0) var<uniform> most: vec4<u32>;\n"
			   "@group(0) @binding(1) var<storage, read> counts: array<u32>;\n"
			   "@group(0) @binding(2) var<storage, read_write> above: array<u32>;\n"
			   "@compute @workgroup_size(1)\n"
			   "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
			   "\tlet x = counts[0] > most.x;\n"
			   "\tlet y = counts[1] > most.y;\n"
			   "\tlet z = counts[2] > most.z;\n"
			   "\tif (id.x == 0u && (x || y || z)) {\n\t\tabove[id.x] = 1u;\n\t}\n}\n";

/* What a command before this one wrote: an input or parameters say nothing that a device found. */
static int is_written(const struct pctl_frame *f, uint32_t buffer)
{
	const uint32_t kind = f->plan->buffers[buffer].kind;

	if (kind != PCTL_PLAN_TEMP && kind != PCTL_PLAN_OUTPUT)
		return 0;
	for (uint32_t i = 0; i < f->plan->n_steps; i++)
		if (pctl_step_writes(&f->plan->steps[i], buffer))
			return 1;
	return 0;
}

static pctl_status put_check(struct pctl_frame *f, const uint32_t most[3], uint32_t counts)
{
	static const uint32_t one[3] = {1, 1, 1};
	const uint32_t params[4] = {most[0], most[1], most[2], 0};
	pctl_plan_binding b[3] = {{.binding = 0}, {.binding = 1, .buffer = counts}, {.binding = 2}};
	pctl_known_binding known[3];
	pctl_kernel_source source = {.name = "counts.wgsl",
				     .text = text,
				     .n_text = sizeof(text) - 1,
				     .flags = f->planner->wgsl_flags,
				     .groups = one,
				     .bindings = known,
				     .n_bindings = 3};
	const pctl_kernel_module *unit;
	pctl_status status = pctl_job_plan_buffer(f->plan, PCTL_PLAN_PARAMS, sizeof(params), params,
						  f->call, &b[0].buffer);

	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(f->plan, PCTL_PLAN_TURNS, 4, NULL, f->call,
					      &b[2].buffer);
	for (uint32_t i = 0; status == PCTL_OK && i < 3; i++)
		known[i] = pctl_job_plan_known(f->plan, &b[i]);
	if (status == PCTL_OK)
		status = pctl_kernels_get(f->planner->kernels, &source, f->call, &unit);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(f->plan, unit, b, 3, one, f->call);
	if (status == PCTL_OK)
		f->plan->steps[f->plan->n_steps - 1].is_counts_check = 1;
	return status;
}

/* A proof takes the dispatch for one of the most workgroups. */
static int asks_how_many(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_BUILTIN &&
		    pctl_arg(p, &p->insts[i], 0) == PCTL_BUILTIN_NUM_WORKGROUPS)
			return 1;
	return 0;
}

pctl_status pctl_frame_counts(struct pctl_frame *f, const pctl_plan_kernel *k,
			      const pctl_program *p, uint32_t *counts)
{
	pctl_plan_slot from, to = {0};
	pctl_status status;

	*counts = 0;
	if (k->counts > f->n_slots || k->counts_offset % 4 != 0 ||
	    k->counts_offset > f->slots[k->counts - 1].n_bytes ||
	    f->slots[k->counts - 1].n_bytes - k->counts_offset < COUNTS_BYTES)
		return pctl_frame_bad_plan(
			f, "numbers of workgroups that are not aligned to 4 bytes or outside their "
			   "buffer");
	from = f->slots[k->counts - 1];
	from.offset += k->counts_offset;
	if (!is_written(f, from.buffer))
		return pctl_frame_bad_plan(f, "numbers of workgroups that no command before wrote");
	if (asks_how_many(p))
		return pctl_frame_bad_plan(f, "a kernel whose workgroups stand in a buffer asks "
					      "how many there are");
	status = pctl_job_plan_buffer(f->plan, PCTL_PLAN_TEMP, COUNTS_BYTES, NULL, f->call,
				      &to.buffer);
	if (status == PCTL_OK)
		status = pctl_job_plan_move(f->plan, &from, &to, COUNTS_BYTES, f->call);
	if (status == PCTL_OK)
		status = put_check(f, k->groups, to.buffer);
	*counts = to.buffer;
	return status;
}
