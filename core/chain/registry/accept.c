/* Implementation of accept.h. */
#include "chain/registry/accept.h"

#include <inttypes.h>

#include "compiler/analysis/extents.h"
#include "foundation/base/num.h"

/* Behind the extents: functions that are open at once. */
#define DEPTH PCTL_N_EXTENTS

static const struct {
	uint64_t most;
	const char *device;
	uint32_t extent, reserved;
} limits[] = {
#define CHAIN_EXTENT(EXTENT, most, device) {most, device, PCTL_EXTENT_##EXTENT, 0},
#define CHAIN_DEPTH(most, device) {most, device, DEPTH, 0},
#include "chain/registry/accept.def"
#undef CHAIN_EXTENT
#undef CHAIN_DEPTH
};
#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

/* What the program has of a row, and where the largest share of it is. */
typedef struct measured {
	pctl_extents x;
	uint64_t depth;
	uint32_t function, inst;
} measured;

static pctl_status measure(const pctl_kernel_module *u, const pctl_call *call, measured *out)
{
	pctl_status status = pctl_program_extents(u->program, &u->known, call, &out->x);

	return status == PCTL_OK ? pctl_program_depth(u->program, call, &out->depth, &out->function,
						      &out->inst)
				 : status;
}

/* Variables of the module have no place of their own: where one of them is used first. */
static pctl_pos first_use(const pctl_kernel_module *u, uint32_t space)
{
	const pctl_program *p = u->program;
	pctl_place place;

	for (uint32_t f = 0; f < p->n_functions; f++)
		for (uint32_t v = 0; v < p->functions[f].n_insts; v++)
			if (pctl_place_get(p, &p->functions[f],
					   &p->insts[p->functions[f].first_inst + v], &place) &&
			    place.space == space)
				return pctl_kernel_position(u, f, v);
	return pctl_kernel_position(u, p->entries[0].function, 0);
}

static pctl_pos place_of(const pctl_kernel_module *u, const measured *m, uint32_t e)
{
	if (e == PCTL_EXTENT_PRIVATE)
		return first_use(u, PCTL_SPACE_PRIVATE);
	if (e == PCTL_EXTENT_WORKGROUP)
		return first_use(u, PCTL_SPACE_WORKGROUP);
	return e == DEPTH ? pctl_kernel_position(u, m->function, m->inst)
			  : pctl_kernel_position(u, m->x.function[e], m->x.inst[e]);
}

static pctl_status refuse(const pctl_kernel_module *u, const measured *m, size_t row,
			  const pctl_call *call)
{
	const uint32_t e = limits[row].extent;
	const int is_depth = e == DEPTH;
	const pctl_pos pos = place_of(u, m, e);

	return pctl_refuse_at(
		call, PC5829_SHADER_EXTENT, &pos,
		is_depth ? "functions that are open at once, the entry point among them"
			 : pctl_extent_doc(e),
		"%s: %" PRIu64 " %s, at most %" PRIu64 " (%s)",
		is_depth ? "depth" : pctl_extent_key(e), is_depth ? m->depth : m->x.need[e],
		is_depth ? "functions" : pctl_extent_unit(e), limits[row].most, limits[row].device);
}

pctl_status pctl_accept_extents(const pctl_kernel_module *u, const pctl_call *call)
{
	measured m;
	pctl_status status = measure(u, call, &m);

	for (size_t i = 0; status == PCTL_OK && i < N_LIMITS; i++) {
		const uint32_t e = limits[i].extent;

		if ((e == DEPTH ? m.depth : m.x.need[e]) > limits[i].most)
			return refuse(u, &m, i, call);
	}
	return status;
}

pctl_status pctl_accept_memory(const pctl_kernel_module *u, uint64_t bytes, const pctl_call *call,
			       uint64_t *out)
{
	pctl_extents x;
	uint64_t lanes = 0;
	const pctl_status status = pctl_program_extents(u->program, &u->known, call, &x);

	*out = UINT64_MAX;
	if (status == PCTL_OK &&
	    pctl_num_add(x.need[PCTL_EXTENT_PRIVATE], x.need[PCTL_EXTENT_FUNCTION_MEMORY],
			 &lanes) &&
	    pctl_num_mul(lanes, u->analysis->invocations, &lanes) &&
	    pctl_num_add(bytes, lanes, out))
		(void)pctl_num_add(*out, x.need[PCTL_EXTENT_WORKGROUP], out);
	return status;
}

pctl_status pctl_accept_instructions(const pctl_kernel_module *u, const pctl_call *call,
				     uint64_t *out)
{
	pctl_extents x;
	const pctl_status status = pctl_program_extents(u->program, &u->known, call, &x);

	*out = status == PCTL_OK ? x.need[PCTL_EXTENT_INSTRUCTIONS] : 0;
	return status;
}
