/* What a plugin's worker may reach, and whether a policy is content with that. */
#include <string.h>

#include "runtime/plugin/devices.h"
#include "runtime/plugin/registry_private.h"

static int is_left_out(const pctl_registry *r, const char *id)
{
	for (uint32_t i = 0; i < r->n_unconfined; i++)
		if (!strcmp(r->unconfined[i], "*") || !strcmp(r->unconfined[i], id))
			return 1;
	return 0;
}

const char *pctl_registry_unconfined(const pctl_registry *r, const char *id)
{
	pctl_confine_facts facts;
	const char *lack;

	if (is_left_out(r, id))
		return "the configuration leaves it out";
	pctl_confine_ask(&facts);
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

/* Where it is needed, and not the system's own, which every worker may read. */
static const char *own_file(const char *file)
{
	return file && strncmp(file, "/usr/", 5) != 0 && strncmp(file, "/etc/", 5) != 0 ? file
											: NULL;
}

pctl_status pctl_worker_confinement(pctl_registry *r, const known_plugin *p,
				    const pctl_driver_env *env, const char *dir,
				    const pctl_call *call, pctl_confinement *out)
{
	const pctl_status s = check_rules(r, p->info.id, call);
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
		return pctl_refuse(call, PC2_NOMEM, "no memory for a confinement");
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
	return PCTL_OK;
}
