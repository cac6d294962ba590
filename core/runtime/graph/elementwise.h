/* Kernels that the host writes: elements of an output from elements of inputs, through function ops and index arithmetic
 * (semantics 14). One such kernel is a function op with operands that are stretched, a view that is copied, or jobs that were
 * fused; what goes into one kernel is decided by whoever describes it. */
#ifndef PIPECTL_RUNTIME_GRAPH_ELEMENTWISE_H
#define PIPECTL_RUNTIME_GRAPH_ELEMENTWISE_H

#include "runtime/graph/jobplan.h"

#define PCTL_ELEMENTWISE_INVOCATIONS 256u
#define PCTL_ELEMENTWISE_GROUPS 65535u
#define PCTL_ELEMENTWISE_INPUTS \
	7u /* of a kernel: WebGPU's default of 8 storage buffers less the output */
#define PCTL_ELEMENTWISE_NODES 96u

/*
 * How an element is found in an operand: element i, whose digits in the mixed radix `dim` are x0, x1, .., is element
 * offset + x0 * stride[0] + x1 * stride[1] + .. there. rank 0: it is element i. simple: what adds nothing is not written out.
 */
typedef struct pctl_index_map {
	uint32_t rank, simple;
	uint64_t dim[PCTL_RANK_MAX], stride[PCTL_RANK_MAX];
	uint64_t offset;
} pctl_index_map;

/* Of an operand that is stretched to a type; of a view. Nothing is left out: gas is priced from kernels made with it. */
void pctl_index_map_stretch(const pctl_tensor_type *from, const pctl_tensor_type *to,
			    pctl_index_map *out);
void pctl_index_map_view(const pctl_op_result *view, pctl_index_map *out);
/* The same with as few dimensions as can be; rank 0 where nothing moves. */
void pctl_index_map_simplify(pctl_index_map *m);

enum { PCTL_ELEMENT_INPUT = 1, PCTL_ELEMENT_FUNCTION, PCTL_ELEMENT_VIEW, PCTL_ELEMENT_GIVEN };

/*
 * One value of such a kernel. in: numbers of nodes before it, map: how its element i is found in each.
 *
 * INPUT     buffer: its number in the plan; it begins at `offset` there, with n_bytes (0 and 0: the whole)
 * FUNCTION  op and text: the function's name and WGSL text; operand: dtype that it was asked for
 * VIEW      in[0] is what it is a view of
 * GIVEN     what a plan op gives at that place: of a function that a kernel of a library calls (jobplan_through.c)
 */
typedef struct pctl_element_node {
	uint32_t kind, buffer;
	uint64_t offset, n_bytes;
	pctl_tensor_type type;
	const char *op, *text;
	uint32_t operand, n_in;
	uint32_t in[PCTL_PORTS_MAX];
	pctl_index_map map[PCTL_PORTS_MAX];
} pctl_element_node;

/*
 * name    of the kernel, in messages
 * nodes   the last one is what is written
 * output  its buffer in the plan, from output_offset on, output_bytes of it (0 and 0: the whole)
 * lanes   elements of an invocation: 1, or 4 where types and number of elements permit
 * most_bytes  of one binding, 0: any number. Where a tensor has more the kernel is cut in several dispatches, and reads what it does
 *         not read in step through several bindings (SEMANTICS.md 17.3)
 */
typedef struct pctl_elementwise {
	const char *name;
	const pctl_element_node *nodes;
	uint32_t n_nodes, output, lanes, wgsl_flags;
	uint64_t output_offset, output_bytes, most_bytes;
} pctl_elementwise;

/* Append the kernel to a plan. Errors: PC4133 (more elements than an index has bits for), PCTL_E_LIMIT without a word where
 * it binds more than PCTL_ELEMENTWISE_INPUTS inputs, PC5203 (no cut makes its bindings small enough), those of the front end. */
pctl_status pctl_elementwise_plan(pctl_kernels *kernels, const pctl_elementwise *e,
				  const pctl_call *call, pctl_job_plan *plan);

/* The WGSL name of a function op's function for operands of a dtype, appended. */
struct pctl_str_buf;
const char *pctl_elementwise_type(uint32_t dtype);

#endif
