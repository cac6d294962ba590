/* See step.h. */
#include "step.h"

#include <stdlib.h>

pctl_buffer *step_buffer(rig *r, uint64_t n_bytes)
{
	pctl_buffer *b = NULL;

	OK(r->api->buffer_create(r->dev, &r->call, n_bytes, ALL_USES, &b));
	return b;
}

uint32_t step_word(rig *r, pctl_buffer *b, uint64_t index)
{
	uint32_t w = 0;

	OK(r->api->buffer_read(r->dev, &r->call, b, index * 4, &w, 4));
	return w;
}

rig_program step_program(uint32_t spins)
{
	pctl_builder *b = rig_builder();
	const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	const uint32_t list = pctl_build_array(b, u32, 0, 0);
	const uint32_t v_in = rig_storage(b, 0, list, 0), v = rig_storage(b, 1, list, 1);
	uint32_t i, x, n;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	n = PCTL_PLACE_LOCAL | pctl_build_local(b, "n", u32);
	i = rig_global_x(b);
	if (spins) {
		rig_inst(b, PCTL_OP_LOOP, 0, 0);
		x = rig_inst(b, PCTL_OP_LOAD, u32, 1, n);
		rig_inst(b, PCTL_OP_LOOP_TEST, 0, 1,
			 pctl_build_op(b, PCTL_OP_LT, pctl_build_scalar(b, PCTL_SCALAR_BOOL), x,
				       rig_u32(b, spins)));
		x = rig_inst(b, PCTL_OP_LOAD, u32, 1, n);
		rig_inst(b, PCTL_OP_STORE, 0, 3, x, v,
			 pctl_build_op(b, PCTL_OP_ADD, u32, i, rig_u32(b, 1)));
		rig_inst(b, PCTL_OP_CONTINUING, 0, 0);
		x = rig_inst(b, PCTL_OP_LOAD, u32, 1, n);
		rig_inst(b, PCTL_OP_STORE, 0, 2,
			 pctl_build_op(b, PCTL_OP_ADD, u32, x, rig_u32(b, 1)), n);
		rig_inst(b, PCTL_OP_END_LOOP, 0, 0);
	}
	x = rig_inst(b, PCTL_OP_LOAD, u32, 2, v, i);
	x = pctl_build_op(b, PCTL_OP_MUL, u32, x, rig_u32(b, 3));
	x = pctl_build_op(b, PCTL_OP_ADD, u32, x, rig_inst(b, PCTL_OP_LOAD, u32, 2, v_in, i));
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v, i);
	rig_entry(b, 32, 1, 1);
	return rig_finish(b);
}

pctl_kernel *step_kernel(rig *r, uint32_t spins)
{
	rig_program p = step_program(spins);
	pctl_kernel *k = NULL;

	OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
	free(p.wire);
	return k;
}
