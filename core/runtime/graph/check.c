/* The register of checks and its runner: a check whose prerequisite failed is 'not run', never
 * 'passed'. */
#include "runtime/graph/check.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/conf/conf.h"

#define NEEDS_MAX 4u

static const struct check {
	const char *name, *about;
	void (*run)(pctl_checking *c);
	const char *needs[NEEDS_MAX];
} checks[] = {
	{"identifiers",
	 "jobs, inputs and parameters have names of their own",
	 pctl_check_identifiers,
	 {NULL}},
	{"references",
	 "what feeds a job, an output or an order is a job or an input",
	 pctl_check_references,
	 {NULL}},
	{"parameters", "every --set names a parameter and fits it", pctl_check_parameters, {NULL}},
	{"ops",
	 "every op exists in exactly one library, attributes fit",
	 pctl_check_ops,
	 {"parameters"}},
	{"shaders",
	 "every shader compiles and has the variables named",
	 pctl_check_shaders,
	 {"parameters"}},
	{"machines",
	 "every machine has its kernels, ops and places",
	 pctl_check_machines,
	 {"parameters"}},
	{"edges",
	 "every port is fed once by something that exists",
	 pctl_check_edges,
	 {"identifiers", "ops", "shaders", "machines"}},
	{"repeats",
	 "what is carried fits, counts are numbers",
	 pctl_check_repeats,
	 {"edges", "parameters"}},
	{"order", "no job waits for itself", pctl_check_order, {"edges"}},
	{"sizes",
	 "dispatches and outputs of shaders have sizes that are known",
	 pctl_check_sizes,
	 {"parameters"}},
	{"types",
	 "element types, shapes and named dimensions agree",
	 pctl_check_types,
	 {"order", "repeats"}},
	{"coverage",
	 "a dispatch can write its outputs whole",
	 pctl_check_coverage,
	 {"types", "sizes"}},
	{"uses", "what is declared or made is read", pctl_check_uses, {"edges", "sizes"}},
};

#define N_CHECKS ((uint32_t)(sizeof(checks) / sizeof(checks[0])))

void pctl_check_keep(pctl_checking *c, pctl_status status)
{
	if (c->status == PCTL_OK)
		c->status = status;
}

char *pctl_check_names_hint(const char *word, const char *const *names, uint32_t n)
{
	return n == 0 ? NULL : pctl_conf_hint_names(word, names, n);
}

const char *pctl_check_value_text(pctl_checking *c, const pctl_pipe_value *v)
{
	const pctl_pipeline *p = c->graph->pipeline;
	const char **names, *text;
	char *hint;

	if (!v->is_param)
		return v->text;
	text = pctl_graph_param(c->graph, v->text);
	if (text != NULL)
		return text;
	names = calloc(p->n_params + 1u, sizeof(*names));
	for (uint32_t i = 0; names != NULL && i < p->n_params; i++)
		names[i] = p->params[i].name;
	hint = names == NULL ? NULL : pctl_check_names_hint(v->text, names, p->n_params);
	pctl_check_keep(c, pctl_refuse_at(c->call, PC4011_PARAM_UNKNOWN, &v->pos, hint,
					  "no parameter \"%s\"", v->text));
	free(hint);
	free(names);
	return NULL;
}

pctl_graph_node *pctl_check_node(pctl_checking *c, uint32_t i)
{
	pctl_graph_node *n = &c->graph->nodes[i];

	pctl_pipe_once_of(c->once, n->job->is_of_group ? n->job->id : NULL);
	return n;
}

void pctl_check_apart(pctl_checking *c)
{
	pctl_pipe_once_of(c->once, NULL);
}

static pctl_graph *graph_create(const pctl_pipeline *p, const pctl_graph_options *options)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_graph *g = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*g));

	if (g == NULL) {
		pctl_arena_destroy(arena);
		return NULL;
	}
	g->arena = arena;
	g->pipeline = p;
	g->kernels = options->kernels;
	g->n_nodes = p->n_jobs;
	g->nodes = pctl_arena_array(arena, p->n_jobs, sizeof(*g->nodes));
	g->order = pctl_arena_array(arena, p->n_jobs, sizeof(*g->order));
	g->outputs = pctl_arena_array(arena, p->n_outputs, sizeof(*g->outputs));
	g->param_text = pctl_arena_array(arena, p->n_params, sizeof(*g->param_text));
	g->param_value = pctl_arena_array(arena, p->n_params, sizeof(*g->param_value));
	if (g->nodes == NULL || g->order == NULL || g->outputs == NULL || g->param_text == NULL ||
	    g->param_value == NULL) {
		pctl_arena_destroy(arena);
		return NULL;
	}
	for (uint32_t i = 0; i < p->n_jobs; i++) {
		g->nodes[i].job = &p->jobs[i];
		g->nodes[i].repeat = 1;
	}
	return g;
}

static int note_name(pctl_map *m, const char *name, uint32_t i)
{
	return pctl_map_has(m, name) || pctl_map_put(m, name, (void *)(uintptr_t)(i + 1u));
}

/* What the checks of one pipeline share; 0: no memory. */
static int set_up(pctl_checking *c, const pctl_pipeline *p, const pctl_call *call)
{
	int complete;

	c->graph = graph_create(p, c->options);
	c->once = pctl_pipe_once_create(call);
	c->call = pctl_pipe_once_call(c->once);
	c->jobs = pctl_map_create();
	c->inputs = pctl_map_create();
	complete = c->graph != NULL && c->once != NULL && c->jobs != NULL && c->inputs != NULL;
	for (uint32_t i = 0; complete && i < p->n_jobs; i++)
		complete = note_name(c->jobs, p->jobs[i].id, i);
	for (uint32_t i = 0; complete && i < p->n_inputs; i++)
		complete = note_name(c->inputs, p->inputs[i].name, i);
	return complete;
}

static void tear_down(pctl_checking *c)
{
	pctl_pipe_once_destroy(c->once);
	pctl_map_destroy(c->jobs);
	pctl_map_destroy(c->inputs);
}

static uint32_t outcome_of(const uint32_t *outcomes, const char *name)
{
	for (uint32_t i = 0; i < N_CHECKS; i++) {
		if (strcmp(checks[i].name, name) == 0)
			return outcomes[i];
	}
	return PCTL_CHECK_NOT_RUN;
}

pctl_status pctl_graph_resolve(const pctl_pipeline *p, const pctl_graph_options *options,
			       const pctl_call *call, pctl_check_result *results,
			       uint32_t *n_results, pctl_graph **out)
{
	pctl_checking c = {.options = options};
	uint32_t outcomes[N_CHECKS] = {0};
	pctl_status first = PCTL_OK;

	*out = NULL;
	if (n_results != NULL)
		*n_results = N_CHECKS;
	if (!set_up(&c, p, call)) {
		pctl_graph_destroy(c.graph);
		tear_down(&c);
		return pctl_no_memory(call, "a graph");
	}
	for (uint32_t i = 0; i < N_CHECKS; i++) {
		int ready = 1;

		for (uint32_t k = 0; k < NEEDS_MAX && checks[i].needs[k] != NULL; k++)
			ready &= outcome_of(outcomes, checks[i].needs[k]) == PCTL_CHECK_PASSED;
		if (ready) {
			c.status = PCTL_OK;
			checks[i].run(&c);
			pctl_check_apart(&c);
			outcomes[i] = c.status == PCTL_OK ? PCTL_CHECK_PASSED : PCTL_CHECK_FAILED;
			if (first == PCTL_OK)
				first = c.status;
		}
		if (results != NULL)
			results[i] =
				(pctl_check_result){checks[i].name, checks[i].about, outcomes[i]};
	}
	tear_down(&c);
	if (first != PCTL_OK) {
		pctl_graph_destroy(c.graph);
		return first;
	}
	*out = c.graph;
	return PCTL_OK;
}

void pctl_graph_destroy(pctl_graph *g)
{
	if (g != NULL)
		pctl_arena_destroy(g->arena); /* which holds g itself */
}

const char *pctl_graph_param(const pctl_graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->pipeline->n_params; i++) {
		if (strcmp(g->pipeline->params[i].name, name) == 0)
			return g->param_text[i];
	}
	return NULL;
}

int pctl_graph_number(void *graph, const char *name, uint64_t *out)
{
	const char *text = pctl_graph_param(graph, name);

	return text != NULL && pctl_num_parse_u64(text, strlen(text), out);
}

pctl_status pctl_state_refuse(const pctl_pipeline *p, uint32_t state, const char *is,
			      const char *next, const pctl_call *call)
{
	const pctl_pipe_state *s = &p->states[state];
	const pctl_pipe_ref *ref = &p->outputs[s->output].from;

	return pctl_refuse_at(call, PC4024_STATE, &ref->pos, NULL,
			      "state \"%s\" is %s, what it is to be next, \"%s\", is %s", s->name,
			      is, ref->text, next);
}

const char *pctl_node_out_name(const pctl_graph_node *n, uint32_t i)
{
	return n->job->kind == PCTL_JOB_OP ? n->op.desc->out[i].name : n->job->out[i].name;
}

uint32_t pctl_node_find_out(const pctl_graph_node *n, const char *name)
{
	for (uint32_t i = 0; i < n->n_out; i++) {
		if (strcmp(pctl_node_out_name(n, i), name) == 0)
			return i;
	}
	return UINT32_MAX;
}

uint32_t pctl_node_find_in(const pctl_graph_node *n, const char *name)
{
	for (uint32_t i = 0; i < n->n_in; i++) {
		const char *port = n->job->kind == PCTL_JOB_OP ? pctl_op_input(n->op.desc, i)->name
							       : n->job->in[i].port;

		if (strcmp(port, name) == 0)
			return i;
	}
	return UINT32_MAX;
}
