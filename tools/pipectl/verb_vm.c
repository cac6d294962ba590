/* Verbs over machines of the GPU VM: run, which makes a pipeline of one job, and show. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/tensorfile/tensor_file.h"
#include "runtime/exec/source.h"
#include "runtime/graph/vm.h"

static pctl_status read_machine(pctl_app *app, const char *path, pctl_vm_desc **out)
{
	pctl_status status = pctl_installation_ops(&app->host, app->call);

	*out = NULL;
	return status == PCTL_OK
		       ? pctl_vm_read(NULL, path, pctl_op_library_source(app->host.library),
				      app->arena, app->call, out)
		       : status;
}

/* ---- run ---------------------------------------------------------------------------------- */

/* What behind the last colon is a type is one: FILE:f32[64]. */
static pctl_status split_type(pctl_app *app, pctl_setting *s, const char **type)
{
	const char *colon = strrchr(s->value, ':');

	*type = NULL;
	if (colon == NULL ||
	    pctl_dtype_find(colon + 1, strcspn(colon + 1, "[")) == PCTL_SCALAR_NONE)
		return PCTL_OK;
	*type = colon + 1;
	s->value = pctl_arena_dup_n(app->arena, s->value, (size_t)(colon - s->value));
	return s->value == NULL ? pctl_no_memory(app->call, "options") : PCTL_OK;
}

static pctl_status parse_type(pctl_app *app, pctl_pipeline *p, const char *text,
			      pctl_type_pattern *out)
{
	pctl_status status = pctl_type_parse(text, p->arena, NULL, app->call, out);

	return status == PCTL_OK && out->n_dtypes != 1
		       ? pctl_refuse(app->call, PC4020_TYPE_SYNTAX, "\"%s\" is not one type", text)
		       : status;
}

/* A file of tensors says its own type; other bytes are as many as there are. */
static pctl_status type_of_input(pctl_app *app, pctl_pipeline *p, pctl_setting *in,
				 pctl_type_pattern *out)
{
	const char *type, *name;
	pctl_tensor_type t;
	size_t n;
	pctl_status status = split_type(app, in, &type);

	if (status == PCTL_OK && type != NULL)
		return parse_type(app, p, type, out);
	*out = (pctl_type_pattern){
		.dtype = {PCTL_DTYPE_BYTES}, .n_dtypes = 1, .rank = 1, .dim = {{in->name, 0}}};
	if (status != PCTL_OK || !pctl_tensor_ref_parse(in->value, &n, &name))
		return status;
	status = pctl_source_peek(in->value, app->call, &t);
	out->dtype[0] = t.dtype;
	out->rank = t.rank;
	for (uint32_t i = 0; status == PCTL_OK && i < t.rank; i++)
		out->dim[i] = (pctl_dim_pattern){NULL, t.dim[i]};
	return status;
}

static pctl_status add_input(pctl_app *app, pctl_pipeline *p, pctl_setting *in)
{
	const pctl_pos pos = {"--in", 0, 0, 0, 0};
	pctl_pipe_input *input = &p->inputs[p->n_inputs];
	pctl_pipe_job *job = &p->jobs[0];
	pctl_status status = type_of_input(app, p, in, &input->type);

	if (status != PCTL_OK)
		return status;
	input->name = in->name;
	input->pos = pos;
	job->in[job->n_in++] = (pctl_pipe_feed){in->name, pos, {pos, in->name, NULL, in->name}};
	p->n_inputs++;
	return PCTL_OK;
}

/* All of the place: metrics and control by instance, globals as words, everything else as f32. */
static const char *whole_place(pctl_app *app, const pctl_vm_desc *d, const pctl_vm_port *port)
{
	if (port->kind == PCTL_VM_PORT_METRICS)
		return pctl_arena_printf(app->arena, "f32[%" PRIu32 ",6]", d->instances);
	if (port->kind == PCTL_VM_PORT_CONTROL)
		return pctl_arena_printf(app->arena, "f32[%" PRIu32 ",4]", d->instances);
	return pctl_arena_printf(app->arena, "%s[%" PRIu64 "]",
				 port->kind == PCTL_VM_PORT_REGISTER ? "f32" : "u32",
				 port->n_bytes / 4u);
}

static pctl_status add_output(pctl_app *app, pctl_pipeline *p, const pctl_vm_desc *d,
			      pctl_setting *out)
{
	const pctl_pos pos = {"--out", 0, 0, 0, 0};
	pctl_pipe_job *job = &p->jobs[0];
	pctl_pipe_result *result = &job->out[job->n_out];
	pctl_vm_port port;
	const char *type;
	pctl_status status = split_type(app, out, &type);

	if (status == PCTL_OK)
		status = pctl_vm_port_find(d, out->name, 1, &pos, app->call, &port);
	if (status == PCTL_OK && type == NULL)
		type = whole_place(app, d, &port);
	if (status == PCTL_OK)
		status = parse_type(app, p, type, &result->type);
	if (status != PCTL_OK)
		return status;
	result->name = out->name;
	result->pos = result->type_pos = pos;
	p->outputs[p->n_outputs++] =
		(pctl_pipe_feed){out->name, pos, {pos, out->name, "vm", out->name}};
	job->n_out++;
	return PCTL_OK;
}

/* A part of the heap that names a file, and that no --in feeds. */
static pctl_status add_files(pctl_app *app, const char *path, const pctl_vm_desc *d,
			     pctl_setting **ins, uint32_t *n_ins)
{
	pctl_setting *all =
		pctl_arena_array(app->arena, *n_ins + (size_t)d->n_heap + 1u, sizeof(*all));
	uint32_t n = 0;

	if (all == NULL)
		return pctl_no_memory(app->call, "options");
	for (; n < *n_ins; n++)
		all[n] = (*ins)[n];
	for (uint32_t i = 0; i < d->n_heap; i++) {
		uint32_t fed = d->heap[i].file == NULL;
		char *beside;

		for (uint32_t k = 0; k < *n_ins; k++)
			fed |= strcmp((*ins)[k].name, d->heap[i].name) == 0;
		if (fed)
			continue;
		beside = pctl_vfs_resolve(NULL, path, d->heap[i].file);
		all[n].name = d->heap[i].name;
		all[n].value = beside == NULL ? NULL : pctl_arena_dup(app->arena, beside);
		free(beside);
		if (all[n++].value == NULL)
			return pctl_no_memory(app->call, "a path");
	}
	*ins = all;
	*n_ins = n;
	return PCTL_OK;
}

static pctl_status make_pipeline(pctl_app *app, const char *path, const pctl_vm_desc *d,
				 pctl_setting *ins, uint32_t n_ins, pctl_setting *outs,
				 uint32_t n_outs, pctl_pipeline **out)
{
	const pctl_job_room room = {n_ins, n_outs, 0};
	const pctl_pos pos = {path, 0, 0, 0, 0};
	pctl_pipe_job *job;
	pctl_status status = pctl_app_one_job(app, d->name, &room, out, &job);
	pctl_pipeline *p = *out;

	if (status != PCTL_OK)
		return status;
	p->max_class = PCTL_CLASS_STRICT;
	job->id = "vm";
	job->pos = job->op_pos = pos;
	job->kind = PCTL_JOB_VM;
	job->shader = path;
	for (uint32_t i = 0; status == PCTL_OK && i < n_ins; i++)
		status = add_input(app, p, &ins[i]);
	for (uint32_t i = 0; status == PCTL_OK && i < n_outs; i++)
		status = add_output(app, p, d, &outs[i]);
	return status;
}

pctl_status pctl_verb_vm_run(pctl_app *app)
{
	const char *path = app->line.arguments[0];
	pctl_setting *ins = NULL, *outs = NULL;
	uint32_t n_ins = 0, n_outs = 0;
	pctl_run_options options;
	pctl_pipeline *p = NULL;
	pctl_vm_desc *d = NULL;
	pctl_status status = read_machine(app, path, &d);

	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &n_ins);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--out", &outs, &n_outs);
	if (status == PCTL_OK)
		status = add_files(app, path, d, &ins, &n_ins);
	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &options);
	if (status == PCTL_OK)
		status = make_pipeline(app, path, d, ins, n_ins, outs, n_outs, &p);
	if (status == PCTL_OK) {
		options.ins = ins;
		options.n_ins = n_ins;
		status = pctl_app_run_one(app, path, p, &options, outs, n_outs);
	}
	pctl_pipeline_destroy(p);
	return status;
}

/* ---- show --------------------------------------------------------------------------------- */

static void show_part(pctl_app *app, const char *space, const char *name, uint64_t at,
		      uint64_t n_bytes)
{
	if (app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "space", space);
		pctl_json_kv_string(&app->document, "name", name);
		pctl_json_kv_u64(&app->document, "at", at);
		pctl_json_kv_u64(&app->document, "bytes", n_bytes);
		pctl_json_object_end(&app->document);
	} else if (n_bytes != 0) {
		printf("  %-10s %-20s at %-12" PRIu64 " %" PRIu64 " bytes\n", space, name, at,
		       n_bytes);
	}
}

static void show_memory(pctl_app *app, const pctl_vm_desc *d)
{
	if (app->json) {
		pctl_json_key(&app->document, "memory");
		pctl_json_array_begin(&app->document);
	}
	show_part(app, "registers", "each instance", 0, pctl_vm_registers_bytes(d));
	show_part(app, "metrics", "each instance", 0, 4u * PCTL_VM_METRICS);
	show_part(app, "control", "each instance", 0, 4u * PCTL_VM_CONTROL);
	for (uint32_t i = 0; i < d->n_heap; i++)
		show_part(app, "heap", d->heap[i].name, d->heap[i].at, d->heap[i].n_bytes);
	show_part(app, "globals", "position", 0, 4u * PCTL_VM_HEAD);
	show_part(app, "globals", "statistics", 4u * PCTL_VM_HEAD, 16ull * d->instances);
	show_part(app, "globals", "throughput", pctl_vm_throughput_at(d), 4ull * d->instances);
	show_part(app, "globals", "kv", pctl_vm_kv_at(d, 0), d->instances * pctl_vm_kv_stride(d));
	for (uint32_t i = 0; i < d->n_globals; i++)
		show_part(app, "globals", d->globals[i].name, d->globals[i].at,
			  d->globals[i].n_bytes);
	if (app->json)
		pctl_json_array_end(&app->document);
}

static void show_steps(pctl_app *app, const pctl_vm_desc *d)
{
	if (app->json) {
		pctl_json_key(&app->document, "program");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < d->n_steps; i++) {
		const pctl_vm_step *s = &d->steps[i];

		if (app->json) {
			pctl_json_object_begin(&app->document);
			pctl_json_kv_string(&app->document, s->text != NULL ? "kernel" : "op",
					    s->name);
			pctl_json_kv_u32(&app->document, "first", s->first);
			pctl_json_kv_u32(&app->document, "last", s->last);
			pctl_json_object_end(&app->document);
		} else {
			printf("  %-6s %-28s in %" PRIu32 " to %" PRIu32 "\n",
			       s->text != NULL ? "kernel" : "op", s->name, s->first, s->last);
		}
	}
	if (app->json)
		pctl_json_array_end(&app->document);
}

static void show_plan(pctl_app *app, const pctl_job_plan *plan, uint64_t gas)
{
	uint32_t dispatches = 0;

	for (uint32_t i = 0; i < plan->n_steps; i++)
		dispatches += plan->steps[i].kind == PCTL_STEP_KERNEL;
	if (app->json) {
		pctl_json_kv_u32(&app->document, "submissions", 1);
		pctl_json_kv_u32(&app->document, "dispatches", dispatches);
		pctl_json_kv_u64(&app->document, "gas", gas);
		pctl_json_kv_string(&app->document, "class", pctl_class_name(plan->determinism));
		return;
	}
	printf("an execution: 1 submission, %" PRIu32 " dispatches, gas %" PRIu64
	       ", class %s, %s of races\n",
	       dispatches, gas, pctl_class_name(plan->determinism),
	       plan->race == PCTL_PROOF_PROVEN ? "proven free" : "not proven free");
}

static void show_shape(pctl_app *app, const pctl_vm_desc *d)
{
	if (app->json) {
		pctl_json_kv_string(&app->document, "name", d->name);
		pctl_json_kv_string(&app->document, "about", d->about);
		pctl_json_kv_u32(&app->document, "instances", d->instances);
		pctl_json_kv_u32(&app->document, "width", d->width);
		pctl_json_kv_u32(&app->document, "n_embd", d->n_embd);
		pctl_json_kv_u32(&app->document, "turns", d->turns);
		pctl_json_kv_string(&app->document, "regulator", d->acts ? "act" : "observe");
		pctl_json_kv_bool(&app->document, "skipping", d->skipping != 0);
		return;
	}
	printf("%s%s%s: %" PRIu32 " instances of 32 registers of %" PRIu32
	       " words, messages of %" PRIu32 " + 4, the regulator %s%s, %" PRIu32 " turns a job\n",
	       d->name, d->about == NULL ? "" : ", ", d->about == NULL ? "" : d->about,
	       d->instances, d->width, d->n_embd, d->acts ? "acts" : "observes",
	       d->skipping ? ", instances can be skipped" : "", d->turns);
}

pctl_status pctl_verb_vm_show(pctl_app *app)
{
	pctl_vm_desc *d = NULL;
	pctl_job_plan *plan = NULL;
	pctl_vm_buffers where;
	uint64_t gas = 0;
	pctl_status status = read_machine(app, app->line.arguments[0], &d);

	if (status == PCTL_OK)
		status = pctl_installation_schedule(&app->host, app->call);
	if (status == PCTL_OK) {
		const pctl_planner planner = {pctl_op_library_source(app->host.library),
					      app->host.kernels, pctl_run_canonical_caps(), 0};

		status = pctl_vm_turn_plan(&planner, d, 0, app->call, &where, NULL, &plan);
	}
	if (status == PCTL_OK)
		status = pctl_job_plan_gas(plan, app->host.schedule, 1, 0, app->call, &gas);
	if (status == PCTL_OK) {
		show_shape(app, d);
		show_memory(app, d);
		show_steps(app, d);
		show_plan(app, plan, gas);
	}
	pctl_job_plan_destroy(plan);
	return status;
}
