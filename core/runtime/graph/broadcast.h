/* Broadcasting of function ops (semantics 14.2), and the question for an op's outputs, in which operands have the shape that
 * they are stretched to. Whoever asks an op library's infer for a plan asks here. */
#ifndef PIPECTL_RUNTIME_GRAPH_BROADCAST_H
#define PIPECTL_RUNTIME_GRAPH_BROADCAST_H

#include "runtime/graph/ops.h"
#include "runtime/graph/type.h"

/* 1: what feeds the port may be stretched. */
int pctl_port_stretches(const pctl_op_desc *op, uint32_t port);

/* The extent of two along one dimension; 0: they do not go together. */
int pctl_broadcast_extent(uint64_t a, uint64_t b, uint64_t *out);

/* The shape of n operands stretched to each other, with the dtype of the first. On 0 *bad is the operand that does not go with
 * those before it. n is not 0. */
int pctl_broadcast_shape(const pctl_tensor_type *in, uint32_t n, pctl_tensor_type *out,
			 uint32_t *bad);

/* Refuse (PC4107): operand b of the op does not go with a, whose shapes are written out. pos may be NULL. */
pctl_status pctl_broadcast_refuse(const pctl_op_desc *op, const char *job, const pctl_pos *pos,
				  uint32_t a, const char *a_type, uint32_t b, const char *b_type,
				  const pctl_call *call);

/* The inputs of q as the op library is asked about them: of a function op all of the one shape, else as they are. Errors: PC4107.
 */
pctl_status pctl_op_operands(const pctl_op_ref *op, const pctl_op_query *q, const char *job,
			     const pctl_pos *pos, const pctl_call *call,
			     pctl_tensor_type out[PCTL_PORTS_MAX]);

/* The op library's infer for such operands, inputs and answer held against the ports (symbols.h). Errors: PC4106, PC4107, PC4132
 * (an output that its port does not declare, a function op whose output has another shape, a view that leaves its input), the library's. */
pctl_status pctl_op_infer(const pctl_op_ref *op, const pctl_op_query *q, const char *job,
			  const pctl_pos *pos, const pctl_call *call, pctl_op_result *out);

#endif
