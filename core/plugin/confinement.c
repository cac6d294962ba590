/* What a plugin's worker may reach, and whether a policy is content with that. */
#include <string.h>

#include "plugin/devices.h"
#include "plugin/registry_private.h"

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
	const char *left_out = pctl_registry_unconfined(r, p->info.id), **read;
	const known_plugin *further =
		env && env->wrapped ? pctl_registry_known(r, env->wrapped) : NULL;
	const known_plugin *who[2] = {p, further};
	uint32_t i, k;

	memset(out, 0, sizeof(*out));
	if (left_out && r->rules.only_confined)
		return pctl_refuse(
			call, PC3036_PLUGIN_UNCONFINED,
			"\"%s\" would run unconfined, since %s; the policy forbids that (%s)",
			p->info.id, left_out, r->rules.confinement_by);
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
	out->read = read;
	out->write = dir;
	return PCTL_OK;
}
