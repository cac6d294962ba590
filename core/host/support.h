/* Which op takes which element type at which port: asked of the ops, for `op support`. */
#ifndef PIPECTL_HOST_SUPPORT_H
#define PIPECTL_HOST_SUPPORT_H

#include "foundation/base/arena.h"
#include "runtime/graph/ops.h"

#define PCTL_SUPPORT_ATTRS 32u

/*
 * The answer for one type at one port.
 *
 * code    0: the op takes it. PC4102: the port does not declare the type; else what infer says, of the shapes that were tried
 * reason  in words; NULL where it works
 * why     more of it for ops of the shipped libraries (support_why.def), and what does it instead; NULL where it works
 * in      with code 0, inputs that the op takes, n_in of them, small; attr: all attributes, as they were given
 */
typedef struct pctl_support_cell {
	uint32_t code, n_in, n_attr, reserved;
	const char *reason, *why;
	pctl_tensor_type in[PCTL_PORTS_MAX];
	pctl_attr attr[PCTL_SUPPORT_ATTRS];
} pctl_support_cell;

/* Texts live in the arena. PC0002 alone. */
pctl_status pctl_support_ask(const pctl_op_ref *op, uint32_t port, uint32_t dtype,
			     pctl_arena *arena, const pctl_call *call, pctl_support_cell *out);

/* support_why.c. NULL: nothing is known. */
const char *pctl_support_why(const pctl_op_ref *op, uint32_t port, uint32_t dtype);

#endif
