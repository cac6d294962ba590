/* Function ops: the host writes the elementwise kernel around the op's WGSL function. What is written for operands of one shape is
 * what gas was always priced from; operands that are stretched, and views, are elementwise.c's. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "runtime/graph/elementwise.h"
#include "runtime/graph/jobplan.h"

#define INVOCATIONS PCTL_ELEMENTWISE_INVOCATIONS
#define MOST_GROUPS PCTL_ELEMENTWISE_GROUPS

static void function_name(pctl_str_buf *s, const char *op, uint32_t dtype)
{
	for (; *op != '\0'; op++)
		pctl_str_add_n(s, *op == '.' ? "_" : op, 1);
	if (dtype != PCTL_SCALAR_U32)
		pctl_str_addf(s, "_%s", pctl_dtype_name(dtype));
}

/* Inputs are group 0, the output is group 1 binding 0. A grid wider than one dimension allows is
 * folded into y. Buffers end at a multiple of 4 bytes: an odd number of 16-bit elements leaves one
 * more in the array than there are, which is not written. */
static char *kernel_text(const pctl_op_ref *op, const pctl_op_query *q, uint32_t out_dtype,
			 const char *function, uint64_t n_elements)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const int padded = pctl_dtype_bytes(out_dtype) == 2 && n_elements % 2 != 0;
	const int folded = n_elements > (uint64_t)INVOCATIONS * MOST_GROUPS;

	pctl_str_addf(&s, "%s\n", function);
	for (uint32_t i = 0; i < q->n_in; i++)
		pctl_str_addf(&s,
			      "@group(0) @binding(%" PRIu32
			      ") var<storage, read> port_%s: array<%s>;\n",
			      i, op->desc->in[i].name, pctl_elementwise_type(q->in[i].dtype));
	pctl_str_addf(&s,
		      "@group(1) @binding(0) var<storage, read_write> port_%s: array<%s>;\n"
		      "@compute @workgroup_size(%u)\n"
		      "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
		      "\tlet i = id.x%s;\n"
		      "\tif (i < arrayLength(&port_%s)%s) {\n"
		      "\t\tport_%s[i] = ",
		      op->desc->out[0].name, pctl_elementwise_type(out_dtype), INVOCATIONS,
		      folded ? " + id.y * 16776960u" : "", op->desc->out[0].name,
		      padded ? " - 1u" : "", op->desc->out[0].name);
	function_name(&s, op->desc->name, pctl_dtype_element(q->in[0].dtype));
	for (uint32_t i = 0; i < q->n_in; i++)
		pctl_str_addf(&s, "%sport_%s[i]", i == 0 ? "(" : ", ", op->desc->in[i].name);
	pctl_str_add(&s, ");\n\t}\n}\n");
	return pctl_str_finish(&s);
}

static int is_stretched(const pctl_op_query *q, const pctl_tensor_type *out)
{
	for (uint32_t i = 0; i < q->n_in; i++)
		if (q->in[i].rank != out->rank ||
		    memcmp(q->in[i].dim, out->dim, out->rank * sizeof(out->dim[0])) != 0)
			return 1;
	return 0;
}

/* More bytes than one binding of the device may have. */
static int is_too_large(const pctl_planner *planner, const pctl_op_query *q,
			const pctl_tensor_type *out)
{
	uint64_t most = 0, n = 0;

	for (uint32_t i = 0; i <= q->n_in; i++) {
		(void)pctl_type_buffer_bytes(i < q->n_in ? &q->in[i] : out, &n);
		most = n > most ? n : most;
	}
	return planner->caps.max_binding_bytes != 0 && most > planner->caps.max_binding_bytes;
}

/* Operands that are not of the output's shape are found by their index. */
static pctl_status plan_stretched(const pctl_planner *planner, const pctl_op_ref *op,
				  const pctl_op_query *q, const pctl_tensor_type *out,
				  const char *function, const pctl_plan_slot *slots,
				  const pctl_call *call, pctl_job_plan *plan)
{
	pctl_element_node nodes[PCTL_PORTS_MAX + 1] = {{0}};
	pctl_element_node *root = &nodes[q->n_in];
	const pctl_elementwise e = {.name = op->desc->name,
				    .nodes = nodes,
				    .n_nodes = q->n_in + 1,
				    .output = slots[q->n_in].buffer,
				    .output_offset = slots[q->n_in].offset,
				    .output_bytes = slots[q->n_in].n_bytes,
				    .lanes = 1,
				    .most_bytes = planner->caps.max_binding_bytes,
				    .wgsl_flags = planner->wgsl_flags};

	*root = (pctl_element_node){.kind = PCTL_ELEMENT_FUNCTION,
				    .type = *out,
				    .op = op->desc->name,
				    .text = function,
				    .operand = pctl_dtype_element(q->in[0].dtype),
				    .n_in = q->n_in};
	for (uint32_t i = 0; i < q->n_in; i++) {
		nodes[i] = (pctl_element_node){.kind = PCTL_ELEMENT_INPUT,
					       .buffer = slots[i].buffer,
					       .offset = slots[i].offset,
					       .n_bytes = slots[i].n_bytes,
					       .type = q->in[i]};
		root->in[i] = i;
		if (is_stretched(&(pctl_op_query){.n_in = 1, .in = &q->in[i]}, out))
			pctl_index_map_stretch(&q->in[i], out, &root->map[i]);
	}
	return pctl_elementwise_plan(planner->kernels, &e, call, plan);
}

/* The kernel's elements: of a port that takes a vector each is one. 0: the op is none for that. */
static int places_of(const pctl_op_desc *desc, const pctl_op_query *q,
		     const pctl_tensor_type *out_type, pctl_tensor_type *in, pctl_tensor_type *out)
{
	int fits = q->n_in <= PCTL_PORTS_MAX && desc->n_out == 1 &&
		   pctl_type_places(out_type, pctl_port_lanes(&desc->out[0]), out);

	for (uint32_t i = 0; fits && i < q->n_in; i++)
		fits = pctl_type_places(&q->in[i], pctl_port_lanes(&desc->in[i]), &in[i]);
	return fits;
}

pctl_status pctl_job_plan_function(const pctl_planner *planner, const pctl_op_ref *op,
				   const pctl_op_query *whole, const pctl_tensor_type *out_types,
				   const pctl_plan_slot *slots, const pctl_call *call,
				   pctl_job_plan *plan)
{
	const char *function = whole->n_in == 0
				       ? NULL
				       : op->lib->function(op->inst, op->index, whole->in[0].dtype);
	pctl_tensor_type in[PCTL_PORTS_MAX], out;
	const pctl_op_query places = {.op = whole->op, .n_in = whole->n_in, .in = in}, *q = &places;
	pctl_kernel_source source = {.name = op->desc->name, .flags = planner->wgsl_flags};
	pctl_plan_binding bindings[PCTL_PORTS_MAX + 1] = {{0}};
	pctl_known_binding known[PCTL_PORTS_MAX + 1];
	uint32_t groups[3] = {1, 1, 1};
	const pctl_kernel_module *unit;
	uint64_t n, n_groups;
	pctl_status status;
	char *text;

	if (function == NULL)
		return pctl_refuse(call, PC4134_NO_FORM, "op \"%s\" has no form for %s",
				   op->desc->name,
				   q->n_in == 0 ? "no input" : pctl_dtype_name(whole->in[0].dtype));
	if (!places_of(op->desc, whole, &out_types[0], in, &out) || !pctl_type_elements(&out, &n))
		return pctl_refuse(call, PC4132_PLAN,
				   "function op \"%s\" has ports that cannot be mapped",
				   op->desc->name);
	if (n > UINT32_MAX)
		return pctl_refuse(call, PC4133_SIZE,
				   "op \"%s\" on %" PRIu64 " elements: an index has 32 bits",
				   op->desc->name, n);
	if (is_stretched(q, &out) || is_too_large(planner, q, &out))
		return plan_stretched(planner, op, q, &out, function, slots, call, plan);
	n_groups = pctl_num_div_up(n, INVOCATIONS);
	if (n_groups > MOST_GROUPS) {
		groups[1] = (uint32_t)pctl_num_div_up(n_groups, MOST_GROUPS);
		n_groups = MOST_GROUPS;
	}
	groups[0] = (uint32_t)n_groups;
	text = kernel_text(op, q, out.dtype, function, n);
	if (text == NULL)
		return pctl_no_memory(call, "a kernel");
	source.text = text;
	source.n_text = strlen(text);
	source.groups = groups;
	for (uint32_t i = 0; i < q->n_in; i++)
		bindings[i] = (pctl_plan_binding){
			0, i, slots[i].buffer, 0, slots[i].offset, slots[i].n_bytes};
	bindings[q->n_in] = (pctl_plan_binding){
		1, 0, slots[q->n_in].buffer, 0, slots[q->n_in].offset, slots[q->n_in].n_bytes};
	for (uint32_t i = 0; i <= q->n_in; i++)
		known[i] = pctl_job_plan_known(plan, &bindings[i]);
	source.bindings = known;
	source.n_bindings = q->n_in + 1;
	status = pctl_kernels_get(planner->kernels, &source, call, &unit);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(plan, unit, bindings, q->n_in + 1, groups, call);
	free(text);
	return status;
}

pctl_status pctl_job_plan_view(const pctl_planner *planner, const pctl_op_ref *op,
			       const pctl_tensor_type *in, const pctl_op_result *view,
			       const pctl_plan_slot *slots, const pctl_call *call,
			       pctl_job_plan *plan)
{
	pctl_element_node nodes[2] = {{.kind = PCTL_ELEMENT_INPUT,
				       .buffer = slots[0].buffer,
				       .offset = slots[0].offset,
				       .n_bytes = slots[0].n_bytes,
				       .type = *in},
				      {.kind = PCTL_ELEMENT_VIEW, .type = view->out[0], .n_in = 1}};
	const pctl_elementwise e = {.name = op->desc->name,
				    .nodes = nodes,
				    .n_nodes = 2,
				    .output = slots[1].buffer,
				    .output_offset = slots[1].offset,
				    .output_bytes = slots[1].n_bytes,
				    .lanes = 1,
				    .most_bytes = planner->caps.max_binding_bytes,
				    .wgsl_flags = planner->wgsl_flags};

	pctl_index_map_view(view, &nodes[1].map[0]);
	return pctl_elementwise_plan(planner->kernels, &e, call, plan);
}

pctl_status pctl_job_plan_stretch(const pctl_planner *planner, const pctl_op_ref *op,
				  const pctl_op_query *q, const pctl_tensor_type *in,
				  pctl_plan_slot *slots, const pctl_call *call, pctl_job_plan *plan)
{
	for (uint32_t i = 0; i < q->n_in; i++) {
		pctl_op_result view = {.head = PCTL_HEAD(pctl_op_result), .out = {in[i]}};
		pctl_plan_slot copied[2] = {slots[i], {0}};
		uint64_t n_bytes = 0;
		pctl_index_map m;
		pctl_status status;

		if (pctl_type_equal(&q->in[i], &in[i]))
			continue;
		pctl_index_map_stretch(&q->in[i], &in[i], &m);
		memcpy(view.view_stride, m.stride, sizeof(view.view_stride));
		(void)pctl_type_buffer_bytes(&in[i], &n_bytes);
		status = pctl_job_plan_buffer(plan, PCTL_PLAN_TEMP, n_bytes, NULL, call,
					      &copied[1].buffer);
		if (status == PCTL_OK)
			status = pctl_job_plan_view(planner, op, &q->in[i], &view, copied, call,
						    plan);
		if (status != PCTL_OK)
			return status;
		slots[i] = copied[1];
		slots[i].n_bytes = n_bytes;
	}
	return PCTL_OK;
}
