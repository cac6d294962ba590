/* Opening the chain of this home, and words that several of its verbs take. */
#include "chain.h"

#include <string.h>
#include <unistd.h>

#include "chain/state/amount.h"
#include "chain/executor/calibrate.h"
#include "chain/registry/registry.h"

/* Where the parameters of height 0 are; they are read only for a state that has none. */
static pctl_status genesis_path(pctl_app *app, const char *dir, const char **out)
{
	*out = pctl_arena_printf(app->arena, "%s/params.cfg", dir);
	if (*out != NULL && access(*out, F_OK) != 0) {
		if (app->host.config->conf_dir == NULL)
			return pctl_refuse(app->call, PC5723_PARAM_SEED, "no %s to begin with",
					   *out);
		*out = pctl_arena_printf(app->arena, "%s/chain/params.cfg",
					 app->host.config->conf_dir);
	}
	return *out == NULL ? pctl_refuse(app->call, PC2_NOMEM, "no memory for a path") : PCTL_OK;
}

static pctl_status read_genesis(pctl_app *app, const char *dir, pctl_params *out)
{
	const char *path;
	pctl_status status = genesis_path(app, dir, &path);

	return status == PCTL_OK ? pctl_params_read(path, app->call, out) : status;
}

pctl_status pctl_app_params(pctl_app *app, pctl_chain *c, pctl_params *out)
{
	pctl_chain_info info;
	pctl_status status = pctl_chain_info_read(c, app->call, &info);

	return status == PCTL_OK
		       ? pctl_params_in_force(pctl_chain_rows(c), info.last + 1, app->call, out)
		       : status;
}

pctl_status pctl_app_rules(pctl_app *app, pctl_params *out, const char **from)
{
	const char *text = pctl_option_value(&app->line, "--rules"), *dir, *state;
	pctl_status status = pctl_installation_config(&app->host, app->call);

	if (status != PCTL_OK)
		return status;
	dir = pctl_arena_printf(app->arena, "%s/chain", app->host.config->home);
	state = pctl_arena_printf(app->arena, "%s/chain/state.sqlite", app->host.config->home);
	if (dir == NULL || state == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory for a path");
	if (from != NULL)
		*from = text != NULL ? "option" : access(state, F_OK) == 0 ? "chain" : "genesis";
	status = access(state, F_OK) == 0 ? pctl_calibration_params(dir, app->call, out)
					  : read_genesis(app, dir, out);
	return status == PCTL_OK && text != NULL
		       ? pctl_param_parse(PCTL_PARAM_RULES, text, app->call,
					  &out->values[PCTL_PARAM_RULES])
		       : status;
}

pctl_status pctl_app_chain(pctl_app *app, const pctl_executor *executor, pctl_chain **out)
{
	pctl_chain_options o = {.executor = executor};
	pctl_params genesis;
	pctl_status status = pctl_installation_config(&app->host, app->call);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_installation_memo(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_installation_ops(&app->host, app->call);
	if (status != PCTL_OK)
		return status;
	o.made = app->host.memo;
	o.dir = pctl_arena_printf(app->arena, "%s/chain", app->host.config->home);
	if (o.dir == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory for a path");
	o.store = app->host.store;
	o.kernels = app->host.kernels;
	o.genesis = &genesis;
	status = read_genesis(app, o.dir, &genesis);
	return status == PCTL_OK ? pctl_chain_open(&o, app->call, out) : status;
}

pctl_status pctl_app_sender(pctl_app *app, const char **out)
{
	*out = pctl_option_value(&app->line, "--sender");
	if (*out == NULL)
		*out = pctl_option_value(&app->line, "--from");
	return *out != NULL ? PCTL_OK
			    : pctl_refuse(app->call, PC10_USAGE,
					  "--sender ACCOUNT says who sends the message");
}

pctl_status pctl_app_shader(pctl_app *app, pctl_chain *c, const char *word, const char **out)
{
	pctl_alias_row alias;
	pctl_cid cid;
	pctl_status status;

	*out = word;
	if (pctl_cid_parse(word, &cid))
		return PCTL_OK;
	status = pctl_aliases_read(pctl_chain_rows(c), word, app->call, &alias);
	if (status != PCTL_OK)
		return status;
	*out = pctl_arena_dup(app->arena, alias.cid);
	return *out == NULL ? pctl_refuse(app->call, PC2_NOMEM, "no memory for a name") : PCTL_OK;
}

pctl_status pctl_app_number(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, option);

	*out = fallback;
	if (text != NULL && !pctl_amount_parse(text, out))
		return pctl_refuse(app->call, PC10_USAGE, "%s wants a number, not \"%s\"", option,
				   text);
	return PCTL_OK;
}

pctl_status pctl_app_open_executor(pctl_app *app, const char *selector, pctl_executor *out)
{
	pctl_device_executor_options options = {.n_backends = 1};
	pctl_run_options run;
	pctl_status status = pctl_app_run_options(app, &run);

	memset(out, 0, sizeof(*out));
	/* Of a device that is named for a comparison no agreement is asked. */
	if (status == PCTL_OK && selector == NULL && run.policy->quorum_n > 1)
		status = pctl_refuse(
			app->call, PC5237_QUORUM_DEVICES,
			"jobs of blocks run on one device, the policy asks that %u of %u "
			"agree (%s); `verify = \"all\"` compares them with the reference",
			run.policy->quorum_k, run.policy->quorum_n,
			pctl_policy_origin(run.policy, "quorum"));
	if (status != PCTL_OK)
		return status;
	options.registry = run.registry;
	options.policy = run.policy;
	options.profiles = run.profiles;
	options.cache_dir = run.cache_dir;
	options.backends = selector != NULL ? &selector : run.backends;
	options.n_backends = selector != NULL ? 1 : run.n_backends;
	options.verify_ppm = selector != NULL ? 0 : run.verify_ppm;
	options.flags = run.flags & (PCTL_RUN_IN_PROCESS | PCTL_RUN_DEBUG);
	return pctl_device_executor_open(&options, app->call, out);
}
