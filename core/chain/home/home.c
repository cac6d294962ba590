/* Opening the chain of an installation and its executor; see home.h. */
#include "chain/home/home.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "chain/executor/calibrate.h"
#include "chain/home/adopt.h"
#include "chain/home/judge.h"
#include "chain/home/keys.h"
#include "chain/home/wasm.h"
#include "chain/registry/registry.h"

/* Where the parameters of height 0 are; they are read only for a state that has none. */
static pctl_status genesis_path(pctl_installation *in, const char *dir, const pctl_call *call,
				const char **out)
{
	*out = pctl_arena_printf(in->arena, "%s/params.cfg", dir);
	if (*out != NULL && access(*out, F_OK) != 0) {
		if (in->config->conf_dir == NULL)
			return pctl_refuse(
				call, PC5723_PARAM_SEED,
				"there is no file %s, which gives a new chain its parameters",
				*out);
		*out = pctl_arena_printf(in->arena, "%s/chain/params.cfg", in->config->conf_dir);
	}
	return *out == NULL ? pctl_no_memory(call, "a path") : PCTL_OK;
}

static pctl_status read_genesis(pctl_installation *in, const char *dir, const pctl_call *call,
				pctl_params *out)
{
	const char *path;
	pctl_status status = genesis_path(in, dir, call, &path);

	return status == PCTL_OK ? pctl_params_read(path, call, out) : status;
}

typedef struct genesis_of {
	pctl_installation *in;
	const char *dir;
} genesis_of;

static pctl_status seed(void *ctx, const pctl_call *call, pctl_params *out)
{
	const genesis_of *g = ctx;

	return read_genesis(g->in, g->dir, call, out);
}

pctl_status pctl_home_chain(pctl_installation *in, const pctl_executor *executor,
			    const pctl_call *call, pctl_chain **out)
{
	pctl_chain_options o = {.executor = executor};
	const char *accounts;
	genesis_of genesis = {.in = in};
	pctl_status status = pctl_installation_config(in, call);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_installation_memo(in, call);
	if (status == PCTL_OK)
		status = pctl_installation_ops(in, call);
	if (status != PCTL_OK)
		return status;
	o.made = in->memo;
	o.store = in->store;
	o.kernels = in->kernels;
	o.seed = seed;
	o.seed_ctx = &genesis;
	o.dir = pctl_arena_printf(in->arena, "%s/chain", in->config->home);
	o.wasm = pctl_home_wasm(in);
	if (o.dir == NULL || o.wasm == NULL)
		return pctl_no_memory(call, "a path");
	accounts = pctl_arena_printf(in->arena, "%s/genesis.cfg", o.dir);
	if (accounts == NULL)
		return pctl_no_memory(call, "a path");
	status = pctl_home_settle(o.dir, call);
	genesis.dir = o.dir;
	if (status == PCTL_OK)
		status = pctl_home_judge(in, call, &o.reference);
	if (status == PCTL_OK)
		status = pctl_chain_open(&o, call, out);
	if (status == PCTL_OK)
		status = pctl_home_genesis(*out, accounts, call);
	if (status == PCTL_OK) {
		pctl_chain_set_pace(*out, in->config->gas_per_ms, in->config->abstain != 0);
		pctl_chain_set_rules(*out, in->config->rules_known);
		pctl_home_author(in, *out);
		return PCTL_OK;
	}
	pctl_chain_close(*out);
	*out = NULL;
	return status;
}

pctl_status pctl_home_params(pctl_chain *c, const pctl_call *call, pctl_params *out)
{
	pctl_chain_info info;
	pctl_status status = pctl_chain_info_read(c, call, &info);

	return status == PCTL_OK ? pctl_params_in_force(pctl_cursor(c), info.last + 1, call, out)
				 : status;
}

pctl_status pctl_home_rules(pctl_installation *in, const char *rules, const pctl_call *call,
			    pctl_params *out, uint32_t *from)
{
	const char *dir, *state;
	pctl_status status = pctl_installation_config(in, call);
	int is_there;

	if (status != PCTL_OK)
		return status;
	dir = pctl_arena_printf(in->arena, "%s/chain", in->config->home);
	state = pctl_arena_printf(in->arena, "%s/chain/state.sqlite", in->config->home);
	if (dir == NULL || state == NULL)
		return pctl_no_memory(call, "a path");
	is_there = access(state, F_OK) == 0;
	if (from != NULL)
		*from = rules != NULL ? PCTL_RULES_ASKED
			: is_there    ? PCTL_RULES_OF_CHAIN
				      : PCTL_RULES_OF_GENESIS;
	status = is_there ? pctl_calibration_params(dir, call, out)
			  : read_genesis(in, dir, call, out);
	if (status == PCTL_OK && rules != NULL)
		status = pctl_param_parse(PCTL_PARAM_RULES, rules, call,
					  &out->values[PCTL_PARAM_RULES]);
	return status == PCTL_OK ? pctl_rules_are_known(out->values[PCTL_PARAM_RULES], call)
				 : status;
}

pctl_status pctl_home_executor(const pctl_run_options *run, const char *selector,
			       const pctl_call *call, pctl_executor *out)
{
	const pctl_device_executor_options o = {
		.registry = run->registry,
		.policy = run->policy,
		.profiles = run->profiles,
		.cache_dir = run->cache_dir,
		.backends = selector != NULL ? &selector : run->backends,
		.n_backends = selector != NULL ? 1 : run->n_backends,
		.verify_ppm = selector != NULL ? 0 : run->verify_ppm,
		.flags = run->flags & (PCTL_RUN_IN_PROCESS | PCTL_RUN_DEBUG),
		.to_reference = selector == NULL};

	*out = (pctl_executor){.run = NULL};
	/* Of a device that is named for a comparison no agreement is asked. */
	if (selector == NULL && run->policy->quorum_n > 1)
		return pctl_refuse(
			call, PC5237_QUORUM_DEVICES,
			"jobs of blocks run on one device, the policy asks that %u of %u "
			"agree (%s); `verify = \"all\"` compares them with the reference",
			run->policy->quorum_k, run->policy->quorum_n,
			pctl_policy_origin(run->policy, "quorum"));
	return pctl_device_executor_open(&o, call, out);
}

void pctl_home_shader_warn(pctl_chain *c, const char *cid, const pctl_call *call)
{
	pctl_shader_row row;

	if (pctl_shaders_read(pctl_cursor(c), cid, NULL, &row) != PCTL_OK)
		return;
	if (row.deprecated != 0)
		pctl_warn_at(call, PC5805_SHADER_DEPRECATED, NULL, NULL,
			     "shader %s: %s, who uploaded it first, advises against it since "
			     "height %" PRIu64,
			     cid, row.sender, row.deprecated);
	pctl_shader_row_clear(&row);
}

pctl_status pctl_home_shader(pctl_chain *c, const char *word, const pctl_call *call,
			     char out[PCTL_CID_TEXT_SIZE])
{
	pctl_alias_row alias;
	pctl_chain_info info;
	pctl_cid cid;
	pctl_status status = PCTL_OK;

	if (pctl_cid_parse(word, &cid)) {
		pctl_cid_format(&cid, out);
		return PCTL_OK;
	}
	status = pctl_chain_info_read(c, call, &info);
	if (status == PCTL_OK)
		status = pctl_aliases_at(pctl_cursor(c), word, info.last + 1, call, &alias);
	if (status == PCTL_OK)
		snprintf(out, PCTL_CID_TEXT_SIZE, "%s", alias.cid);
	return status;
}
