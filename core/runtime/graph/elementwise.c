/* Elementwise kernels put into plans, in pieces where tensors are too large for a binding. */
#include "runtime/graph/elementwise_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"

static pctl_status add_kernel(pctl_kernels *kernels, const struct pctl_element_writing *w,
			      const char *text, uint64_t invocations, const pctl_call *call,
			      pctl_job_plan *plan)
{
	const pctl_elementwise *e = w->e;
	const uint32_t bits = pctl_dtype_bits(e->nodes[e->n_nodes - 1].type.dtype);
	pctl_kernel_source source = {
		.name = e->name, .flags = e->wgsl_flags, .text = text, .n_text = strlen(text)};
	pctl_plan_binding bindings[2 * PCTL_PORTS_MAX + 2] = {{0}};
	pctl_known_binding known[2 * PCTL_PORTS_MAX + 2];
	uint64_t n_groups = pctl_num_div_up(invocations, PCTL_ELEMENTWISE_INVOCATIONS);
	uint32_t groups[3] = {1, 1, 1}, n = 0, words[256] = {0};
	const pctl_kernel_module *unit;
	pctl_status status = PCTL_OK;

	if (w->bindings.n > 2 * PCTL_PORTS_MAX || w->words.n > 256)
		return PCTL_E_LIMIT;
	if (n_groups > PCTL_ELEMENTWISE_GROUPS) {
		groups[1] = (uint32_t)pctl_num_div_up(n_groups, PCTL_ELEMENTWISE_GROUPS);
		n_groups = PCTL_ELEMENTWISE_GROUPS;
	}
	groups[0] = (uint32_t)n_groups;
	for (; n < w->bindings.n; n++)
		bindings[n] = (pctl_plan_binding){.binding = n,
						  .buffer = w->bindings.items[n].buffer,
						  .offset = w->bindings.items[n].offset,
						  .n_bytes = w->bindings.items[n].n_bytes};
	bindings[n] = (pctl_plan_binding){.group = 1,
					  .buffer = e->output,
					  .offset = e->output_offset,
					  .n_bytes = e->output_bytes};
	if (!w->piece.whole) {
		bindings[n].offset += w->piece.from * bits / 8;
		bindings[n].n_bytes = pctl_element_piece_bytes(w->piece.count, bits);
	}
	n++;
	if (w->words.n != 0) {
		memcpy(words, w->words.items, w->words.n * sizeof(*words));
		bindings[n].group = 2;
		status = pctl_job_plan_buffer(plan, PCTL_PLAN_PARAMS,
					      pctl_num_align(w->words.n * sizeof(*words), 16),
					      words, call, &bindings[n].buffer);
		n++;
	}
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		known[i] = pctl_job_plan_known(plan, &bindings[i]);
	source.groups = groups;
	source.bindings = known;
	source.n_bindings = n;
	if (status == PCTL_OK)
		status = pctl_kernels_get(kernels, &source, call, &unit);
	if (status == PCTL_OK)
		status = pctl_job_plan_kernel(plan, unit, bindings, n, groups, call);
	return status;
}

/* Elements of a piece: its output and what is read in step with it fit in a binding. All of them where nothing is too large. */
static uint64_t piece_elements(const pctl_elementwise *e, uint64_t n)
{
	uint64_t largest = 0, n_bytes = 0;
	uint32_t widest = 0;

	for (uint32_t i = 0; i < e->n_nodes; i++) {
		const pctl_element_node *node = &e->nodes[i];

		if (node->kind != PCTL_ELEMENT_INPUT && i + 1 != e->n_nodes)
			continue;
		(void)pctl_type_buffer_bytes(&node->type, &n_bytes);
		largest = n_bytes > largest ? n_bytes : largest;
		if (pctl_dtype_bits(node->type.dtype) > widest)
			widest = pctl_dtype_bits(node->type.dtype);
	}
	return e->most_bytes == 0 || largest <= e->most_bytes
		       ? n
		       : pctl_element_piece_of(e->most_bytes, widest);
}

static pctl_status plan_piece(pctl_kernels *kernels, const pctl_elementwise *e, uint32_t lanes,
			      const struct pctl_element_piece *piece, const pctl_call *call,
			      pctl_job_plan *plan)
{
	const uint32_t bits = pctl_dtype_bits(e->nodes[e->n_nodes - 1].type.dtype);
	const uint64_t n = piece->count;
	struct pctl_element_writing w;
	pctl_status status;
	char *text;

	if (lanes != 1 && !pctl_element_can_be_wide(e, n))
		lanes = 1;
	text = pctl_element_text(&w, e, lanes, piece);
	if (lanes != 1 && w.bindings.n > PCTL_ELEMENTWISE_INPUTS) {
		/* Read in two ways a buffer is bound twice. */
		free(text);
		pctl_element_end(&w);
		lanes = 1;
		text = pctl_element_text(&w, e, lanes, piece);
	}
	if (text == NULL)
		status = pctl_no_memory(call, "a kernel");
	else if (w.too_wide)
		status = pctl_refuse(call, PC4133_SIZE, "%s: an index has 32 bits", e->name);
	else if (w.too_large)
		status =
			pctl_refuse(call, PC5203_BINDING_SIZE,
				    "%s: a tensor needs more than %u bindings of %" PRIu64 " bytes",
				    e->name, 2 * PCTL_PORTS_MAX, e->most_bytes);
	else
		status = add_kernel(kernels, &w, text,
				    pctl_element_has_function(e)
					    ? n / lanes
					    : pctl_num_div_up(n * bits, bits < 32 ? 32 : bits),
				    call, plan);
	free(text);
	pctl_element_end(&w);
	return status;
}

pctl_status pctl_elementwise_plan(pctl_kernels *kernels, const pctl_elementwise *e,
				  const pctl_call *call, pctl_job_plan *plan)
{
	const pctl_tensor_type *type = &e->nodes[e->n_nodes - 1].type;
	pctl_status status = PCTL_OK;
	uint64_t n, each;

	if (!pctl_type_elements(type, &n) || n > UINT32_MAX)
		return pctl_refuse(call, PC4133_SIZE,
				   "%s on %" PRIu64 " elements: an index has 32 bits", e->name, n);
	each = piece_elements(e, n);
	if (each == 0 && n != 0)
		return pctl_refuse(call, PC5203_BINDING_SIZE,
				   "%s: no piece of a tensor fits in a binding of %" PRIu64
				   " bytes",
				   e->name, e->most_bytes);
	for (uint64_t from = 0; status == PCTL_OK && (from < n || from == 0);
	     from += each == 0 ? 1 : each) {
		const uint64_t left = n - from;
		const struct pctl_element_piece piece = {from, left < each ? left : each,
							 piece_elements(e, n) == n};

		status = plan_piece(kernels, e, e->lanes, &piece, call, plan);
	}
	return status;
}
