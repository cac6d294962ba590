/* The planner: sink calls that stop after the first refusal, grids, nested ops. */
#include <inttypes.h>
#include <stdio.h>

#include "common/kit.h"

#define SLOTS_MAX 16u

uint32_t kit_in(const kit_plan *p, uint32_t i)
{
	(void)p;
	return i;
}

uint32_t kit_out(const kit_plan *p, uint32_t i)
{
	return p->use->q->n_in + i;
}

uint32_t kit_temp(kit_plan *p, uint64_t n_bytes)
{
	uint32_t buffer = 0;

	if (p->status == PCTL_OK)
		p->status = p->sink->temp(p->sink->ctx, n_bytes, &buffer);
	return buffer;
}

uint32_t kit_params(kit_plan *p, const void *bytes, uint64_t n_bytes)
{
	uint32_t buffer = 0;

	if (p->status == PCTL_OK)
		p->status = p->sink->params(p->sink->ctx, bytes, n_bytes, &buffer);
	return buffer;
}

uint32_t kit_constant(kit_plan *p, const char *cid, const void *bytes, uint64_t n_bytes)
{
	uint32_t buffer = 0;

	if (p->status == PCTL_OK)
		p->status = p->sink->constant(p->sink->ctx, cid, bytes, n_bytes, &buffer);
	return buffer;
}

void kit_repeat(kit_plan *p, uint32_t times, const pctl_plan_pair *pairs, uint32_t n_pairs)
{
	const pctl_plan_repeat r = {PCTL_HEAD(pctl_plan_repeat), pairs, n_pairs, times};

	if (p->status == PCTL_OK)
		p->status = p->sink->repeat(p->sink->ctx, &r);
}

void kit_repeat_end(kit_plan *p)
{
	if (p->status == PCTL_OK)
		p->status = p->sink->repeat_end(p->sink->ctx);
}

void kit_fill(kit_plan *p, uint32_t buffer, uint64_t offset, uint64_t n_bytes, uint32_t word)
{
	if (p->status == PCTL_OK && n_bytes)
		p->status = p->sink->fill(p->sink->ctx, buffer, offset, n_bytes, word);
}

void kit_copy(kit_plan *p, uint32_t from, uint64_t from_offset, uint32_t to, uint64_t to_offset,
	      uint64_t n_bytes)
{
	if (p->status == PCTL_OK && n_bytes)
		p->status = p->sink->copy(p->sink->ctx, from, from_offset, to, to_offset, n_bytes);
}

void kit_assert(kit_plan *p, uint32_t buffer, uint32_t bytes, uint64_t expected,
		const char *message)
{
	const pctl_plan_assert a = {.head = PCTL_HEAD(pctl_plan_assert),
				    .buffer = buffer,
				    .bytes = bytes,
				    .expected = expected,
				    .message = message};

	if (p->status == PCTL_OK)
		p->status = p->sink->assert_equal(p->sink->ctx, &a);
}

void kit_measure(kit_plan *p, uint32_t buffer, uint32_t bytes, uint64_t add)
{
	if (p->status == PCTL_OK)
		p->status = p->sink->measure(p->sink->ctx, buffer, 0, bytes, add);
}

/* counts: 1 + the buffer, or 0. */
static void run_grid(kit_plan *p, const kit_kernel *k, const uint64_t groups[2],
		     const kit_slot *slots, uint32_t n_slots, uint32_t counts, kit_through through)
{
	const pctl_plan_override override = {k->override_name, k->override_value};
	pctl_plan_binding bindings[SLOTS_MAX] = {0};
	pctl_plan_kernel kernel = {.head = PCTL_HEAD(pctl_plan_kernel),
				   .name = k->name,
				   .wgsl = k->text,
				   .overrides = k->override_name ? &override : NULL,
				   .bindings = bindings,
				   .n_overrides = k->override_name != NULL,
				   .n_bindings = n_slots,
				   .counts = counts,
				   .through = through.flags,
				   .read_from = through.read_from,
				   .write_from = through.write_from};

	if (p->status != PCTL_OK || groups[0] == 0 || groups[1] == 0)
		return;
	if (n_slots > SLOTS_MAX || groups[0] > KIT_GROUPS_ROW || groups[1] > KIT_GROUPS_ROW) {
		p->status = pctl_refuse(p->use->call, PC1_INTERNAL,
					"%s: %u bindings, %" PRIu64 " x %" PRIu64 " workgroups",
					k->name, n_slots, groups[0], groups[1]);
		return;
	}
	for (uint32_t i = 0; i < n_slots; i++)
		bindings[i] = (pctl_plan_binding){.binding = i,
						  .buffer = slots[i].buffer,
						  .turn_stride = slots[i].turn_stride,
						  .offset = slots[i].offset,
						  .n_bytes = slots[i].n_bytes};
	kernel.groups[0] = (uint32_t)groups[0];
	kernel.groups[1] = (uint32_t)groups[1];
	kernel.groups[2] = 1;
	p->status = p->sink->kernel(p->sink->ctx, &kernel);
}

static void run(kit_plan *p, const kit_kernel *k, uint64_t lanes, const kit_slot *slots,
		uint32_t n_slots, uint32_t counts, kit_through through)
{
	const uint64_t n = lanes / k->local + (lanes % k->local != 0);
	const uint64_t groups[2] = {n < KIT_GROUPS_ROW ? n : KIT_GROUPS_ROW,
				    n / KIT_GROUPS_ROW + (n % KIT_GROUPS_ROW != 0)};

	run_grid(p, k, groups, slots, n_slots, counts, through);
}

void kit_run(kit_plan *p, const kit_kernel *k, uint64_t lanes, const kit_slot *slots,
	     uint32_t n_slots)
{
	run(p, k, lanes, slots, n_slots, 0, (kit_through){0});
}

void kit_run_through(kit_plan *p, const kit_kernel *k, uint64_t lanes, const kit_slot *slots,
		     uint32_t n_slots, kit_through through)
{
	run(p, k, lanes, slots, n_slots, 0, through);
}

void kit_run_grid(kit_plan *p, const kit_kernel *k, const uint64_t groups[2], const kit_slot *slots,
		  uint32_t n_slots, kit_through through)
{
	run_grid(p, k, groups, slots, n_slots, 0, through);
}

void kit_run_counted(kit_plan *p, const kit_kernel *k, uint64_t lanes, const kit_slot *slots,
		     uint32_t n_slots, uint32_t counts)
{
	run(p, k, lanes, slots, n_slots, 1 + counts, (kit_through){0});
}

void kit_run_op(kit_plan *p, const char *name, uint32_t version, const kit_arg *args,
		uint32_t n_args, const kit_setting *settings, uint32_t n_settings)
{
	pctl_attr attrs[8];
	char texts[8][24];

	if (p->status == PCTL_OK && n_settings > KIT_COUNT(attrs))
		p->status = pctl_refuse(p->use->call, PC1_INTERNAL, "%s: %u attributes", name,
					n_settings);
	if (p->status != PCTL_OK)
		return;
	for (uint32_t i = 0; i < n_settings; i++) {
		snprintf(texts[i], sizeof(texts[i]), "%" PRIu64, settings[i].value);
		attrs[i] = (pctl_attr){settings[i].name, texts[i], settings[i].value};
	}
	kit_run_op_as(p, name, version, args, n_args, attrs, n_settings);
}

void kit_run_op_as(kit_plan *p, const char *name, uint32_t version, const kit_arg *args,
		   uint32_t n_args, const pctl_attr *attrs, uint32_t n_attrs)
{
	uint32_t buffers[2 * PCTL_PORTS_MAX];
	pctl_tensor_type types[2 * PCTL_PORTS_MAX];

	if (p->status != PCTL_OK)
		return;
	if (n_args > KIT_COUNT(buffers)) {
		p->status = pctl_refuse(p->use->call, PC1_INTERNAL, "%s: %u buffers", name, n_args);
		return;
	}
	for (uint32_t i = 0; i < n_args; i++) {
		buffers[i] = args[i].buffer;
		types[i] = args[i].type;
	}
	p->status =
		p->sink->op(p->sink->ctx, name, version, buffers, types, n_args, attrs, n_attrs);
}
