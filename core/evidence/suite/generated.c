/* Generated programs: what the generator makes of a seed runs on the device and on the reference, and every buffer that
 * was written must be equal. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/case.h"
#include "evidence/suite/gen.h"
#include "evidence/suite/trial.h"

static char *text_of(const pctl_proof_context *b, uint64_t number, uint32_t flags)
{
	pctl_arena *a = pctl_arena_create();
	/* Even seeds are programs of integers, odd ones have floats. */
	const uint64_t seed = 2 * ((b->seed << 24) + number) + (flags & GEN_FLOATS ? 1 : 0);
	char *text = a == NULL ? NULL : node_text(gen_program(a, seed, flags));

	pctl_arena_destroy(a);
	return text;
}

static int is_written(const pctl_program *p, uint32_t binding)
{
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		if (v->space == PCTL_SPACE_STORAGE && v->binding == binding)
			return (v->access & PCTL_ACCESS_WRITE) != 0;
	}
	return 0;
}

static int is_uniform(const pctl_program *p, uint32_t binding)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_UNIFORM && p->vars[i].binding == binding)
			return 1;
	return 0;
}

static void add_dispatch(suite_work *w, const diff_case *c, const pctl_kernel_module *unit,
			 int floats, uint32_t d)
{
	const pctl_program *p = unit->program;
	suite_step *step = &w->steps[w->n_steps++];

	*step = (suite_step){.unit = floats ? unit : NULL, .program = floats ? NULL : p};
	memcpy(step->groups, c->dispatch[d].groups, sizeof(step->groups));
	for (uint32_t i = 0; i < c->n_bindings; i++) {
		const uint32_t at = c->binding[i].binding;
		const uint32_t kind = is_uniform(p, at)	  ? SUITE_UNIFORM
				      : is_written(p, at) ? SUITE_OUT
							  : SUITE_IN;
		const uint32_t b = suite_buffer_add(w, kind, NULL, c->binding[i].n_bytes);

		if (w->failed || at >= SUITE_BINDINGS) {
			w->failed = 1;
			return;
		}
		diff_case_fill(c, d, i, w->buffers[b].data);
		step->buffer[at] = b;
	}
}

pctl_status suite_generated(suite_trial *t, pctl_kernels *kernels, uint64_t number, uint32_t flags,
			    const pctl_kernel_module **unit, suite_work *w)
{
	char *text = text_of(t->context, number, flags);
	diff_case c;
	pctl_kernel_source source = {.name = "generated.wgsl", .text = text};
	pctl_status status = PCTL_OK;

	*unit = NULL;
	if (text == NULL)
		return pctl_no_memory(t->call, "a generated program");
	if (!diff_case_read(&c, source.name, text))
		status = pctl_refuse(t->call, PC1_INTERNAL, "generated program %" PRIu64, number);
	source.n_text = strlen(text);
	source.overrides = c.override;
	source.n_overrides = c.n_overrides;
	if (status == PCTL_OK)
		status = pctl_kernels_get(kernels, &source, t->call, unit);
	for (uint32_t d = 0; status == PCTL_OK && !w->failed && d < c.n_dispatches; d++)
		add_dispatch(w, &c, *unit, (flags & GEN_FLOATS) != 0, d);
	free(text);
	return status;
}

/* The units are dropped with their cache at once: nothing grows with the number of programs. */
static pctl_status generated(suite_trial *t, uint32_t flags)
{
	pctl_kernels *kernels = pctl_kernels_create(t->context->ops);
	const pctl_kernel_module *unit;
	suite_work device = {.times = 1}, host = {.times = 1};
	pctl_status status = PCTL_OK;

	if (kernels == NULL)
		return pctl_no_memory(t->call, "a generated program");
	status = suite_generated(t, kernels, t->p[0], flags, &unit, &device);
	if (status == PCTL_OK)
		status = suite_generated(t, kernels, t->p[0], flags, &unit, &host);
	if (status == PCTL_OK)
		status = suite_run(t, t->context->device, &device);
	if (status == PCTL_OK)
		status = suite_run(t, t->context->reference, &host);
	if (status == PCTL_OK)
		suite_same(t, "buffers of a generated program", &device, &host);
	suite_work_drop(&device);
	suite_work_drop(&host);
	pctl_kernels_destroy(kernels);
	return status;
}

pctl_status suite_generated_trial(suite_trial *t)
{
	return generated(t, 0);
}

pctl_status suite_generated_float_trial(suite_trial *t)
{
	return generated(t, GEN_FLOATS);
}

pctl_status suite_generated_exits_trial(suite_trial *t)
{
	return generated(t, GEN_EXITS);
}

pctl_status suite_generated_barriers_trial(suite_trial *t)
{
	return generated(t, GEN_BARRIERS);
}
