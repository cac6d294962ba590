/* Verbs over single shaders: check shows the analysis, run makes a pipeline of one job. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/num.h"
#include "shader.h"
#include "shader_text.h"
#include "compiler/wgsl/wgsl.h"

static pctl_status parse_class(pctl_app *app, struct shader_options *o)
{
	const char *text = pctl_option_value(&app->line, "--class");

	o->max_class = PCTL_CLASS_APPROXIMATE;
	if (text == NULL)
		return PCTL_OK;
	for (uint32_t c = PCTL_CLASS_INTEGER; c <= PCTL_CLASS_APPROXIMATE; c++) {
		if (strcmp(text, pctl_class_name(c)) == 0) {
			o->max_class = c;
			return PCTL_OK;
		}
	}
	return pctl_refuse(app->call, PC10_USAGE,
			   "--class takes integer, strict or approximate, not \"%s\"", text);
}

/* A value; or, where there may be several, values with commas between. */
static int is_value(pctl_app *app, const char *text, uint32_t lists)
{
	while (lists && strchr(text, ',') != NULL) {
		const size_t n = strcspn(text, ",");
		const char *one = pctl_arena_dup_n(app->arena, text, n);

		if (one == NULL || !pctl_override_is_value(one))
			return 0;
		text += n + 1;
	}
	return pctl_override_is_value(text);
}

static pctl_status parse_overrides(pctl_app *app, struct shader_options *o)
{
	pctl_setting *given;
	uint32_t n;
	pctl_status status = pctl_app_settings(app, "--override", &given, &n);

	if (status != PCTL_OK)
		return status;
	o->overrides = pctl_arena_array(app->arena, n, sizeof(*o->overrides));
	for (uint32_t i = 0; o->overrides != NULL && i < n; i++) {
		if (!is_value(app, given[i].value, o->lists))
			return pctl_refuse(app->call, PC10_USAGE,
					   "--override %s: \"%s\" is no number or bool",
					   given[i].name, given[i].value);
		o->overrides[o->n_overrides++] =
			(pctl_override_value){.name = given[i].name, .text = given[i].value};
	}
	return PCTL_OK;
}

pctl_status pctl_shader_options(pctl_app *app, const char *path, struct shader_options *o)
{
	pctl_status status = pctl_app_dispatch(app, o->groups);

	o->has_groups = pctl_option_value(&app->line, "--dispatch") != NULL;

	if (status == PCTL_OK)
		status = parse_class(app, o);
	if (status == PCTL_OK)
		status = parse_overrides(app, o);
	o->entry = pctl_option_value(&app->line, "--entry");
	if (status == PCTL_OK)
		status = pctl_app_shader_text(app, path, &o->text, &o->n_text);
	if (status == PCTL_OK)
		pctl_diag_list_source(app->diagnostics, path, o->text, o->n_text);
	return status;
}

pctl_status pctl_shader_unit(pctl_app *app, const char *path, const struct shader_options *o,
			     uint32_t flags, const pctl_kernel_module **out)
{
	const pctl_kernel_source source = {.name = path,
					   .text = o->text,
					   .n_text = o->n_text,
					   .entry = o->entry,
					   .overrides = o->overrides,
					   .n_overrides = o->n_overrides,
					   .flags = flags,
					   .groups = o->has_groups ? o->groups : NULL};
	pctl_status status = pctl_installation_ops(&app->host, app->call);

	if (status == PCTL_OK)
		status = pctl_kernels_get(app->host.kernels, &source, app->call, out);
	if (status != PCTL_OK)
		return status;
	if ((*out)->analysis->race == PCTL_PROOF_REFUTED)
		return pctl_kernel_refuse_race(*out, path, app->call);
	if ((*out)->analysis->determinism <= o->max_class)
		return PCTL_OK;
	if ((*out)->analysis->order_dependent) {
		const pctl_pos pos = pctl_kernel_order_position(*out);

		return pctl_refuse_at(app->call, PC4315_POLICY_ORDER, &pos,
				      pctl_kernel_order_hint(*out),
				      "the result depends on the order of these atomic operations, "
				      "which is class approximate; %s is allowed",
				      pctl_class_name(o->max_class));
	} else {
		const pctl_pos pos = {path, 0, 0, 0, 0};

		return pctl_refuse_at(app->call, PC4114_CLASS, &pos, NULL,
				      "the shader is of class %s, %s is allowed",
				      pctl_class_name((*out)->analysis->determinism),
				      pctl_class_name(o->max_class));
	}
}

#define RACE_TEXT 512

static const char *race_text(const pctl_kernel_module *u, char out[RACE_TEXT])
{
	char text[PCTL_KERNEL_RACE_SIZE];
	pctl_pos at[2];

	if (u->analysis->race == PCTL_PROOF_PROVEN)
		return "proven free of races";
	pctl_kernel_race(u, at, text);
	if (at[0].line == 0)
		return "freedom of races unproven";
	snprintf(out, RACE_TEXT,
		 "freedom of races unproven (%.100s:%" PRIu32 ":%" PRIu32 " and %.100s:%" PRIu32
		 ":%" PRIu32 ")",
		 at[0].file, at[0].line, at[0].column, at[1].file, at[1].line, at[1].column);
	return out;
}

/* The accesses that were not proved apart: none of a proven one. */
static void json_race_places(pctl_json *j, const pctl_kernel_module *u)
{
	char text[PCTL_KERNEL_RACE_SIZE];
	pctl_pos at[2];

	pctl_kernel_race(u, at, text);
	pctl_json_key(j, "race_places");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < 2 && u->analysis->race != PCTL_PROOF_PROVEN; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "file", at[i].file);
		pctl_json_kv_u32(j, "line", at[i].line);
		pctl_json_kv_u32(j, "column", at[i].column);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

void pctl_shader_print_module(pctl_app *app, const char *path, const pctl_program *whole,
			      const pctl_kernel_module *u, const pctl_gas_price *price,
			      const pctl_shader_job_price *job)
{
	const pctl_analysis *a = u->analysis;
	const pctl_entry *entry = &u->program->entries[0];
	char cid[PCTL_CID_TEXT_SIZE], race[RACE_TEXT], *listing;

	if (app->json) {
		pctl_json *j = &app->document;

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "file", path);
		pctl_json_kv_bool(j, "ok", 1);
		pctl_json_kv_string(j, "program", pctl_cid_format(&u->cid, cid));
		pctl_json_kv_string(j, "entry", pctl_str(u->program, entry->name));
		pctl_json_kv_string(j, "class", pctl_class_name(a->determinism));
		pctl_json_kv_string(j, "race",
				    a->race == PCTL_PROOF_PROVEN    ? "proven"
				    : a->race == PCTL_PROOF_REFUTED ? "refuted"
								    : "unproven");
		json_race_places(j, u);
		pctl_json_kv_bool(j, "order_dependent", (int)a->order_dependent);
		pctl_json_kv_u64(j, "max_loop_iterations", a->max_loop_iterations);
		pctl_json_kv_u64(j, "workgroup_bytes", a->workgroup_bytes);
		pctl_json_kv_u64(j, "invocations", a->invocations);
		pctl_json_kv_u64(j, "cost_per_workgroup", price->cost_per_workgroup);
		pctl_json_kv_u32(j, "ticks", a->n_ticks);
		if (job != NULL)
			pctl_shader_print_price(app, job);
		pctl_shader_print_bindings(app, u->program);
		if (whole != NULL)
			pctl_shader_print_overrides(app, whole);
		pctl_json_object_end(j);
		return;
	}
	printf("%s: ok: entry %s, %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", class %s, %s%s, gas %" PRIu64
	       " a workgroup\n",
	       path, pctl_str(u->program, entry->name), entry->workgroup_size[0],
	       entry->workgroup_size[1], entry->workgroup_size[2], pctl_class_name(a->determinism),
	       race_text(u, race), a->order_dependent ? ", order-dependent atomics" : "",
	       price->cost_per_workgroup);
	if (job != NULL)
		pctl_shader_print_price(app, job);
	pctl_shader_print_bindings(app, u->program);
	if (whole != NULL)
		pctl_shader_print_overrides(app, whole);
	if (app->verbose)
		fprintf(stderr, "  program %s\n", pctl_cid_format(&u->cid, cid));
	if (!pctl_option_has(&app->line, "--print"))
		return;
	listing = pctl_program_print(u->program);
	if (listing != NULL)
		fputs(listing, stdout);
	free(listing);
}

static pctl_status check_entry(pctl_app *app, const char *path, const struct shader_options *o)
{
	const pctl_kernel_source source = {.name = path, .text = o->text, .n_text = o->n_text};
	const pctl_kernel_module *unit;
	const pctl_program *whole;
	pctl_gas_price price;
	pctl_status status = pctl_shader_unit(app, path, o, 0, &unit);

	if (status == PCTL_OK)
		status = pctl_installation_schedule(&app->host, app->call);
	if (status == PCTL_OK) {
		pctl_gas_query q = {.program = unit->program,
				    .analysis = unit->analysis,
				    .groups = {o->groups[0], o->groups[1], o->groups[2]}};

		status = pctl_gas_price_of(app->host.schedule, &q, app->call, &price);
	}
	if (status == PCTL_OK)
		status = pctl_kernels_compiled(app->host.kernels, &source, app->call, &whole);
	if (status == PCTL_OK)
		pctl_shader_print_module(app, path, whole, unit, &price, NULL);
	return status;
}

/* The entry point that was named, or else each of the text. */
static pctl_status check_unit(pctl_app *app, const char *path, const struct shader_options *given)
{
	const pctl_kernel_source source = {
		.name = path, .text = given->text, .n_text = given->n_text};
	struct shader_options o = *given;
	const pctl_program *program;
	pctl_status status = pctl_installation_ops(&app->host, app->call), one;

	/* What the front end refuses is said once, on the way of the only entry point. */
	if (status != PCTL_OK)
		return status;
	if (o.entry != NULL ||
	    pctl_kernels_compiled(app->host.kernels, &source, NULL, &program) != PCTL_OK ||
	    program->n_entries < 2)
		return check_entry(app, path, &o);
	for (uint32_t i = 0; i < program->n_entries; i++) {
		o.entry = pctl_str(program, program->entries[i].name);
		one = check_entry(app, path, &o);
		status = status == PCTL_OK ? one : status;
	}
	return status;
}

static pctl_status check_one(pctl_app *app, const char *path)
{
	struct shader_options o = {.text = NULL};
	pctl_status status = pctl_shader_options(app, path, &o);

	if (status == PCTL_OK)
		status = pctl_option_has(&app->line, "--consensus")
				 ? pctl_shader_check_rules(app, path, &o)
				 : check_unit(app, path, &o);
	if (status != PCTL_OK && app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_bool(&app->document, "ok", 0);
		pctl_json_object_end(&app->document);
	}
	free(o.text);
	return status;
}

pctl_status pctl_verb_shader_check(pctl_app *app)
{
	pctl_status first = PCTL_OK;

	if (pctl_option_has(&app->line, "--consensus"))
		first = pctl_shader_say_rules(app);
	if (first != PCTL_OK)
		return first;
	if (app->json) {
		pctl_json_key(&app->document, "shaders");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		pctl_status status = check_one(app, app->line.arguments[i]);

		if (first == PCTL_OK)
			first = status;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}

/* ---- run ---------------------------------------------------------------------------------- */

/* The pipeline of one job: every --bind an input of the pipeline and of the job; what the shader
 * may write is an output under the same name, "G:B". */
static pctl_status add_binding(pctl_app *app, pctl_pipeline *p, const pctl_program *program,
			       pctl_setting *bind)
{
	pctl_pipe_job *job = &p->jobs[0];
	pctl_pos pos = {"--bind", 0, 0, 0, 0};
	const pctl_var *v;
	const char *name;
	pctl_status status = pctl_shader_variable(app, program, "--bind", bind, &v);

	if (status != PCTL_OK)
		return status;
	name = pctl_arena_dup(p->arena, pctl_str(program, v->name));
	if (name == NULL)
		return pctl_no_memory(app->call, "a pipeline");
	for (uint32_t i = 0; i < job->n_in; i++) {
		if (strcmp(job->in[i].port, name) == 0)
			return pctl_refuse(app->call, PC10_USAGE,
					   "--bind gives group %" PRIu32 " binding %" PRIu32
					   " twice",
					   v->group, v->binding);
	}
	/* The length is a dimension of this name, found when the data is opened. */
	p->inputs[p->n_inputs++] = (pctl_pipe_input){.name = bind->name,
						     .pos = pos,
						     .type = {.dtype = {PCTL_DTYPE_BYTES},
							      .n_dtypes = 1,
							      .rank = 1,
							      .dim = {{bind->name, 0}}}};
	job->in[job->n_in++] = (pctl_pipe_feed){name, pos, {pos, bind->name, NULL, bind->name}};
	if (!(v->access & PCTL_ACCESS_WRITE) || v->space != PCTL_SPACE_STORAGE)
		return PCTL_OK;
	job->out[job->n_out++] =
		(pctl_pipe_result){name, pos, pos, p->inputs[p->n_inputs - 1].type};
	p->outputs[p->n_outputs++] =
		(pctl_pipe_feed){bind->name, pos, {pos, bind->name, job->id, name}};
	return PCTL_OK;
}

pctl_status pctl_shader_pipeline(pctl_app *app, const char *path, const struct shader_options *o,
				 const pctl_program *program, pctl_setting *binds, uint32_t n_binds,
				 pctl_pipeline **out)
{
	const pctl_job_room room = {n_binds, n_binds, o->n_overrides};
	const pctl_pos pos = {path, 0, 0, 0, 0};
	pctl_pipe_job *job;
	pctl_status status = pctl_app_one_job(app, "shader", &room, out, &job);
	pctl_pipeline *p = *out;

	if (status != PCTL_OK)
		return status;
	p->max_class = o->max_class;
	job->id = "shader";
	job->pos = job->op_pos = pos;
	job->kind = PCTL_JOB_SHADER;
	job->shader = path;
	job->shader_text = o->text;
	job->entry = o->entry;
	for (uint32_t i = 0; i < o->n_overrides; i++)
		job->attr[job->n_attr++] = (pctl_pipe_named){
			o->overrides[i].name, pos, {pos, o->overrides[i].text, 0, 0}};
	for (uint32_t i = 0; i < 3; i++)
		job->groups[job->n_groups++] = (pctl_pipe_value){
			pos, pctl_arena_printf(p->arena, "%" PRIu32, o->groups[i]), 0, 0};
	for (uint32_t i = 0; status == PCTL_OK && i < n_binds; i++)
		status = add_binding(app, p, program, &binds[i]);
	return status;
}

/* --trace JOB[/ROUND[.STEP]], steps from 1: the id that the backend hears in place of this run's own. */
static pctl_status parse_trace(pctl_app *app, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, "--trace"), *at;
	uint64_t round = 0, step = 0;
	char *job;
	size_t n;
	int good;

	*out = 0;
	if (text == NULL)
		return PCTL_OK;
	n = strcspn(text, "/");
	job = pctl_arena_dup_n(app->arena, text, n);
	if (job == NULL)
		return pctl_no_memory(app->call, "options");
	good = n != 0;
	if (text[n] == '/') {
		at = text + n + 1;
		n = strcspn(at, ".");
		good = good && pctl_num_parse_u64(at, n, &round) && round <= PCTL_TRACE_ROUND_MAX;
		if (at[n] == '.')
			good = good && pctl_num_parse_u64(at + n + 1, strlen(at + n + 1), &step) &&
			       step >= 1 && step <= 0xffffu;
	}
	if (!good)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--trace wants JOB, JOB/ROUND or JOB/ROUND.STEP (steps from 1), "
				   "not \"%s\"",
				   text);
	*out = pctl_trace(job, (uint32_t)round, (uint32_t)step);
	return PCTL_OK;
}

pctl_status pctl_verb_shader_run(pctl_app *app)
{
	const char *path = app->line.arguments[0];
	struct shader_options o = {.text = NULL};
	pctl_graph_options graph_options = {.wgsl_flags = 0};
	pctl_setting *binds, *reads;
	uint32_t n_binds, n_reads;
	pctl_run_result *result = NULL;
	pctl_pipeline *p = NULL;
	pctl_graph *g = NULL;
	const pctl_kernel_module *unit;
	const pctl_var *v;
	pctl_tensor_type *types = NULL;
	pctl_run_options options;
	pctl_call traced = *app->call;
	pctl_status status = pctl_shader_options(app, path, &o);

	if (status == PCTL_OK)
		status = parse_trace(app, &traced.trace_id);
	if (status == PCTL_OK)
		status = pctl_shader_unit(app, path, &o, 0, &unit);
	if (status == PCTL_OK && pctl_option_has(&app->line, "--emit")) {
		status = pctl_shader_emit(app, path, unit);
		free(o.text);
		return status;
	}
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--bind", &binds, &n_binds);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--read", &reads, &n_reads);
	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &options);
	if (status == PCTL_OK)
		status = pctl_shader_pipeline(app, path, &o, unit->program, binds, n_binds, &p);
	if (status == PCTL_OK) {
		types = pctl_arena_array(app->arena, n_reads + 1u, sizeof(*types));
		status = types == NULL ? pctl_no_memory(app->call, "options") : PCTL_OK;
	}
	for (uint32_t i = 0; status == PCTL_OK && i < n_reads; i++) {
		status = pctl_shader_variable(app, unit->program, "--read", &reads[i], &v);
		if (status == PCTL_OK)
			types[i].dtype = pctl_shader_elements(unit->program, v);
	}
	if (status == PCTL_OK)
		status = pctl_app_check_outs(app, p, reads, n_reads);
	if (status == PCTL_OK) {
		graph_options.ops = pctl_op_library_source(app->host.library);
		graph_options.kernels = app->host.kernels;
		status = pctl_graph_resolve(p, &graph_options, app->call, NULL, NULL, &g);
	}
	if (status == PCTL_OK) {
		options.ins = binds;
		options.n_ins = n_binds;
		status = pctl_host_run(&app->host, g, &options, &traced, &result);
	}
	pctl_app_progress_clear(app);
	for (uint32_t i = 0; status == PCTL_OK && i < n_reads; i++)
		pctl_shader_shape(result, reads[i].name, &types[i]);
	if (status == PCTL_OK)
		status = pctl_app_write_outs(app, result, reads, types, n_reads);
	if (status == PCTL_OK)
		pctl_app_print_run(app, path, result);
	pctl_run_result_destroy(result);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	free(o.text);
	return status;
}
