/* Plans of jobs with elementwise jobs before and behind them; see jobplan_through.h. The op library puts its own kernels; what the host
 * adds to one is text behind its text and bindings of a group that the library leaves alone. */
#include "runtime/graph/jobplan_through.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "runtime/graph/elementwise_private.h"
#include "runtime/graph/jobplan_private.h"

#define WORDS_MOST 256u

/* ---- a kernel ----------------------------------------------------------------------------- */

/* f16 is among the values, if only as what is moved. */
static int has_half(const pctl_through *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (t->nodes[i].type.dtype == PCTL_SCALAR_F16)
			return 1;
	return 0;
}

/* read_through_3, write_through_0. */
static void name_of(uint32_t flag, char out[32])
{
	uint32_t port = 0;

	while (flag != PCTL_PLAN_READ_THROUGH(port) && flag != PCTL_PLAN_WRITE_THROUGH(port))
		port++;
	snprintf(out, 32,
		 flag == PCTL_PLAN_READ_THROUGH(port) && port < PCTL_PORTS_MAX
			 ? "read_through_%" PRIu32
			 : "write_through_%" PRIu32,
		 port);
}

static pctl_status add_bindings(struct pctl_frame *f, const struct pctl_element_writing *w,
				struct pctl_through_kernel *to)
{
	uint32_t words[WORDS_MOST] = {0};
	pctl_plan_binding *b;

	if (to->n_bindings + w->bindings.n + 1 > PCTL_THROUGH_BINDINGS || w->words.n > WORDS_MOST)
		return PCTL_E_UNSUPPORTED;
	for (uint32_t i = 0; i < w->bindings.n; i++) {
		const struct pctl_element_binding *of = &w->bindings.items[i];

		to->bindings[to->n_bindings] = (pctl_plan_binding){.group = PCTL_THROUGH_GROUP,
								   .binding = to->n_bindings,
								   .buffer = of->buffer,
								   .offset = of->offset,
								   .n_bytes = of->n_bytes};
		to->n_bindings++;
	}
	if (w->words.n == 0)
		return PCTL_OK;
	memcpy(words, w->words.items, w->words.n * sizeof(*words));
	b = &to->bindings[to->n_bindings];
	*b = (pctl_plan_binding){.group = PCTL_THROUGH_GROUP, .binding = to->n_bindings++};
	return pctl_job_plan_buffer(f->plan, PCTL_PLAN_PARAMS,
				    pctl_num_align(w->words.n * sizeof(*words), 16), words, f->call,
				    &b->buffer);
}

static pctl_status add_function(struct pctl_frame *f, const pctl_plan_kernel *k,
				const pctl_through_function *function, pctl_str_buf *text,
				struct pctl_through_kernel *to)
{
	const pctl_through *t = f->through;
	const pctl_elementwise e = {.name = k->name, .nodes = t->nodes, .n_nodes = t->n_nodes};
	const uint64_t from =
		function->flag >= PCTL_PLAN_WRITE_THROUGH(0) ? k->write_from : k->read_from;
	struct pctl_element_writing w;
	pctl_status status = PCTL_E_UNSUPPORTED;
	char name[32], *own;

	name_of(function->flag, name);
	own = pctl_element_function(&w, &e, function->last, name, to->n_bindings, from);
	if (own == NULL)
		status = pctl_plan_no_memory(f->call);
	else if (!w.too_wide && !w.too_large)
		status = add_bindings(f, &w, to);
	if (status == PCTL_OK)
		pctl_str_add(text, own);
	free(own);
	pctl_element_end(&w);
	return status;
}

pctl_status pctl_frame_through(struct pctl_frame *f, const pctl_plan_kernel *k,
			       struct pctl_through_kernel *out)
{
	const pctl_through *t = f->through;
	const uint32_t flags = PCTL_HAS(k, pctl_plan_kernel, write_from) ? k->through : 0;
	pctl_elementwise e = {.name = k->name};
	pctl_str_buf text = PCTL_STR_BUF_INIT, behind = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;

	out->n_bindings = 0;
	out->text = NULL;
	if (flags == 0)
		return PCTL_OK;
	if (t == NULL || (flags & ~t->flags) != 0)
		return pctl_frame_bad_plan(
			f, "a kernel calls functions that the plan was not asked for");
	e.nodes = t->nodes;
	e.n_nodes = t->n_nodes;
	if ((pctl_element_functions(&e, &behind) || has_half(t)) &&
	    strstr(k->wgsl, "enable f16;") == NULL)
		pctl_str_add(&text, "enable f16;\n");
	pctl_str_add(&text, k->wgsl);
	pctl_str_add(&text, "\n");
	if (behind.data != NULL)
		pctl_str_add(&text, behind.data);
	for (uint32_t i = 0; status == PCTL_OK && i < t->n_functions; i++)
		if (t->functions[i].flag & flags)
			status = add_function(f, k, &t->functions[i], &text, out);
	text.failed |= behind.failed;
	pctl_str_drop(&behind);
	f->used |= flags;
	if (status == PCTL_OK) {
		out->text = pctl_str_finish(&text);
		if (out->text == NULL)
			status = pctl_plan_no_memory(f->call);
	}
	pctl_str_drop(&text);
	return status;
}

const char *pctl_frame_passes_by(const struct pctl_frame *f, uint32_t local, uint32_t flags)
{
	const pctl_through *t = f->through;

	if (t == NULL)
		return NULL;
	if (local < t->q->n_in && (t->flags & PCTL_PLAN_READ_THROUGH(local)) != 0)
		return "an input that is read through a function is named by a command";
	if (local == t->q->n_in && (t->flags & ~flags & PCTL_PLAN_WRITE_THROUGH(0)) != 0)
		return "an output that is written through a function is named by a command that "
		       "does not "
		       "call it";
	return NULL;
}

/* ---- a plan ------------------------------------------------------------------------------- */

static pctl_status add_buffers(struct pctl_frame *f, const pctl_through *t)
{
	pctl_plan_slot slot = {0};
	pctl_status status = PCTL_OK;
	uint32_t number, local;

	for (uint32_t i = 0; status == PCTL_OK && i < t->n_in; i++)
		status = pctl_job_plan_buffer(f->plan, PCTL_PLAN_INPUT, t->in_bytes[i], NULL,
					      f->call, &number);
	if (status == PCTL_OK)
		status = pctl_job_plan_buffer(f->plan, PCTL_PLAN_OUTPUT, t->out_bytes, NULL,
					      f->call, &number);
	for (uint32_t i = 0; status == PCTL_OK && i <= t->q->n_in; i++) {
		slot.buffer = i == t->q->n_in ? number : t->in[i];
		/* Never looked at: pctl_frame_passes_by stands before it. */
		if (slot.buffer == UINT32_MAX)
			slot.buffer = number;
		slot.n_bytes = i < t->q->n_in && t->in[i] == UINT32_MAX
				       ? 0
				       : f->plan->buffers[slot.buffer].n_bytes;
		status = pctl_frame_map_slot(f, &slot, &local);
	}
	return status;
}

pctl_status pctl_job_plan_through(const pctl_planner *planner, const char *job,
				  const pctl_through *t, const pctl_call *call, pctl_job_plan **out)
{
	struct pctl_frame f = {
		.planner = planner, .op = t->op, .call = call, .flags = t->flags, .through = t};
	pctl_status status = pctl_job_plan_create(job, call, &f.plan);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	status = add_buffers(&f, t);
	if (status == PCTL_OK)
		status = pctl_frame_run_library(&f, t->q);
	if (status == PCTL_OK && f.used != t->flags)
		status = pctl_frame_bad_plan(
			&f, "no kernel calls a function that it was asked to call");
	if (status == PCTL_OK && !pctl_job_plan_fits(f.plan, 0, planner->caps.max_binding_bytes))
		status = PCTL_E_UNSUPPORTED;
	if (status == PCTL_OK)
		status = pctl_job_plan_place(f.plan, call);
	free(f.slots);
	if (status != PCTL_OK) {
		pctl_job_plan_destroy(f.plan);
		return status;
	}
	*out = f.plan;
	return PCTL_OK;
}
