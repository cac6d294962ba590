/* What a plugin's worker may reach, and whether a policy is content with that. */
#include <string.h>

#include "runtime/ipc/calls.h"
#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

static int is_left_out(const pctl_registry *r, const char *id)
{
	for (uint32_t i = 0; i < r->n_unconfined; i++)
		if (!strcmp(r->unconfined[i], "*") || !strcmp(r->unconfined[i], id))
			return 1;
	return 0;
}

/* What the kernel offers, less what a test takes away. */
static void kernel_facts(const pctl_registry *r, pctl_confine_facts *out)
{
	pctl_confine_ask(out);
	if (r->without & PCTL_CONFINE_LANDLOCK)
		out->landlock_abi = 0;
	if (r->without & PCTL_CONFINE_SECCOMP)
		out->seccomp = out->supervised = 0;
	if (r->without & PCTL_CONFINE_SUPERVISOR)
		out->supervised = 0;
}

const char *pctl_registry_unconfined(const pctl_registry *r, const char *id)
{
	pctl_confine_facts facts;
	const char *lack;

	if (is_left_out(r, id))
		return "the configuration leaves it out";
	kernel_facts(r, &facts);
	lack = pctl_confine_lack(&facts);
	return lack ? pctl_arena_printf(r->arena, "the kernel lacks %s", lack) : NULL;
}

const char *pctl_registry_shares_namespaces(const pctl_registry *r, const char *id)
{
	pctl_confine_facts facts;
	char text[128];

	if (is_left_out(r, id))
		return "the configuration leaves it out";
	pctl_confine_ask_all(&facts);
	if (!pctl_confine_missing(facts.namespaces, text, sizeof(text)))
		return NULL;
	return pctl_arena_printf(r->arena, "the kernel gives this user no namespaces of: %s", text);
}

/* What a policy demands. */
static pctl_status check_rules(const pctl_registry *r, const char *id, const pctl_call *call)
{
	const char *why = r->rules.only_confined ? pctl_registry_unconfined(r, id) : NULL;

	if (why)
		return pctl_refuse(
			call, PC3036_PLUGIN_UNCONFINED,
			"\"%s\" would run unconfined, since %s; the policy forbids that (%s)", id,
			why, r->rules.confinement_by);
	why = r->rules.only_apart ? pctl_registry_shares_namespaces(r, id) : NULL;
	if (why)
		return pctl_refuse(call, PC3036_PLUGIN_UNCONFINED,
				   "\"%s\" would share namespaces with the host, since %s; the "
				   "policy forbids that (%s)",
				   id, why, r->rules.namespaces_by);
	return PCTL_OK;
}

/* A kernel that lacks something is no secret; who leaves a plugin out knows. Once is enough. */
void pctl_worker_warn(pctl_registry *r, const known_plugin *p, const pctl_call *call)
{
	pctl_confine_facts facts;
	const char *lack;

	kernel_facts(r, &facts);
	lack = r->told_of_lack || is_left_out(r, p->info.id) ? NULL : pctl_confine_lack(&facts);
	if (!lack)
		return;
	r->told_of_lack = 1;
	pctl_warn_at(
		call, PC3036_PLUGIN_UNCONFINED, NULL,
		"`pipectl doctor` says what there is; plugins.confinement = \"required\" runs no "
		"plugin then",
		"workers are not confined in full: the kernel lacks %s", lack);
}

/* Where it is needed, and not the system's own, which every worker may read. */
static const char *own_file(const char *file)
{
	return file && strncmp(file, "/usr/", 5) != 0 && strncmp(file, "/etc/", 5) != 0 ? file
											: NULL;
}

/* Sets and single calls, as a manifest has them in one list. */
static void add_calls(pctl_confinement *out, const char **calls, const char *const *list,
		      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t set = pctl_call_set(list[i]);

		out->sets |= set;
		if (!set)
			calls[out->n_calls++] = list[i];
	}
}

static void add_programs(pctl_confinement *out, const char **programs, const char *const *list,
			 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		programs[out->n_programs++] = list[i];
}

/* What the kind of the plugin, its manifest and its driver's settings let its worker ask of the kernel. */
static pctl_status add_kernel(pctl_registry *r, const known_plugin *const who[2],
			      const pctl_driver_env *env, const pctl_call *call,
			      pctl_confinement *out)
{
	uint32_t n_calls = env ? env->n_calls : 0, n_programs = env ? env->n_programs : 0, k;
	const char **calls, **programs;

	for (k = 0; k < 2 && who[k]; k++) {
		n_calls += who[k]->n_calls;
		n_programs += who[k]->n_programs;
		out->sets |= who[k]->info.drivers != PCTL_DRIVERS_NONE ? PCTL_CALLS_DRIVER : 0;
	}
	calls = pctl_arena_array(r->arena, n_calls + 1u, sizeof(*calls));
	programs = pctl_arena_array(r->arena, n_programs + 1u, sizeof(*programs));
	if (!calls || !programs)
		return pctl_no_memory(call, "a confinement");
	for (k = 0; k < 2 && who[k]; k++) {
		add_calls(out, calls, who[k]->calls, who[k]->n_calls);
		add_programs(out, programs, who[k]->programs, who[k]->n_programs);
	}
	if (env) {
		add_calls(out, calls, env->calls, env->n_calls);
		add_programs(out, programs, env->programs, env->n_programs);
	}
	out->calls = calls;
	out->programs = programs;
	return PCTL_OK;
}

pctl_status pctl_worker_confinement(pctl_registry *r, const known_plugin *p,
				    const pctl_driver_env *env, const char *dir,
				    const pctl_call *call, pctl_confinement *out)
{
	pctl_status s = check_rules(r, p->info.id, call);
	const char **read;
	const known_plugin *further =
		env && env->wrapped ? pctl_registry_known(r, env->wrapped) : NULL;
	const known_plugin *who[2] = {p, further};
	uint32_t i, k;

	memset(out, 0, sizeof(*out));
	if (s)
		return s;
	if (is_left_out(r, p->info.id))
		return PCTL_OK;
	read = pctl_arena_array(
		r->arena, r->n_readable + p->n_readable + (further ? further->n_readable : 0) + 2,
		sizeof(*read));
	if (!read)
		return pctl_no_memory(call, "a confinement");
	for (i = 0; i < r->n_readable; i++)
		read[out->n_read++] = r->readable[i];
	for (k = 0; k < 2; k++)
		for (i = 0; who[k] && i < who[k]->n_readable; i++)
			read[out->n_read++] = who[k]->readable[i];
	if (env && own_file(env->file))
		read[out->n_read++] = env->file;
	out->on = 1;
	out->without = r->without;
	out->read = read;
	out->write = dir;
	s = add_kernel(r, who, env, call, out);
	return s;
}
