/* Checks of shader jobs: the file compiles, and what the job names exists in it with the right
 * access. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vfs.h"
#include "runtime/graph/check.h"
#include "runtime/graph/dispatch.h"

/* By whoever runs it: the turn flag is the host's. */
static int is_bound(const pctl_var *v)
{
	return (v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM) &&
	       v->group != PCTL_TURNS_GROUP;
}

static const pctl_var *find_var(pctl_checking *c, const pctl_program *p, const char *name,
				const pctl_pos *pos)
{
	const char **names = calloc(p->n_vars + 1u, sizeof(*names));
	const pctl_var *found = NULL;
	uint32_t n = 0;
	char *hint;

	for (uint32_t i = 0; names != NULL && i < p->n_vars; i++) {
		if (!is_bound(&p->vars[i]))
			continue;
		names[n++] = pctl_str(p, p->vars[i].name);
		if (strcmp(names[n - 1], name) == 0)
			found = &p->vars[i];
	}
	if (found == NULL) {
		hint = pctl_check_names_hint(name, names, n);
		pctl_check_keep(
			c, pctl_refuse_at(c->call, PC4123_VARIABLE_UNKNOWN, pos, hint,
					  "the shader has no uniform or storage variable \"%s\"",
					  name));
		free(hint);
	}
	free(names);
	return found;
}

/* The scalars that a type is made of, and the width of its vectors while it is an array of nothing else. */
static void look_into(const pctl_program *p, uint32_t type, pctl_shader_var *out)
{
	const pctl_type *t = &p->types[type];

	switch (t->kind) {
	case PCTL_TYPE_STRUCT:
		for (uint32_t i = 0; i < t->count; i++) {
			look_into(p, p->members[t->first_member + i].type, out);
			out->width = 1;
		}
		break;
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		look_into(p, t->elem, out);
		break;
	default: /* vectors, matrices and atomics name their scalar themselves */
		out->scalars |= 1u << t->scalar;
		out->width = t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
	}
}

static pctl_shader_var *var_slot(pctl_graph_node *n, const pctl_program *p, const pctl_var *v)
{
	const char *name = pctl_str(p, v->name);

	for (uint32_t i = 0; i < n->n_vars; i++) {
		if (strcmp(n->vars[i].name, name) == 0)
			return &n->vars[i];
	}
	n->vars[n->n_vars] = (pctl_shader_var){name,	  v->group,   v->binding,
					       v->access, UINT32_MAX, UINT32_MAX,
					       0,	  1,	      (uint32_t)(v - p->vars)};
	look_into(p, v->type, &n->vars[n->n_vars]);
	return &n->vars[n->n_vars++];
}

static void overrides(pctl_checking *c, pctl_graph_node *n)
{
	n->overrides = pctl_arena_array(c->graph->arena, n->job->n_attr, sizeof(*n->overrides));
	for (uint32_t i = 0; n->overrides != NULL && i < n->job->n_attr; i++) {
		const pctl_pipe_named *a = &n->job->attr[i];
		const char *text = pctl_check_value_text(c, &a->value);

		if (text == NULL)
			continue;
		/* Whether it fits the override's type shows when the shader is specialised. */
		if (!pctl_override_is_value(text)) {
			pctl_check_keep(c, pctl_refuse_at(c->call, PC4112_ATTR_VALUE, &a->value.pos,
							  NULL,
							  "override \"%s\" wants a number or a "
							  "bool, not \"%s\"",
							  a->name, text));
			continue;
		}
		n->overrides[n->n_overrides++] = (pctl_override_value){a->name, 0, text, &a->pos};
	}
}

char *pctl_check_beside(const pctl_checking *c, const char *path)
{
	const pctl_pipeline *p = c->graph->pipeline;

	return p->vfs != NULL	? pctl_vfs_resolve(p->vfs, p->file, path)
	       : path[0] == '/' ? strdup(path)
				: pctl_path_join(p->directory, path);
}

/* *name: what positions in the text are shown with. */
static pctl_status load_text(pctl_checking *c, pctl_graph_node *n, const char **name)
{
	const pctl_vfs *vfs = c->graph->pipeline->vfs;
	const pctl_pipe_job *job = n->job;
	char *text = NULL, *path = NULL;
	pctl_status status = PCTL_OK;

	if (job->shader_text != NULL) {
		n->text = job->shader_text;
		n->n_text = strlen(job->shader_text);
		return PCTL_OK;
	}
	path = pctl_check_beside(c, job->shader);
	if (path == NULL)
		return pctl_no_memory(c->call, "a path");
	if (!pctl_vfs_exists(vfs, path))
		status = pctl_refuse_at(c->call, PC4019_SHADER_FILE, &job->op_pos,
					"the path is relative to the pipeline file",
					"no shader file %s", path);
	else
		status = pctl_vfs_read(vfs, path, PCTL_PIPELINE_SHADER_MAX, c->call, &text,
				       &n->n_text);
	if (status == PCTL_OK)
		n->text = pctl_arena_dup_n(c->graph->arena, text, n->n_text);
	if (status == PCTL_OK && vfs != NULL && vfs->data != NULL)
		*name = pctl_arena_dup(c->graph->arena, path);
	free(text);
	free(path);
	return status;
}

static void variables(pctl_checking *c, pctl_graph_node *n, const pctl_program *p)
{
	const pctl_pipe_job *job = n->job;

	n->vars =
		pctl_arena_array(c->graph->arena, (size_t)job->n_in + job->n_out, sizeof(*n->vars));
	if (n->vars == NULL) {
		pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
		return;
	}
	for (uint32_t i = 0; i < job->n_in; i++) {
		const pctl_var *v = find_var(c, p, job->in[i].port, &job->in[i].pos);

		if (v != NULL)
			var_slot(n, p, v)->in = i;
	}
	for (uint32_t i = 0; i < job->n_out; i++) {
		const pctl_var *v = find_var(c, p, job->out[i].name, &job->out[i].pos);

		if (v == NULL)
			continue;
		if (!(v->access & PCTL_ACCESS_WRITE))
			pctl_check_keep(
				c, pctl_refuse_at(c->call, PC4124_VARIABLE_ACCESS, &job->out[i].pos,
						  "declare it var<storage, read_write>",
						  "variable \"%s\" is read-only in the shader",
						  job->out[i].name));
		var_slot(n, p, v)->out = i;
	}
	for (uint32_t i = 0; i < p->n_vars; i++) {
		uint32_t k = 0;

		if (!is_bound(&p->vars[i]))
			continue;
		while (k < n->n_vars && strcmp(n->vars[k].name, pctl_str(p, p->vars[i].name)) != 0)
			k++;
		if (k == n->n_vars)
			pctl_check_keep(
				c, pctl_refuse_at(c->call, PC4103_PORT_UNFED, &job->pos,
						  "name it under `in` or `out`, or with --bind",
						  "job \"%s\": variable \"%s\" of the "
						  "shader is bound to nothing",
						  job->id, pctl_str(p, p->vars[i].name)));
	}
}

/* 1 when the dispatch is numbers, or parameters that are: then proofs are for it. What is wrong with it is reported by the
 * check of sizes. */
static int known_groups(pctl_checking *c, const pctl_pipe_job *job, uint32_t out[3])
{
	int known = job->n_groups <= 3;

	out[0] = out[1] = out[2] = 1;
	for (uint32_t i = 0; known && i < job->n_groups; i++) {
		pctl_group_count count;

		known = pctl_group_count_parse(&job->groups[i], c->graph->arena, &count) &&
			pctl_group_count_value(&count, pctl_graph_number, c->graph, &out[i]);
	}
	return known;
}

/* 1 and the bytes of a type whose extents are numbers, or parameters that are. */
static int declared_bytes(pctl_checking *c, const pctl_type_pattern *p, uint64_t *out)
{
	pctl_type_pattern known = *p;
	pctl_tensor_type type;

	for (uint32_t i = 0; i < known.rank && !known.any_shape; i++)
		if (known.dim[i].name != NULL &&
		    pctl_graph_number(c->graph, known.dim[i].name, &known.dim[i].value))
			known.dim[i].name = NULL;
	return pctl_pattern_concrete(&known, &type) && pctl_type_buffer_bytes(&type, out);
}

static void know(pctl_checking *c, const pctl_program *p, const char *name,
		 const pctl_type_pattern *type, pctl_kernel_source *source,
		 pctl_known_binding *known)
{
	for (uint32_t i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];
		uint64_t n_bytes;

		if (is_bound(v) && strcmp(pctl_str(p, v->name), name) == 0 &&
		    declared_bytes(c, type, &n_bytes))
			known[source->n_bindings++] =
				(pctl_known_binding){v->group, v->binding, n_bytes};
	}
}

/* What the file alone says of the bytes that are bound: sizes of data are known when it runs. An output's come first, as
 * what a variable becomes counts before what it begins with. */
static pctl_status known_bytes(pctl_checking *c, const pctl_pipe_job *job,
			       pctl_kernel_source *source)
{
	const pctl_pipeline *pipeline = c->graph->pipeline;
	pctl_known_binding *known;
	const pctl_program *p;

	/* What is wrong with the text is said where the unit is made of it. */
	if (pctl_kernels_compiled(c->graph->kernels, source, NULL, &p) != PCTL_OK)
		return PCTL_OK;
	known = pctl_arena_array(c->graph->arena,
				 ((size_t)job->n_in + job->n_out) * (p->n_vars + 1u),
				 sizeof(*known));
	if (known == NULL)
		return pctl_no_memory(c->call, "a graph");
	source->bindings = known;
	for (uint32_t i = 0; i < job->n_out; i++)
		know(c, p, job->out[i].name, &job->out[i].type, source, known);
	for (uint32_t i = 0; i < job->n_in; i++)
		for (uint32_t k = 0; k < pipeline->n_inputs && job->in[i].from.job == NULL; k++)
			if (strcmp(pipeline->inputs[k].name, job->in[i].from.name) == 0)
				know(c, p, job->in[i].port, &pipeline->inputs[k].type, source,
				     known);
	return PCTL_OK;
}

/* What needs neither data nor device: the class, and a race that is certain. */
static void check_unit(pctl_checking *c, const pctl_graph_node *n, const pctl_kernel_module *unit,
		       int is_exact)
{
	const uint32_t most = c->graph->pipeline->max_class;
	const pctl_analysis *a = unit->analysis;

	if (a->race == PCTL_PROOF_REFUTED)
		pctl_check_keep(c, pctl_kernel_refuse_race(unit, n->job->id, c->call));
	if (a->determinism <= most)
		return;
	if (a->order_dependent) {
		const pctl_pos pos = pctl_kernel_order_position(unit);

		/* Of a dispatch that is not known yet this may not hold; planning asks again. */
		if (is_exact)
			pctl_check_keep(c, pctl_refuse_at(c->call, PC4315_POLICY_ORDER, &pos,
							  pctl_kernel_order_hint(unit),
							  "job \"%s\" needs class approximate: "
							  "the result depends on the order of "
							  "these atomic operations; the "
							  "pipeline allows %s",
							  n->job->id, pctl_class_name(most)));
		return;
	}
	pctl_check_keep(c, pctl_refuse_at(c->call, PC4114_CLASS, &n->job->op_pos, NULL,
					  "the shader is of class %s, the pipeline allows %s",
					  pctl_class_name(a->determinism), pctl_class_name(most)));
}

static void one_shader(pctl_checking *c, pctl_graph_node *n)
{
	pctl_kernel_source source = {.name = n->job->shader == NULL ? n->job->id : n->job->shader,
				     .entry = n->job->entry,
				     .flags = c->options->wgsl_flags};
	const pctl_kernel_module *unit;
	uint32_t groups[3];
	pctl_status status;

	if (known_groups(c, n->job, groups))
		source.groups = groups;
	if (n->job->n_in > PCTL_PORTS_MAX || n->job->n_out > PCTL_PORTS_MAX) {
		pctl_check_keep(c, pctl_refuse_at(c->call, PC4137_PORTS, &n->job->pos, NULL,
						  "job \"%s\" has %" PRIu32 " inputs and %" PRIu32
						  " outputs, %u each are the most",
						  n->job->id, n->job->n_in, n->job->n_out,
						  PCTL_PORTS_MAX));
		return;
	}
	status = load_text(c, n, &source.name);
	if (status == PCTL_OK) {
		overrides(c, n);
		source.text = n->text;
		source.n_text = n->n_text;
		source.overrides = n->overrides;
		source.n_overrides = n->n_overrides;
		status = known_bytes(c, n->job, &source);
	}
	if (status == PCTL_OK)
		status = pctl_kernels_get(c->graph->kernels, &source, c->call, &unit);
	pctl_check_keep(c, status);
	if (status != PCTL_OK)
		return;
	n->n_in = n->job->n_in;
	n->n_out = n->job->n_out;
	n->in = pctl_arena_array(c->graph->arena, n->n_in, sizeof(*n->in));
	if (n->in == NULL) {
		pctl_check_keep(c, pctl_no_memory(c->call, "a graph"));
		return;
	}
	check_unit(c, n, unit, source.groups != NULL);
	variables(c, n, unit->program);
	n->unit = unit;
	n->resolved = 1;
}

void pctl_check_shaders(pctl_checking *c)
{
	for (uint32_t i = 0; i < c->graph->n_nodes; i++) {
		if (c->graph->nodes[i].job->kind == PCTL_JOB_SHADER)
			one_shader(c, pctl_check_node(c, i));
	}
}
