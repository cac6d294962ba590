/* `shader show`: what the registry says of a shader, its profile as a table, and what each line of its source costs
 * under the parameters in force. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "chain/registry/registry.h"
#include "chain/transition/submit.h"
#include "host/document.h"
#include "shader_price.h"

static void print_line(pctl_app *app, uint32_t line, const char *text, size_t n,
		       const pctl_gas_line *c)
{
	char *copy;

	if (!app->json) {
		printf("%5" PRIu32 " %7" PRIu64 "  %" PRIu64 "i %" PRIu64 "d %" PRIu64 "a %" PRIu64
		       "f %" PRIu64 "r %" PRIu64 "w %" PRIu64 "b  %.*s\n",
		       line, c->gas, c->integer, c->division, c->atomic,
		       c->floats + c->float_division + c->elementary, c->read, c->write,
		       c->barriers, (int)n, text);
		return;
	}
	copy = pctl_arena_dup_n(app->arena, text, n);
	pctl_document_line(&app->document, line, copy == NULL ? "" : copy, c);
}

/* Costs by line of the shader's own text. */
static pctl_status print_lines(pctl_app *app, const pctl_chain_source *source,
			       const pctl_kernel_module *u, const pctl_gas_schedule *schedule)
{
	const char *at = source->text, *end = at + source->n_text;
	uint32_t n_lines = 1;
	pctl_gas_line *lines;

	for (uint64_t i = 0; i < source->n_text; i++)
		n_lines += source->text[i] == '\n';
	lines = pctl_arena_array(app->arena, n_lines, sizeof(*lines));
	if (lines == NULL)
		return pctl_no_memory(app->call, "a table");
	pctl_gas_lines(schedule, u->program, lines, n_lines);
	for (uint32_t line = 1; at < end; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (stop == NULL)
			stop = end;
		if (lines[line - 1].gas != 0)
			print_line(app, line, at, (size_t)(stop - at), &lines[line - 1]);
		at = stop + (stop < end);
	}
	return PCTL_OK;
}

static void print_tick(pctl_app *app, const pctl_msg_tick *t)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("%5" PRIu32 "  %" PRIu64 "i %" PRIu64 "d %" PRIu64 "a %" PRIu64 "f %" PRIu64
		       "r %" PRIu64 "w  %s\n",
		       t->tick_index, t->integer_ops, t->division_ops, t->atomic_ops,
		       t->float_ops + t->float_division_ops + t->elementary_ops,
		       t->storage_reads_bytes, t->storage_writes_bytes,
		       t->barrier_type == 0   ? "end"
		       : t->barrier_type == 1 ? "workgroupBarrier"
		       : t->barrier_type == 2 ? "storageBarrier"
					      : "both barriers");
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_u32(j, "tick_index", t->tick_index);
	pctl_json_kv_u64(j, "integer_ops", t->integer_ops);
	pctl_json_kv_u64(j, "division_ops", t->division_ops);
	pctl_json_kv_u64(j, "atomic_ops", t->atomic_ops);
	pctl_json_kv_u64(j, "float_ops", t->float_ops);
	pctl_json_kv_u64(j, "float_division_ops", t->float_division_ops);
	pctl_json_kv_u64(j, "elementary_ops", t->elementary_ops);
	pctl_json_kv_u64(j, "storage_reads_bytes", t->storage_reads_bytes);
	pctl_json_kv_u64(j, "storage_writes_bytes", t->storage_writes_bytes);
	pctl_json_kv_u64(j, "barrier_type", t->barrier_type);
	pctl_json_kv_u64(j, "barriers", t->barriers);
	pctl_json_object_end(j);
}

static void begin_list(pctl_app *app, const char *name, const char *heading)
{
	if (!app->json) {
		printf("%s\n", heading);
		return;
	}
	pctl_json_key(&app->document, name);
	pctl_json_array_begin(&app->document);
}

static void end_list(pctl_app *app)
{
	if (app->json)
		pctl_json_array_end(&app->document);
}

static void print_head(pctl_app *app, const pctl_shader_row *row, uint64_t height, uint64_t cost)
{
	const pctl_msg_profile *p = &row->profile.as.upload.profile;
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("%s\n  by %s at height %" PRIu64 "%s: %s\n  %" PRIu64
		       " gas a workgroup under the parameters of height %" PRIu64 ", %" PRIu64
		       " at upload; loops multiply by %" PRIu64 "\n",
		       row->cid, row->sender, row->height,
		       row->deprecated != 0 ? ", deprecated" : "", row->description, cost, height,
		       p->cost_per_workgroup, p->max_loop_iterations);
		return;
	}
	pctl_json_kv_string(j, "shader", row->cid);
	pctl_json_kv_string(j, "sender", row->sender);
	pctl_json_kv_u64(j, "height", row->height);
	pctl_json_kv_string(j, "description", row->description);
	pctl_json_kv_string(j, "implements", row->implements);
	pctl_json_kv_u64(j, "deprecated", row->deprecated);
	pctl_json_kv_u64(j, "cost_per_workgroup", cost);
	pctl_json_kv_u64(j, "cost_per_workgroup_at_upload", p->cost_per_workgroup);
	pctl_json_kv_u64(j, "max_loop_iterations", p->max_loop_iterations);
	pctl_json_kv_u64(j, "workgroup_shared_bytes", p->workgroup_shared_bytes);
	pctl_json_kv_u64(j, "max_dispatch_x", p->max_dispatch[0]);
	pctl_json_kv_u64(j, "max_dispatch_y", p->max_dispatch[1]);
	pctl_json_kv_u64(j, "max_dispatch_z", p->max_dispatch[2]);
}

/* The first entry point with its overrides' defaults, and what a job of one workgroup of it costs now. */
static pctl_status price(pctl_app *app, const pctl_chain_source *source, const pctl_params *params,
			 const pctl_gas_schedule *schedule, const pctl_kernel_module **unit,
			 pctl_shader_job_price *out)
{
	const pctl_program *program;
	pctl_job_shape job = {.groups = {1, 1, 1}};
	pctl_status status =
		pctl_rules_compiled(app->host.kernels, source, params, app->call, &program);

	if (status == PCTL_OK)
		status = pctl_rules_concrete(app->host.kernels, source,
					     pctl_str(program, program->entries[0].name), NULL, 0,
					     NULL, params, app->call, unit);
	if (status == PCTL_OK) {
		job.unit = *unit;
		status = pctl_shader_price_job(schedule, params, &job, app->call, out);
	}
	return status;
}

static pctl_status show(pctl_app *app, pctl_chain *c, const pctl_shader_row *row,
			const pctl_params *params, uint64_t height,
			const pctl_gas_schedule *schedule)
{
	const pctl_msg_profile *p = &row->profile.as.upload.profile;
	const pctl_chain_source *source;
	const pctl_kernel_module *unit;
	pctl_shader_job_price cost = {.parent = 0};
	pctl_status status = pctl_chain_source_of(c, row->cid, app->call, &source);

	if (status == PCTL_OK)
		status = price(app, source, params, schedule, &unit, &cost);
	if (status != PCTL_OK)
		return status;
	print_head(app, row, height, cost.price.cost_per_workgroup);
	pctl_shader_print_price(app, &cost);
	begin_list(
		app, "ticks",
		" tick  of one invocation: integer, division, atomic and float operations, bytes "
		"read and written");
	for (uint32_t i = 0; i < p->n_ticks; i++)
		print_tick(app, &p->ticks[i]);
	end_list(app);
	begin_list(app, "lines", " line     gas  each instruction once, before loops multiply");
	status = print_lines(app, source, unit, schedule);
	end_list(app);
	return status;
}

pctl_status pctl_verb_shader_show(pctl_app *app)
{
	pctl_gas_schedule *schedule = NULL;
	pctl_shader_row row = {.height = 0};
	pctl_chain_info info;
	pctl_params params;
	pctl_chain *c = NULL;
	const char *cid;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = pctl_app_shader(app, c, app->line.arguments[0], &cid);
	if (status == PCTL_OK)
		status = pctl_shaders_read(pctl_cursor(c), cid, app->call, &row);
	if (status == PCTL_OK)
		status = pctl_chain_info_read(c, app->call, &info);
	if (status == PCTL_OK)
		status = pctl_home_params(c, app->call, &params);
	if (status == PCTL_OK)
		status = pctl_chain_schedule(&params, app->call, &schedule);
	if (status == PCTL_OK)
		status = show(app, c, &row, &params, info.last + 1, schedule);
	pctl_gas_schedule_destroy(schedule);
	pctl_shader_row_clear(&row);
	pctl_chain_close(c);
	return status;
}
