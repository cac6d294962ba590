/* Opening the parts of an installation; see installation.h. */
#include "host/installation.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"

#define LARGEST_SCHEDULE (4u << 20)

pctl_status pctl_installation_init(pctl_installation *in, const pctl_installation_options *o,
				   const pctl_call *call)
{
	*in = (pctl_installation){.asked = *o, .arena = pctl_arena_create()};
	return in->arena == NULL ? pctl_no_memory(call, "the installation") : PCTL_OK;
}

void pctl_installation_close(pctl_installation *in)
{
	pctl_found_close(in->certificates);
	pctl_found_close(in->certificates_here);
	pctl_profiles_close(in->profiles);
	pctl_kernels_destroy(in->kernels);
	pctl_op_library_destroy(in->library);
	pctl_registry_close(in->registry);
	pctl_memo_close(in->memo);
	pctl_store_close(in->store);
	pctl_policy_destroy(in->policy);
	pctl_gas_schedule_destroy(in->schedule);
	pctl_host_config_destroy(in->config);
	pctl_arena_destroy(in->arena);
	memset(in, 0, sizeof(*in));
}

pctl_status pctl_installation_config(pctl_installation *in, const pctl_call *call)
{
	const pctl_host_options o = {in->asked.home, in->asked.config};
	pctl_status status;

	if (in->config != NULL)
		return PCTL_OK;
	status = pctl_host_config_load(&o, call, &in->config);
	if (status == PCTL_OK && in->asked.configured != NULL)
		in->asked.configured(in->asked.ctx, in->config);
	return status;
}

/* The host's limits hold on top of the policy's. */
static void limit_policy(pctl_installation *in)
{
	const pctl_host_config *c = in->config;

	pctl_policy_limit(in->policy, c->memory_bytes, pctl_host_config_origin(c, "limits.memory"),
			  c->time_ms);
}

pctl_status pctl_installation_policy(pctl_installation *in, const pctl_call *call)
{
	const char *given = in->asked.policy;
	pctl_status status = pctl_installation_config(in, call);
	char *path;

	if (status != PCTL_OK || in->policy != NULL)
		return status;
	if (given == NULL && in->config->policy == NULL) {
		status = pctl_policy_default(call, &in->policy);
		if (status == PCTL_OK)
			limit_policy(in);
		return status;
	}
	path = given == NULL ? strdup(in->config->policy)
			     : pctl_host_config_find(in->config, given);
	if (path == NULL)
		return pctl_refuse(call, PC3_IO, "no policy file %s", given == NULL ? "" : given);
	status =
		pctl_policy_read(path, pctl_host_config_find_policy, in->config, call, &in->policy);
	free(path);
	if (status == PCTL_OK)
		limit_policy(in);
	return status;
}

pctl_status pctl_installation_registry(pctl_installation *in, const pctl_call *call)
{
	pctl_registry_options o = {.flags = 0};
	pctl_status status = pctl_installation_policy(in, call);
	const pctl_host_config *c = in->config;
	pctl_plugin_rules rules;
	const char **dirs;

	if (status != PCTL_OK || in->registry != NULL)
		return status;
	pctl_policy_plugin_rules(in->policy, &rules);
	o.rules = &rules;
	o.cache_bytes = c->cache_bytes;
	o.bound_cache = 1;
	dirs = calloc(c->n_plugin_dirs + in->asked.n_plugin_dirs + 1u, sizeof(*dirs));
	if (dirs == NULL)
		return pctl_no_memory(call, "the registry");
	for (uint32_t i = 0; i < c->n_plugin_dirs; i++)
		dirs[o.n_dirs++] = c->plugin_dirs[i];
	for (uint32_t i = 0; i < in->asked.n_plugin_dirs; i++)
		dirs[o.n_dirs++] = in->asked.plugin_dirs[i];
	o.dirs = dirs;
	o.home = c->home;
	o.cache = c->cache_dir;
	o.worker = c->worker;
	o.disabled = c->plugins_disabled;
	o.n_disabled = c->n_plugins_disabled;
	o.disabled_by = c->config;
	o.unconfined = c->unconfined;
	o.n_unconfined = c->n_unconfined;
	o.readable = c->readable;
	o.n_readable = c->n_readable;
	o.probe_ms = c->probe_ms;
	o.start_ms = c->start_ms;
	o.call_ms = c->call_ms;
	o.grace_ms = c->grace_ms;
	o.build_cpu_ms = c->build_cpu_ms;
	o.build_memory = c->build_memory;
	o.first_run_ms = c->first_run_ms;
	o.strikes = c->strikes;
	o.log = in->log;
	status = pctl_registry_open(&o, call, &in->registry);
	free(dirs);
	return status;
}

pctl_status pctl_installation_in_process(pctl_installation *in, const pctl_call *call, int *out)
{
	pctl_status status = pctl_installation_registry(in, call);

	*out = 0;
	if (status != PCTL_OK)
		return status;
	*out = in->asked.in_process || in->config->in_process;
	return *out ? pctl_registry_in_process(in->registry, call) : PCTL_OK;
}

pctl_status pctl_installation_ops(pctl_installation *in, const pctl_call *call)
{
	pctl_status status = pctl_installation_registry(in, call);

	if (status != PCTL_OK || in->kernels != NULL)
		return status;
	in->library = pctl_op_library_create(in->registry, call);
	if (in->library != NULL)
		in->kernels = pctl_kernels_create(pctl_op_library_source(in->library));
	if (in->kernels == NULL)
		return pctl_no_memory(call, "the installation");
	pctl_kernels_obey(in->kernels, in->policy);
	pctl_kernels_ask_turns(in->kernels, in->asked.max_turns);
	pctl_kernels_ask_subgroup(in->kernels, in->asked.subgroup);
	return PCTL_OK;
}

pctl_status pctl_installation_store(pctl_installation *in, const pctl_call *call)
{
	pctl_status status = pctl_installation_config(in, call);

	if (status != PCTL_OK || in->store != NULL)
		return status;
	status = pctl_store_open(in->config->cas_dir, 0, call, &in->store);
	if (status == PCTL_OK)
		pctl_store_set_progress(in->store, &in->asked.progress);
	return status;
}

pctl_status pctl_installation_memo(pctl_installation *in, const pctl_call *call)
{
	pctl_status status = pctl_installation_store(in, call);

	/* Where nothing is remembered it still notes how what is stored stands. */
	if (status != PCTL_OK || in->memo != NULL)
		return status;
	return pctl_memo_open(in->config->memo_dir, in->store, call, &in->memo);
}

/* A price list is known by its bytes: two files may have one name. */
static pctl_status identify_schedule(pctl_installation *in, const char *path, const pctl_call *call)
{
	char *text = NULL, cid_text[PCTL_CID_TEXT_SIZE];
	uint64_t n;
	pctl_cid cid;
	pctl_status status = pctl_file_read(path, LARGEST_SCHEDULE, call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_cid_of(text, n, call, &cid);
	if (status == PCTL_OK)
		in->schedule_id = pctl_arena_dup(in->arena, pctl_cid_format(&cid, cid_text));
	free(text);
	return status == PCTL_OK && in->schedule_id == NULL
		       ? pctl_no_memory(call, "the installation")
		       : status;
}

pctl_status pctl_installation_schedule(pctl_installation *in, const pctl_call *call)
{
	const char *given = in->asked.schedule, *configured = NULL;
	pctl_status status = pctl_installation_config(in, call);
	char *path;

	if (status != PCTL_OK || in->schedule != NULL)
		return status;
	if (given == NULL)
		status = pctl_host_config_require_gas(in->config, call, &configured);
	if (status != PCTL_OK)
		return status;
	if (given == NULL && configured == NULL)
		return pctl_refuse(call, PC3_IO, "no gas schedule is configured; give --gas FILE");
	path = given == NULL ? strdup(configured) : pctl_host_config_find(in->config, given);
	if (path == NULL)
		return pctl_refuse(call, PC3_IO, "no gas schedule %s", given == NULL ? "" : given);
	status = pctl_gas_schedule_read(path, call, &in->schedule);
	if (status == PCTL_OK)
		status = identify_schedule(in, path, call);
	free(path);
	return status;
}

/* A folder that came with the installation, beside its conf directory; NULL: there is none. */
static const char *shipped(pctl_installation *in, const char *name)
{
	return in->config->conf_dir == NULL
		       ? NULL
		       : pctl_arena_printf(in->arena, "%s/../%s", in->config->conf_dir, name);
}

pctl_status pctl_installation_profiles(pctl_installation *in, const pctl_call *call)
{
	pctl_profiles_options o = {.probing = in->asked.probing, .ctx = in->asked.ctx};
	pctl_status status = pctl_installation_config(in, call);
	const char *certs;

	if (status != PCTL_OK || in->profiles != NULL)
		return status;
	certs = shipped(in, "certs");
	o.home = in->config->home;
	o.certs = &certs;
	o.n_certs = certs != NULL;
	return pctl_profiles_open(&o, call, &in->profiles);
}

static pctl_status find_certificates(pctl_installation *in, uint32_t of_host, const pctl_call *call,
				     pctl_found **out)
{
	const char *own[2];
	pctl_found_options o;
	pctl_status status = pctl_installation_ops(in, call);

	if (status == PCTL_OK)
		status = pctl_installation_profiles(in, call);
	if (status != PCTL_OK || *out != NULL)
		return status;
	own[0] = pctl_arena_printf(in->arena, "%s/certificates", in->config->home);
	own[1] = shipped(in, "certs/certificates");
	if (own[0] == NULL)
		return pctl_no_memory(call, "the installation");
	o = (pctl_found_options){.profiles = in->profiles,
				 .registry = in->registry,
				 .ops = pctl_op_library_source(in->library),
				 .home = in->config->home,
				 .dirs = (const char **)in->asked.certificates,
				 .n_dirs = in->asked.n_certificates,
				 .of_host = of_host};
	if (o.n_dirs == 0) {
		o.dirs = own;
		o.n_dirs = own[1] == NULL ? 1 : 2;
	}
	return pctl_found_open(&o, call, out);
}

pctl_status pctl_installation_certificates(pctl_installation *in, const pctl_call *call)
{
	return find_certificates(in, 0, call, &in->certificates);
}

pctl_status pctl_installation_signer(pctl_installation *in, const pctl_call *call,
				     pctl_signer **out)
{
	pctl_status status = pctl_installation_config(in, call);
	const char *keys = status != PCTL_OK
				   ? NULL
				   : pctl_arena_printf(in->arena, "%s/keys", in->config->home);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	return keys == NULL ? pctl_no_memory(call, "the installation")
			    : pctl_signer_open(keys, call, out);
}

/* Certificates are looked for when a level is first asked for, and those of other hosts only when that is too low: then one of them may
 * claim it. Who cannot read them holds none. */
static void certified_level(void *ctx, const pctl_level_question *q, pctl_level_answer *out)
{
	pctl_installation *in = ctx;

	*out = (pctl_level_answer){0, 0, NULL};
	if (find_certificates(in, 1, in->call, &in->certificates_here) != PCTL_OK)
		return;
	pctl_found_level(in->certificates_here, q, out);
	if (out->level >= q->wanted || pctl_installation_certificates(in, in->call) != PCTL_OK)
		return;
	pctl_found_level(in->certificates, q, out);
}

pctl_status pctl_installation_run_options(pctl_installation *in, const pctl_call *call,
					  pctl_run_options *out)
{
	int in_process = 0;
	pctl_status status = pctl_installation_ops(in, call);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_installation_memo(in, call);
	if (status == PCTL_OK)
		status = pctl_installation_schedule(in, call);
	if (status == PCTL_OK)
		status = pctl_installation_profiles(in, call);
	if (status == PCTL_OK)
		status = pctl_installation_in_process(in, call, &in_process);
	if (status != PCTL_OK)
		return status;
	in->call = call;
	out->registry = in->registry;
	out->ops = pctl_op_library_source(in->library);
	out->store = in->store;
	out->memo = in->memo;
	out->schedule = in->schedule;
	out->schedule_id = in->schedule_id;
	out->policy = in->policy;
	out->verify_ppm = in->policy->verify_ppm;
	out->cache_dir = in->config->cache_bytes != 0 ? in->config->cache_dir : NULL;
	out->flags =
		(in_process ? PCTL_RUN_IN_PROCESS : 0) | (in->config->memo ? 0 : PCTL_RUN_FRESH);
	out->profiles = in->profiles;
	out->certified_level = certified_level;
	out->certified_ctx = in;
	return PCTL_OK;
}
