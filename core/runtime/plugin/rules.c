/* What a policy says of plugins, asked at the two places through which every plugin passes: when its file is judged, before
 * any of its code has run, and when a backend is to be opened inside the host. */
#include <string.h>

#include "runtime/plugin/registry_private.h"

/* 1 when a list of ids has this one, or says nothing. */
static int is_allowed(const pctl_plugin_rules *rules, const char *id)
{
	for (uint32_t i = 0; i < rules->n_allowed; i++)
		if (strcmp(rules->allowed[i], id) == 0)
			return 1;
	return rules->n_allowed == 0;
}

int pctl_rules_allow_id(pctl_registry *r, known_plugin *p)
{
	const char *why;

	if (is_allowed(&r->rules, p->info.id))
		return 1;
	why = pctl_arena_printf(r->arena, "is not among the allowed (%s)", r->rules.allowed_by);
	pctl_plugin_refuse(r, p, PC4313_POLICY_PLUGIN, r->rules.allowed_by, why);
	return 0;
}

void pctl_rules_check_sha256(pctl_registry *r, known_plugin *p)
{
	for (uint32_t i = 0; i < r->rules.n_pins; i++) {
		const char *pinned = r->rules.pins[2 * i + 1], *why;

		if (strcmp(r->rules.pins[2 * i], p->info.id) != 0 ||
		    strcmp(pinned, p->info.sha256) == 0)
			continue;
		why = pctl_arena_printf(r->arena, "%s has SHA-256 %s, pinned is %s (%s)",
					p->info.library, p->info.sha256, pinned, r->rules.pins_by);
		pctl_plugin_refuse(r, p, PC4313_POLICY_PLUGIN, r->rules.pins_by, why);
	}
}

int pctl_rules_vouch(const pctl_registry *r, const known_plugin *p)
{
	for (uint32_t i = 0; i < r->rules.n_pins; i++)
		if (strcmp(r->rules.pins[2 * i], p->info.id) == 0 &&
		    strcmp(r->rules.pins[2 * i + 1], p->info.sha256) == 0)
			return 1;
	for (const char *const *file = pctl_shipped_files; *file != NULL; file += 2)
		if (strcmp(file[0], p->info.id) == 0 && strcmp(file[1], p->info.sha256) == 0)
			return 1;
	return 0;
}

pctl_status pctl_registry_in_process(const pctl_registry *r, const pctl_call *call)
{
	if (!r->rules.only_workers)
		return PCTL_OK;
	return pctl_refuse_at(call, PC4317_POLICY_ISOLATION, NULL,
			      "leave out --in-process and workers.in_process",
			      "backends run in processes of their own: isolation is worker (%s)",
			      r->rules.isolation_by);
}

pctl_status pctl_rules_allow_here(const pctl_registry *r, const pctl_plugin_info *p,
				  const pctl_call *call)
{
	if (!r->rules.checks || p->vouched)
		return PCTL_OK;
	return pctl_refuse_at(
		call, PC4317_POLICY_ISOLATION, NULL,
		"leave out --in-process and workers.in_process, or pin its SHA-256 in the "
		"policy (plugins.sha256)",
		"backend \"%s\" would run inside pipectl, in the process that checks its results "
		"(%s), and its file did not come with this pipectl",
		p->id, r->rules.checks_by);
}
