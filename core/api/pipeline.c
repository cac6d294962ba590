/* Pipelines: loading, describing, checking, planning; see pipectl.h. */
#include <stdlib.h>
#include <string.h>

#include "api/private.h"

/* ---- what is asked of a run --------------------------------------------------------------- */

static pctl_status take_type(pipectl *p, const pipectl_input *in, pctl_tensor_type *out)
{
	*out = (pctl_tensor_type){.dtype = 0};
	if (in->dtype == NULL)
		return PCTL_OK;
	out->dtype = pctl_dtype_find(in->dtype, strlen(in->dtype));
	out->rank = in->rank;
	if (out->dtype == PCTL_SCALAR_NONE)
		return pctl_refuse(&p->call, PC4020_TYPE_SYNTAX,
				   "input \"%s\": \"%s\" is no element type", in->name, in->dtype);
	if (in->rank > PCTL_RANK_MAX || (in->rank != 0 && in->dims == NULL))
		return pctl_refuse(&p->call, PC4020_TYPE_SYNTAX,
				   "input \"%s\" has %u dimensions, at most %u are possible",
				   in->name, in->rank, PCTL_RANK_MAX);
	for (uint32_t i = 0; i < in->rank; i++)
		out->dim[i] = in->dims[i];
	return PCTL_OK;
}

static pctl_status take_input(pipectl *p, const pipectl_input *in, pctl_setting *ins,
			      pctl_input_bytes *given, pctl_run_request *out)
{
	pctl_input_bytes *g = &given[out->n_given];

	if (in->name == NULL || (in->source == NULL && in->data == NULL && in->n_bytes != 0) ||
	    (in->source != NULL && in->data != NULL))
		return pipectl_misused(
			&p->call, "an input has no name, no data, or data and a source as well");
	for (uint32_t i = 0; i < out->n_ins + out->n_given; i++) {
		if (strcmp(i < out->n_ins ? ins[i].name : given[i - out->n_ins].name, in->name) ==
		    0)
			return pctl_refuse(&p->call, PC11_API_USE, "input \"%s\" is given twice",
					   in->name);
	}
	if (in->source != NULL) {
		ins[out->n_ins++] = (pctl_setting){in->name, in->source};
		return PCTL_OK;
	}
	*g = (pctl_input_bytes){
		.name = in->name, .data = in->data == NULL ? "" : in->data, .n_bytes = in->n_bytes};
	out->n_given++;
	return take_type(p, in, &g->type);
}

pctl_status pipectl_request_inputs(pipectl *p, const pipectl_input *inputs, uint32_t n,
				   pctl_arena *arena, pctl_run_request *out)
{
	pctl_setting *ins = pctl_arena_array(arena, n, sizeof(*ins));
	pctl_input_bytes *given = pctl_arena_array(arena, n, sizeof(*given));
	pctl_status status = PCTL_OK;

	if (ins == NULL || given == NULL)
		return pctl_no_memory(&p->call, "inputs");
	if (n != 0 && inputs == NULL)
		return pipectl_misused(&p->call, "inputs are counted, and there are none");
	/* The caller's structures may be shorter or longer than these. */
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		const void *at = (const uint8_t *)inputs + (size_t)i * inputs[0].head.size;
		pipectl_input in;

		status = pipectl_take(&p->call, &in, (uint32_t)sizeof(in), at, "an input");
		if (status == PCTL_OK)
			status = take_input(p, &in, ins, given, out);
	}
	out->ins = ins;
	out->given = given;
	return status;
}

pctl_status pipectl_request(pipectl *p, const pipectl_run_options *options, pctl_arena *arena,
			    pctl_run_request *out)
{
	const uint32_t known = PIPECTL_RUN_NO_MEMO | PIPECTL_RUN_GAS_LIMIT | PIPECTL_RUN_RECEIPT;
	pipectl_run_options o;
	pctl_status status = PIPECTL_TAKE(&p->call, &o, options);

	*out = (pctl_run_request){.progress = {pipectl_tell, p}};
	if (status != PCTL_OK)
		return status;
	if (o.flags & ~known)
		return pipectl_misused(&p->call, "options has a flag that does not exist");
	if (o.verify_ppm > 1000000)
		return pipectl_misused(&p->call, "verify_ppm is more than 1000000");
	if (o.n_backends != 0 && o.backends == NULL)
		return pipectl_misused(&p->call, "backends are counted, and there are none");
	out->backends = o.backends;
	out->n_backends = o.n_backends;
	out->verify_ppm = o.verify_ppm;
	out->flags = (o.flags & PIPECTL_RUN_NO_MEMO ? PCTL_RUN_FRESH : 0) |
		     (p->asked.flags & PIPECTL_DEBUG ? PCTL_RUN_DEBUG : 0);
	out->has_gas_limit = (o.flags & PIPECTL_RUN_GAS_LIMIT) != 0;
	out->gas_limit = o.gas_limit;
	p->device = o.n_backends == 1 ? o.backends[0] : NULL;
	return pipectl_request_inputs(p, o.inputs, o.n_inputs, arena, out);
}

/* ---- loading ------------------------------------------------------------------------------ */

static pctl_status load(pipectl_pipeline *pl, const char *path, const pipectl_setting *settings,
			uint32_t n)
{
	pipectl *p = pl->p;
	pctl_setting *sets = pctl_arena_array(pl->arena, n, sizeof(*sets));

	if (sets == NULL)
		return pctl_no_memory(&p->call, "a pipeline");
	for (uint32_t i = 0; i < n; i++) {
		if (settings[i].name == NULL || settings[i].value == NULL)
			return pipectl_misused(&p->call, "a setting has no name or no value");
		sets[i] = (pctl_setting){pctl_arena_dup(pl->arena, settings[i].name),
					 pctl_arena_dup(pl->arena, settings[i].value)};
		if (sets[i].name == NULL || sets[i].value == NULL)
			return pctl_no_memory(&p->call, "a pipeline");
	}
	pl->sets = sets;
	pl->n_sets = n;
	return pctl_load_pipeline(&p->host, path, sets, n, &p->call, &pl->loaded);
}

pctl_status pipectl_pipeline_load(pipectl *p, const char *path, const pipectl_setting *settings,
				  uint32_t n_settings, pipectl_pipeline **out)
{
	pipectl_pipeline *pl = NULL;
	pctl_status status = pipectl_begin(p, NULL, NULL);

	*out = NULL;
	if (status == PCTL_OK && (path == NULL || (settings == NULL && n_settings != 0)))
		status = pipectl_misused(&p->call,
					 "a pipeline has no path, or settings are missing");
	if (status != PCTL_OK)
		return status;
	pl = calloc(1, sizeof(*pl));
	if (pl == NULL || (pl->arena = pctl_arena_create()) == NULL) {
		free(pl);
		return pctl_no_memory(&p->call, "a pipeline");
	}
	pl->p = p;
	pl->users = 1;
	status = pipectl_end(p, load(pl, path, settings, n_settings));
	if (status != PCTL_OK) {
		pipectl_pipeline_release(pl);
		return status;
	}
	pl->loaded_said = p->said;
	p->said = NULL;
	*out = pl;
	return PCTL_OK;
}

void pipectl_pipeline_release(pipectl_pipeline *pl)
{
	if (pl == NULL || --pl->users != 0)
		return;
	pctl_loaded_pipeline_close(&pl->loaded);
	pctl_diag_list_destroy(pl->loaded_said);
	pctl_arena_destroy(pl->arena);
	free(pl);
}

/* ---- describing --------------------------------------------------------------------------- */

const char *pipectl_pipeline_name(const pipectl_pipeline *pl)
{
	return pl->loaded.pipeline->name;
}

uint32_t pipectl_pipeline_input_count(const pipectl_pipeline *pl)
{
	return pl->loaded.pipeline->n_inputs;
}

uint32_t pipectl_pipeline_output_count(const pipectl_pipeline *pl)
{
	return pl->loaded.pipeline->n_outputs;
}

pctl_status pipectl_pipeline_input(pipectl_pipeline *pl, uint32_t i, pipectl_port *out)
{
	const pctl_pipeline *from = pl->loaded.pipeline;
	pipectl_port port = {.head = PCTL_HEAD(pipectl_port)};
	pctl_status status = pipectl_begin(pl->p, pl->loaded_said, NULL);

	if (status == PCTL_OK && i >= from->n_inputs)
		status = pipectl_misused(&pl->p->call, "there is no such input");
	if (status != PCTL_OK)
		return status;
	port.name = from->inputs[i].name;
	port.type = pctl_pattern_text(pl->arena, &from->inputs[i].type);
	port.source = from->inputs[i].file != NULL ? from->inputs[i].file : from->inputs[i].cid;
	return pipectl_end(pl->p, PIPECTL_GIVE(&pl->p->call, out, &port));
}

/* What is declared where an output comes from. */
static const char *output_type(pipectl_pipeline *pl, const pctl_source *from)
{
	const pctl_graph *g = pl->loaded.graph;

	if (from->job == PCTL_FROM_INPUT)
		return pctl_pattern_text(pl->arena, &pl->loaded.pipeline->inputs[from->port].type);
	if (g->nodes[from->job].job->kind == PCTL_JOB_OP)
		return g->nodes[from->job].op.desc->out[from->port].type;
	return pctl_pattern_text(pl->arena, &g->nodes[from->job].job->out[from->port].type);
}

pctl_status pipectl_pipeline_output(pipectl_pipeline *pl, uint32_t i, pipectl_port *out)
{
	const pctl_pipeline *from = pl->loaded.pipeline;
	pipectl_port port = {.head = PCTL_HEAD(pipectl_port)};
	pctl_status status = pipectl_begin(pl->p, pl->loaded_said, NULL);

	if (status == PCTL_OK && i >= from->n_outputs)
		status = pipectl_misused(&pl->p->call, "there is no such output");
	if (status != PCTL_OK)
		return status;
	port.name = from->outputs[i].port;
	port.type = output_type(pl, &pl->loaded.graph->outputs[i]);
	return pipectl_end(pl->p, PIPECTL_GIVE(&pl->p->call, out, &port));
}

uint32_t pipectl_pipeline_param_count(const pipectl_pipeline *pl)
{
	return pl->loaded.pipeline->n_params;
}

pctl_status pipectl_pipeline_param(pipectl_pipeline *pl, uint32_t i, pipectl_setting *out)
{
	pctl_status status = pipectl_begin(pl->p, pl->loaded_said, NULL);

	*out = (pipectl_setting){NULL, NULL};
	if (status == PCTL_OK && i >= pl->loaded.pipeline->n_params)
		status = pipectl_misused(&pl->p->call, "there is no such parameter");
	if (status != PCTL_OK)
		return status;
	out->name = pl->loaded.pipeline->params[i].name;
	out->value = pl->loaded.graph->param_text[i];
	return PCTL_OK;
}

/* ---- checking, planning ------------------------------------------------------------------- */

pctl_status pipectl_pipeline_check(pipectl_pipeline *pl, const pipectl_run_options *options,
				   const char *const *devices, uint32_t n_devices)
{
	pipectl *p = pl->p;
	pctl_arena *arena = pctl_arena_create();
	pctl_run_request q;
	pctl_status status = pipectl_begin(p, pl->loaded_said, NULL);

	if (status == PCTL_OK && arena == NULL)
		status = pctl_no_memory(&p->call, "a check");
	if (status == PCTL_OK && n_devices != 0 && devices == NULL)
		status = pipectl_misused(&p->call, "devices are counted, and there are none");
	if (status == PCTL_OK)
		status = pipectl_request(p, options, arena, &q);
	if (status == PCTL_OK)
		status = pctl_check_pipeline(&p->host, &pl->loaded, &q, devices, n_devices,
					     &p->call);
	pctl_arena_destroy(arena);
	return pipectl_end(p, status);
}

static pctl_status plan(pipectl_pipeline *pl, const pipectl_run_options *options, pctl_json *j)
{
	pipectl *p = pl->p;
	pctl_arena *arena = pctl_arena_create();
	pctl_run_result *result = NULL;
	pctl_run_options o;
	pctl_run_request q;
	pctl_status status = arena == NULL ? pctl_no_memory(&p->call, "a plan")
					   : pipectl_request(p, options, arena, &q);

	if (status == PCTL_OK)
		status = pctl_request_run_options(&p->host, &q, &p->call, &o);
	if (status == PCTL_OK)
		status = pctl_plan_pipeline(&p->host, &pl->loaded, &o, &p->call, &result);
	if (status == PCTL_OK) {
		pctl_document_place(j, &pl->loaded.place);
		pctl_document_plan(j, pl->loaded.graph, result, p->host.policy);
	}
	pctl_run_result_destroy(result);
	pctl_arena_destroy(arena);
	return pipectl_end(p, status);
}

pctl_status pipectl_pipeline_plan(pipectl_pipeline *pl, const pipectl_run_options *options,
				  char **json)
{
	pctl_json j;
	pctl_status status = pipectl_begin(pl->p, pl->loaded_said, NULL);

	*json = NULL;
	if (status != PCTL_OK)
		return status;
	pctl_document_begin(&j, "plan");
	return pipectl_document(pl->p, &j, plan(pl, options, &j), json);
}
