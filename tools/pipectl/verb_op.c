/* Verbs over ops: list, show, and run, which makes a pipeline of one job. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/tensorfile/tensor_file.h"
#include "runtime/exec/source.h"

pctl_status pctl_verb_op_list(pctl_app *app)
{
	pctl_status status = pctl_installation_ops(&app->host, app->call);
	static const pctl_column columns[] = {{"op", "", 24}, {"kind", " ", 8}, {"about", " ", 0}};
	const pctl_op_source *ops;

	if (status != PCTL_OK)
		return status;
	if (pctl_option_has(&app->line, "--lock"))
		return pctl_app_print_lock(app);
	ops = pctl_op_library_source(app->host.library);
	pctl_app_list_begin(app, "ops", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = 0; i < ops->count(ops->ctx); i++) {
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		if (app->json) {
			pctl_json_object_begin(&app->document);
			pctl_json_kv_string(&app->document, "name", op.desc->name);
			pctl_json_kv_u32(&app->document, "version", op.desc->version);
			pctl_json_kv_string(&app->document, "kind",
					    op.desc->kind == PCTL_OPDEF_FUNCTION ? "function"
										 : "plan");
			pctl_json_kv_string(&app->document, "class",
					    pctl_class_name(op.desc->op_class));
			pctl_json_kv_string(&app->document, "about", op.desc->doc);
			if (pctl_op_deprecated(op.desc) != NULL)
				pctl_json_kv_string(&app->document, "deprecated",
						    pctl_op_deprecated(op.desc));
			pctl_json_object_end(&app->document);
		} else {
			pctl_table_cell(app->table, "%s@%" PRIu32, op.desc->name, op.desc->version);
			pctl_table_cell(app->table, "%s",
					op.desc->kind == PCTL_OPDEF_FUNCTION ? "function" : "plan");
			if (pctl_op_deprecated(op.desc) == NULL)
				pctl_table_cell(app->table, "%s", op.desc->doc);
			else
				pctl_table_cell(app->table, "superseded: %s",
						pctl_op_deprecated(op.desc));
		}
	}
	return pctl_app_list_end(app, PCTL_OK);
}

/* The hint where the library is left out: who has an op of that name. */
static const char *libraries_with(const pctl_app *app, const char *text)
{
	const pctl_op_source *ops = pctl_op_library_source(app->host.library);
	const char *hint = NULL;

	for (uint32_t i = 0; i < ops->count(ops->ctx); i++) {
		pctl_op_ref op;
		const char *dot;

		ops->at(ops->ctx, i, &op);
		dot = strchr(op.desc->name, '.');
		if (dot == NULL || strcmp(dot + 1, text) != 0)
			continue;
		hint = hint == NULL
			       ? pctl_arena_printf(app->arena, "did you mean %s", op.desc->name)
			       : pctl_arena_printf(app->arena, "%s or %s", hint, op.desc->name);
		if (hint == NULL)
			break;
	}
	hint = hint == NULL ? NULL : pctl_arena_printf(app->arena, "%s?", hint);
	return hint != NULL ? hint : "write library.op@version; `pipectl op list` shows all ops";
}

static pctl_status find(pctl_app *app, const char *text, pctl_op_ref *out)
{
	uint32_t min, max;
	const char *name;
	pctl_status status = pctl_installation_ops(&app->host, app->call);

	if (status != PCTL_OK)
		return status;
	if (!pctl_op_name_parse(text, app->arena, &name, &min, &max))
		return pctl_refuse_at(app->call, PC4004_OP_SYNTAX, NULL, libraries_with(app, text),
				      "\"%s\" is not the name of an op", text);
	return pctl_op_find(pctl_op_library_source(app->host.library), name, min, max, NULL,
			    app->call, out);
}

static void show_ports(pctl_app *app, const char *what, const pctl_port *ports, uint32_t n)
{
	if (app->json) {
		pctl_json_key(&app->document, what);
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (app->json) {
			pctl_json_object_begin(&app->document);
			pctl_json_kv_string(&app->document, "name", ports[i].name);
			pctl_json_kv_string(&app->document, "type", ports[i].type);
			pctl_json_kv_string(&app->document, "about", ports[i].doc);
			pctl_json_kv_bool(&app->document, "list", ports[i].flags & PCTL_PORT_LIST);
			pctl_json_object_end(&app->document);
		} else {
			printf("  %-4s %-14s %-28s %s%s\n", what, ports[i].name, ports[i].type,
			       ports[i].flags & PCTL_PORT_LIST ? "a list: " : "",
			       ports[i].doc == NULL ? "" : ports[i].doc);
		}
	}
	if (app->json)
		pctl_json_array_end(&app->document);
}

static void show_attrs(pctl_app *app, const pctl_op_desc *d)
{
	if (app->json) {
		pctl_json_key(&app->document, "attr");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < d->n_attr; i++) {
		const pctl_attr_desc *a = &d->attr[i];

		if (app->json) {
			pctl_json_object_begin(&app->document);
			pctl_json_kv_string(&app->document, "name", a->name);
			pctl_json_kv_string(&app->document, "default", a->default_text);
			pctl_json_kv_string(&app->document, "about", a->doc);
			pctl_json_object_end(&app->document);
		} else {
			printf("  attr %-14s default %-20s %s\n", a->name,
			       a->default_text == NULL ? "(must be given)" : a->default_text,
			       a->doc == NULL ? "" : a->doc);
		}
	}
	if (app->json)
		pctl_json_array_end(&app->document);
}

pctl_status pctl_verb_op_show(pctl_app *app)
{
	pctl_op_ref op;
	pctl_status status = find(app, app->line.arguments[0], &op);

	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_kv_string(&app->document, "name", op.desc->name);
		pctl_json_kv_u32(&app->document, "version", op.desc->version);
		pctl_json_kv_string(&app->document, "class", pctl_class_name(op.desc->op_class));
		pctl_json_kv_string(&app->document, "plugin", op.plugin);
		pctl_json_kv_string(&app->document, "about", op.desc->doc);
		pctl_json_kv_string(&app->document, "spec", op.desc->spec);
		if (pctl_op_deprecated(op.desc) != NULL)
			pctl_json_kv_string(&app->document, "deprecated",
					    pctl_op_deprecated(op.desc));
	} else {
		printf("%s@%" PRIu32 ": %s\n  class %s, category %c, library %s\n", op.desc->name,
		       op.desc->version, op.desc->doc, pctl_class_name(op.desc->op_class),
		       (char)op.desc->category, op.plugin);
		if (pctl_op_deprecated(op.desc) != NULL)
			printf("  superseded: %s\n", pctl_op_deprecated(op.desc));
	}
	show_ports(app, "in", op.desc->in, op.desc->n_in);
	show_ports(app, "out", op.desc->out, op.desc->n_out);
	show_attrs(app, op.desc);
	if (!app->json && op.desc->spec != NULL)
		printf("\n%s\n", op.desc->spec);
	return PCTL_OK;
}

/* Of what --in names a tensor with its own type: 1 where no type stands behind it. FILE.npz:NAME is a name, not a type. */
static int names_tensor(const char *value, const char *colon)
{
	const char *name;
	size_t n;

	if (!pctl_tensor_ref_parse(value, &n, &name))
		return 0;
	if (colon == NULL || colon < value + n)
		return 1;
	n = strcspn(colon + 1, "[");
	if (pctl_dtype_find(colon + 1, n) == PCTL_SCALAR_NONE)
		return 1;
	return name == colon + 1 && strncmp(colon - 4, ".npy", 4) != 0;
}

/* What a file of tensors says of itself, as a type that leaves nothing open. */
static pctl_status type_of_file(pctl_app *app, const char *value, pctl_type_pattern *out)
{
	pctl_tensor_type t;
	pctl_status status = pctl_source_peek(value, app->call, &t);

	if (status != PCTL_OK)
		return status;
	out->n_dtypes = 1;
	out->dtype[0] = t.dtype;
	out->rank = t.rank;
	for (uint32_t i = 0; i < t.rank; i++)
		out->dim[i].value = t.dim[i];
	return PCTL_OK;
}

/* The port that --in NAME feeds: of xs[0], xs[1], .. the list xs, in this order. */
static pctl_status port_of(pctl_app *app, const pctl_pipe_job *job, const char *name,
			   const char **out)
{
	const size_t n = strcspn(name, "[");
	char want[24];
	uint32_t fed = 0;

	*out = name;
	if (name[n] == '\0')
		return PCTL_OK;
	*out = pctl_arena_dup_n(app->arena, name, n);
	if (*out == NULL)
		return pctl_no_memory(app->call, "a pipeline");
	for (uint32_t i = 0; i < job->n_in; i++)
		fed += strcmp(job->in[i].port, *out) == 0;
	snprintf(want, sizeof(want), "[%" PRIu32 "]", fed);
	return strcmp(name + n, want) == 0
		       ? PCTL_OK
		       : pctl_refuse(app->call, PC10_USAGE,
				     "--in %s: elements of a list are given in order, %s%s is next",
				     name, *out, want);
}

/* --in PORT=FILE:TYPE: the type stands behind the last colon; a file of tensors has one of its own. */
static pctl_status add_input(pctl_app *app, pctl_pipeline *p, pctl_setting *in)
{
	const char *colon = strrchr(in->value, ':');
	pctl_pipe_input *input = &p->inputs[p->n_inputs];
	pctl_pos pos = {"--in", 0, 0, 0, 0};
	const char *port;
	pctl_status status;

	if (names_tensor(in->value, colon)) {
		status = type_of_file(app, in->value, &input->type);
		colon = in->value + strlen(in->value);
		goto typed;
	}

	if (colon == NULL)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"--in wants PORT=FILE:TYPE, as x=a.bin:u32[1024,8], not \"%s=%s\"",
			in->name, in->value);
	status = pctl_type_parse(colon + 1, p->arena, NULL, app->call, &input->type);
	if (status == PCTL_OK && input->type.n_dtypes != 1)
		status = pctl_refuse(app->call, PC4020_TYPE_SYNTAX, "\"%s\" is not one type",
				     colon + 1);
typed:
	if (status != PCTL_OK)
		return status;
	status = port_of(app, &p->jobs[0], in->name, &port);
	if (status != PCTL_OK)
		return status;
	input->name = in->name;
	input->pos = pos;
	in->value = pctl_arena_dup_n(app->arena, in->value, (size_t)(colon - in->value));
	p->jobs[0].in[p->jobs[0].n_in++] =
		(pctl_pipe_feed){port, pos, {pos, in->name, NULL, in->name}};
	p->n_inputs++;
	return PCTL_OK;
}

static pctl_status make_pipeline(pctl_app *app, const pctl_op_ref *op, pctl_setting *ins,
				 uint32_t n_ins, const pctl_setting *attrs, uint32_t n_attrs,
				 pctl_pipeline **out)
{
	const pctl_job_room room = {n_ins, op->desc->n_out, n_attrs};
	const pctl_pos pos = {"--attr", 0, 0, 0, 0};
	pctl_pipe_job *job;
	pctl_status status = pctl_app_one_job(app, op->desc->name, &room, out, &job);
	pctl_pipeline *p = *out;

	if (status != PCTL_OK)
		return status;
	job->id = "op";
	job->pos = (pctl_pos){op->desc->name, 0, 0, 0, 0};
	job->op_pos = pos;
	job->kind = PCTL_JOB_OP;
	job->op = op->desc->name;
	job->version_min = job->version_max = op->desc->version;
	for (uint32_t i = 0; i < n_attrs; i++)
		job->attr[job->n_attr++] =
			(pctl_pipe_named){attrs[i].name, pos, {pos, attrs[i].value, 0, 1}};
	for (uint32_t i = 0; status == PCTL_OK && i < n_ins; i++)
		status = add_input(app, p, &ins[i]);
	for (uint32_t i = 0; i < op->desc->n_out; i++)
		p->outputs[p->n_outputs++] =
			(pctl_pipe_feed){op->desc->out[i].name,
					 pos,
					 {pos, op->desc->out[i].name, "op", op->desc->out[i].name}};
	return status;
}

pctl_status pctl_verb_op_run(pctl_app *app)
{
	pctl_setting *ins, *outs, *attrs;
	uint32_t n_ins, n_outs, n_attrs;
	pctl_run_options options;
	pctl_pipeline *p = NULL;
	pctl_op_ref op;
	pctl_status status = find(app, app->line.arguments[0], &op);

	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &n_ins);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--out", &outs, &n_outs);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--attr", &attrs, &n_attrs);
	if (status == PCTL_OK)
		status = pctl_app_run_options(app, &options);
	if (status == PCTL_OK)
		status = make_pipeline(app, &op, ins, n_ins, attrs, n_attrs, &p);
	if (status == PCTL_OK) {
		options.ins = ins;
		options.n_ins = n_ins;
		status = pctl_app_run_one(app, app->line.arguments[0], p, &options, outs, n_outs);
	}
	pctl_pipeline_destroy(p);
	return status;
}
