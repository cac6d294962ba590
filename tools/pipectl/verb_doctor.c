/* `doctor`: what the installation reads, what holds its workers and what the kernel lacks for it, plugins and devices. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "runtime/ipc/confine.h"

static void text_refused(void *ctx, const char *driver, const char *calls)
{
	const char *id = ctx;

	printf("refused    %s%s%s: the confinement refused %s (manifest key \"calls\")\n", id,
	       *driver ? "/" : "", driver, calls);
}

void pctl_app_print_refused(pctl_app *app, const pctl_plugin_info *p)
{
	pctl_registry_refused_each(app->host.registry, p->id, text_refused,
				   (void *)(uintptr_t)p->id);
}

static void json_refused(void *ctx, const char *driver, const char *calls)
{
	pctl_json_kv_string(ctx, driver, calls);
}

static void doctor_paths(pctl_app *app)
{
	const char *file;
	int used, present;

	for (uint32_t i = 0;
	     (file = pctl_host_config_searched_at(app->host.config, i, &used)) != NULL; i++)
		printf("config     %s%s\n", file, used ? " (read)" : "");
	for (uint32_t i = 0; i < pctl_registry_dir_count(app->host.registry); i++) {
		file = pctl_registry_dir_at(app->host.registry, i, &present);
		printf("plugins    %s%s\n", file, present ? "" : " (absent)");
	}
	file = pctl_registry_worker(app->host.registry);
	printf("worker     %s\n", file == NULL ? "not found" : file);
	for (uint32_t i = 0; i < pctl_host_config_setting_count(app->host.config); i++) {
		const pctl_conf_setting *s = pctl_host_config_setting_at(app->host.config, i);

		printf("setting    %s = %s (%s)\n", s->key, s->value, s->origin);
	}
	for (uint32_t i = 0; i < pctl_policy_setting_count(app->host.policy); i++) {
		const pctl_conf_setting *s = pctl_policy_setting_at(app->host.policy, i);

		printf("policy     %s = %s (%s)\n", s->key, s->value, s->origin);
	}
	printf("schedule   %s\n", pctl_gas_schedule_name(app->host.schedule));
	printf("store      %s\n", pctl_store_path(app->host.store));
}

/* What holds a plugin's worker, and what the kernel offers to do it with. */
static void doctor_confinement(pctl_app *app)
{
	pctl_confine_facts facts;
	char text[128];

	pctl_confine_ask_all(&facts);
	if (facts.landlock_abi == 0)
		printf("kernel     no landlock, %s\n", facts.seccomp ? "seccomp" : "no seccomp");
	else
		printf("kernel     landlock %u, %s\n", facts.landlock_abi,
		       !facts.seccomp	   ? "no seccomp"
		       : !facts.supervised ? "seccomp without a supervisor"
					   : "seccomp with a supervisor");
	if (pctl_confine_missing(facts.namespaces, text, sizeof(text)))
		printf("namespaces not in full: this user gets none of: %s\n", text);
	else
		printf("namespaces user, PID, mount, network, IPC: a worker sees no process but "
		       "its own\n");
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++) {
		const pctl_plugin_info *p = pctl_registry_at(app->host.registry, i);
		const char *why = pctl_registry_unconfined(app->host.registry, p->id);

		if (p->kind == PCTL_PLUGIN_BACKEND)
			printf("confined   %-11s %s%s\n", p->id, why ? "not in full: " : "yes",
			       why ? why : "");
		pctl_app_print_refused(app, p);
	}
}

static void json_confinement(pctl_app *app)
{
	pctl_json *j = &app->document;
	pctl_confine_facts facts;
	char text[128];

	pctl_confine_ask_all(&facts);
	pctl_json_key(j, "confinement");
	pctl_json_object_begin(j);
	pctl_json_kv_u32(j, "landlock", facts.landlock_abi);
	pctl_json_kv_u32(j, "seccomp", facts.seccomp);
	pctl_json_kv_u32(j, "supervised", facts.supervised);
	pctl_json_kv_string(j, "namespaces_missing",
			    pctl_confine_missing(facts.namespaces, text, sizeof(text)));
	pctl_json_key(j, "unconfined");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++) {
		const pctl_plugin_info *p = pctl_registry_at(app->host.registry, i);
		const char *why = pctl_registry_unconfined(app->host.registry, p->id);

		if (p->kind == PCTL_PLUGIN_BACKEND && why)
			pctl_json_kv_string(j, p->id, why);
	}
	pctl_json_object_end(j);
	pctl_json_key(j, "refused");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++) {
		const pctl_plugin_info *p = pctl_registry_at(app->host.registry, i);

		pctl_json_key(j, p->id);
		pctl_json_object_begin(j);
		pctl_registry_refused_each(app->host.registry, p->id, json_refused, j);
		pctl_json_object_end(j);
	}
	pctl_json_object_end(j);
	pctl_json_object_end(j);
}

static void json_settings(pctl_app *app)
{
	pctl_json *j = &app->document;
	const char *file;
	int used;

	pctl_json_key(j, "searched");
	pctl_json_array_begin(j);
	for (uint32_t i = 0;
	     (file = pctl_host_config_searched_at(app->host.config, i, &used)) != NULL; i++)
		pctl_json_string(j, file);
	for (uint32_t i = 0; i < pctl_registry_dir_count(app->host.registry); i++)
		pctl_json_string(j, pctl_registry_dir_at(app->host.registry, i, &used));
	pctl_json_array_end(j);
	pctl_json_kv_string(j, "worker", pctl_registry_worker(app->host.registry));
	pctl_json_key(j, "settings");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < pctl_host_config_setting_count(app->host.config); i++) {
		const pctl_conf_setting *s = pctl_host_config_setting_at(app->host.config, i);

		pctl_json_kv_string(j, s->key, s->value);
	}
	pctl_json_object_end(j);
	pctl_json_key(j, "policy");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < pctl_policy_setting_count(app->host.policy); i++) {
		const pctl_conf_setting *s = pctl_policy_setting_at(app->host.policy, i);

		pctl_json_kv_string(j, s->key, s->value);
	}
	pctl_json_object_end(j);
	json_confinement(app);
	pctl_json_kv_string(j, "schedule", pctl_gas_schedule_name(app->host.schedule));
	pctl_json_kv_string(j, "store", pctl_store_path(app->host.store));
}

/* Whether this node keeps up with a full block, as far as its pace is known. */
static pctl_status doctor_pace(pctl_app *app)
{
	const uint64_t pace = app->host.config->gas_per_ms;
	uint64_t budget, takes, has;
	pctl_params p;
	pctl_status status;

	if (pace == 0 && !app->json)
		printf("chain      how fast this node is was not measured (chain.gas_per_ms)\n");
	if (pace == 0)
		return PCTL_OK;
	status = pctl_home_rules(&app->host, NULL, app->call, &p, NULL);
	if (status == PCTL_OK)
		status = pctl_params_block_budget(&p, app->call, &budget);
	if (status != PCTL_OK)
		return status;
	takes = pctl_chain_pace_ms(budget, pace);
	has = pctl_chain_jobs_ms(&p);
	if (app->json) {
		pctl_json_key(&app->document, "pace");
		pctl_json_object_begin(&app->document);
		pctl_json_kv_u64(&app->document, "gas_per_ms", pace);
		pctl_json_kv_u64(&app->document, "full_block_ms", takes);
		pctl_json_kv_u64(&app->document, "jobs_ms", has);
		pctl_json_kv_bool(&app->document, "keeps_up", takes <= has);
		pctl_json_object_end(&app->document);
		return PCTL_OK;
	}
	printf("chain      %s with a full block: its jobs take %" PRIu64
	       " ms here, they have %" PRIu64 " ms\n",
	       takes <= has ? "keeps up" : "does not keep up", takes, has);
	return PCTL_OK;
}

pctl_status pctl_verb_doctor(pctl_app *app)
{
	uint32_t usable = 0;
	pctl_status status = pctl_installation_registry(&app->host, app->call), one;

	if (status != PCTL_OK)
		return status;
	status = pctl_installation_policy(&app->host, app->call);
	one = pctl_installation_schedule(&app->host, app->call);
	status = status == PCTL_OK ? one : status;
	one = pctl_installation_store(&app->host, app->call);
	status = status == PCTL_OK ? one : status;
	if (status != PCTL_OK)
		return status;
	if (app->json)
		json_settings(app);
	else
		doctor_paths(app);
	if (!app->json)
		doctor_confinement(app);
	one = doctor_pace(app);
	status = status == PCTL_OK ? one : status;
	one = pctl_verb_plugin_list(app);
	status = status == PCTL_OK ? one : status;
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++)
		usable += pctl_registry_at(app->host.registry, i)->state == PCTL_PLUGIN_USABLE;
	one = pctl_app_list_devices(app, 0);
	status = status == PCTL_OK ? one : status;
	if (status == PCTL_OK && usable == 0)
		status = pctl_refuse(app->call, PC5207_NO_DEVICE, "no plugin is usable");
	return status;
}
