/* `shader check --consensus`: a shader before the rules of the consensus VM, as uploading and submitting ask them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "chain/registry/rules.h"
#include "shader_price.h"
#include "shader.h"

typedef struct checking {
	pctl_app *app;
	const char *path;
	pctl_params params;
	const pctl_gas_schedule *schedule;
	uint32_t groups[3], is_built;
} checking;

/* What one of these kinds of bytes costs a KiB, beside a job without any. */
static pctl_status price_kib(const pctl_gas_schedule *s, const pctl_params *p, pctl_job_shape job,
			     int is_output, const pctl_call *call, uint64_t *out)
{
	pctl_gas_price price = {.memory = 0};
	pctl_status status;

	job.input_bytes = is_output ? 0 : 1024;
	job.output_bytes = is_output ? 1024 : 0;
	status = pctl_job_price(s, p, &job, call, &price);
	*out = price.memory;
	return status;
}

pctl_status pctl_shader_price_job(const pctl_gas_schedule *s, const pctl_params *p,
				  const pctl_job_shape *given, const pctl_call *call,
				  pctl_shader_job_price *out)
{
	pctl_job_shape job = *given;
	pctl_gas_price parent = {.hops = 0};
	pctl_status status = pctl_job_price(s, p, &job, call, &out->price);

	if (status == PCTL_OK)
		status = price_kib(s, p, job, 0, call, &out->input_kib);
	if (status == PCTL_OK)
		status = price_kib(s, p, job, 1, call, &out->output_kib);
	job.hops = 1;
	if (status == PCTL_OK)
		status = pctl_job_price(s, p, &job, call, &parent);
	out->parent = parent.hops;
	memcpy(out->groups, job.groups, sizeof(out->groups));
	return status;
}

void pctl_shader_print_price(pctl_app *app, const pctl_shader_job_price *job)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("  a job of %" PRIu32 "x%" PRIu32 "x%" PRIu32 " workgroups: %" PRIu64
		       " gas (dispatch %" PRIu64 ", the job itself %" PRIu64 "), and %" PRIu64
		       " a KiB of input, %" PRIu64 " of output, %" PRIu64 " a parent\n",
		       job->groups[0], job->groups[1], job->groups[2],
		       job->price.dispatch + job->price.job, job->price.dispatch, job->price.job,
		       job->input_kib, job->output_kib, job->parent);
		return;
	}
	pctl_json_key(j, "price");
	pctl_json_object_begin(j);
	pctl_json_kv_u64(j, "dispatch", job->price.dispatch);
	pctl_json_kv_u64(j, "job", job->price.job);
	pctl_json_kv_u64(j, "gas", job->price.dispatch + job->price.job);
	pctl_json_kv_u64(j, "input_kib", job->input_kib);
	pctl_json_kv_u64(j, "output_kib", job->output_kib);
	pctl_json_kv_u64(j, "parent", job->parent);
	pctl_json_object_end(j);
}

static pctl_status print_one(void *ctx, uint32_t entry, const pctl_kernel_module *u,
			     const pctl_program *program)
{
	const checking *k = ctx;
	const pctl_job_shape job = {.unit = u,
				    .groups = {k->groups[0], k->groups[1], k->groups[2]},
				    .is_built = k->is_built};
	pctl_shader_job_price price;
	pctl_status status =
		pctl_shader_price_job(k->schedule, &k->params, &job, k->app->call, &price);

	(void)entry;
	if (status == PCTL_OK)
		pctl_shader_print_module(k->app, k->path, program, u, &price.price, &price);
	return status;
}

static pctl_status bits_of(pctl_app *app, const pctl_program *p, const struct shader_options *o,
			   pctl_msg_override *to)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < o->n_overrides; i++) {
		to[i].name = o->overrides[i].name;
		status = pctl_override_bits(p, &o->overrides[i], app->call, &to[i].bits);
	}
	return status;
}

/* One entry point with what the message would say. */
static pctl_status check_job(checking *k, const pctl_chain_source *source,
			     const struct shader_options *o)
{
	pctl_msg_override overrides[PCTL_MESSAGE_OVERRIDES_MAX];
	const pctl_call *call = k->app->call;
	const pctl_kernel_module *unit;
	const pctl_program *program;
	pctl_status status;

	if (o->n_overrides > PCTL_MESSAGE_OVERRIDES_MAX)
		return pctl_refuse(call, PC10_USAGE, "%u overrides, a job has at most %u",
				   o->n_overrides, PCTL_MESSAGE_OVERRIDES_MAX);
	status = pctl_rules_compiled(k->app->host.kernels, source, &k->params, call, &program);
	if (status == PCTL_OK)
		status = bits_of(k->app, program, o, overrides);
	if (status == PCTL_OK)
		status = pctl_rules_concrete(
			k->app->host.kernels, source, o->entry == NULL ? "" : o->entry, overrides,
			o->n_overrides, o->has_groups ? o->groups : NULL, &k->params, call, &unit);
	if (status == PCTL_OK)
		status = pctl_rules_accept(unit, &k->params, call);
	return status == PCTL_OK ? print_one(k, 0, unit, program) : status;
}

pctl_status pctl_shader_say_rules(pctl_app *app)
{
	static const struct {
		const char *from, *words;
	} origins[] = {[PCTL_RULES_ASKED] = {"option", "--rules asks for it"},
		       [PCTL_RULES_OF_CHAIN] = {"chain", "this home's chain is under it"},
		       [PCTL_RULES_OF_GENESIS] = {"genesis",
						  "this home has no chain yet; one that begins "
						  "here would be under it"}};
	pctl_params params;
	uint32_t from;
	pctl_status status = pctl_home_rules(&app->host, pctl_option_value(&app->line, "--rules"),
					     app->call, &params, &from);

	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_kv_u32(&app->document, "rules",
				 (uint32_t)params.values[PCTL_PARAM_RULES]);
		pctl_json_kv_string(&app->document, "rules_from", origins[from].from);
		return PCTL_OK;
	}
	printf("rules %" PRIu64 "%s: %s\n", params.values[PCTL_PARAM_RULES],
	       params.values[PCTL_PARAM_RULES] == PCTL_RULES_DRAFT ? " (a draft)" : "",
	       origins[from].words);
	return PCTL_OK;
}

pctl_status pctl_shader_check_rules(pctl_app *app, const char *path, const struct shader_options *o)
{
	const int is_job = o->entry != NULL || o->n_overrides != 0 || o->has_groups;
	const pctl_chain_source source = {path, o->text, o->n_text};
	checking k = {.app = app,
		      .path = path,
		      .groups = {o->groups[0], o->groups[1], o->groups[2]},
		      .is_built = o->n_overrides != 0};
	pctl_gas_schedule *chain = NULL;
	pctl_status status = pctl_home_rules(&app->host, pctl_option_value(&app->line, "--rules"),
					     app->call, &k.params, NULL);

	if (status == PCTL_OK)
		status = pctl_installation_ops(&app->host, app->call);
	if (status == PCTL_OK && pctl_option_has(&app->line, "--gas")) {
		status = pctl_installation_schedule(&app->host, app->call);
		k.schedule = app->host.schedule;
	} else if (status == PCTL_OK) {
		status = pctl_chain_schedule(&k.params, app->call, &chain);
		k.schedule = chain;
	}
	if (status == PCTL_OK)
		status = is_job ? check_job(&k, &source, o)
				: pctl_rules_accept_source(app->host.kernels, &source, &k.params,
							   app->call, print_one, &k);
	pctl_gas_schedule_destroy(chain);
	return status;
}
