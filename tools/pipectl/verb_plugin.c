/* Verbs of the installation: plugins, devices, doctor. */
#include <inttypes.h>
#include <string.h>

#include "runtime/ipc/confine.h"
#include "app.h"

static const char *state_name(uint32_t state)
{
	static const char *const names[] = {"?", "usable", "refused", "disabled", "quarantined"};

	return state < 5 ? names[state] : "?";
}

static const char *kind_name(uint32_t kind)
{
	return kind == PCTL_PLUGIN_BACKEND ? "backend" : kind == PCTL_PLUGIN_OPLIB ? "oplib" : "?";
}

static void json_plugin(pctl_json *j, const pctl_plugin_info *p)
{
	char code[16];

	snprintf(code, sizeof(code), "PC%04" PRIu32, p->code);
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "id", p->id);
	pctl_json_kv_string(j, "kind", kind_name(p->kind));
	pctl_json_kv_string(j, "state", state_name(p->state));
	pctl_json_kv_string(j, "code", p->state == PCTL_PLUGIN_REFUSED ? code : NULL);
	pctl_json_kv_string(j, "why", p->why);
	pctl_json_kv_string(j, "who", p->who);
	pctl_json_kv_string(j, "version", p->version);
	pctl_json_kv_string(j, "about", p->about);
	pctl_json_kv_string(j, "manifest", p->manifest);
	pctl_json_kv_string(j, "library", p->library);
	pctl_json_kv_string(j, "sha256", p->sha256);
	pctl_json_kv_string(j, "isolation",
			    p->isolation == PCTL_ISOLATION_IN_PROCESS ? "in-process" : "worker");
	pctl_json_kv_u32(j, "abi_major", p->abi_major);
	pctl_json_kv_u32(j, "abi_minor", p->abi_minor);
	pctl_json_key(j, "interfaces");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < p->n_interfaces; i++)
		pctl_json_string(j, p->interfaces[i]);
	pctl_json_array_end(j);
	pctl_json_key(j, "ops");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < p->n_ops; i++) {
		char name[160];

		snprintf(name, sizeof(name), "%s@%" PRIu32, p->ops[i].name, p->ops[i].version);
		pctl_json_string(j, name);
	}
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

static void text_refused(void *ctx, const char *driver, const char *calls)
{
	const char *id = ctx;

	printf("refused    %s%s%s: the confinement refused %s (manifest key \"calls\")\n", id,
	       *driver ? "/" : "", driver, calls);
}

static void json_refused(void *ctx, const char *driver, const char *calls)
{
	pctl_json_kv_string(ctx, driver, calls);
}

static void text_plugin(const pctl_plugin_info *p, int long_form)
{
	printf("%-10s %-8s %-12s %s\n", p->id, kind_name(p->kind), state_name(p->state),
	       p->about == NULL ? "" : p->about);
	if (p->state == PCTL_PLUGIN_REFUSED)
		printf("           PC%04" PRIu32 " %s\n", p->code, p->why == NULL ? "" : p->why);
	else if (p->why != NULL)
		printf("           %s (%s)\n", p->why, p->who == NULL ? "?" : p->who);
	if (!long_form)
		return;
	printf("  version    %s\n  manifest   %s\n  library    %s\n  sha256     %s\n  isolation  "
	       "%s\n  abi        %" PRIu32 ".%" PRIu32 "\n",
	       p->version == NULL ? "?" : p->version, p->manifest,
	       p->library == NULL ? "?" : p->library, p->sha256 == NULL ? "?" : p->sha256,
	       p->isolation == PCTL_ISOLATION_IN_PROCESS ? "in-process" : "worker", p->abi_major,
	       p->abi_minor);
	for (uint32_t i = 0; i < p->n_interfaces; i++)
		printf("  interface  %s\n", p->interfaces[i]);
	for (uint32_t i = 0; i < p->n_ops; i++)
		printf("  op         %s@%" PRIu32 "\n", p->ops[i].name, p->ops[i].version);
}

pctl_status pctl_verb_plugin_list(pctl_app *app)
{
	pctl_status status = pctl_installation_registry(&app->host, app->call);

	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "plugins");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++) {
		if (app->json)
			json_plugin(&app->document, pctl_registry_at(app->host.registry, i));
		else
			text_plugin(pctl_registry_at(app->host.registry, i), 0);
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return PCTL_OK;
}

static pctl_status find_plugin(pctl_app *app, const pctl_plugin_info **out)
{
	pctl_status status = pctl_installation_registry(&app->host, app->call);

	*out = status == PCTL_OK ? pctl_registry_find(app->host.registry, app->line.arguments[0])
				 : NULL;
	if (status == PCTL_OK && *out == NULL)
		return pctl_refuse_at(app->call, PC10_USAGE, NULL,
				      "`pipectl plugin list` lists them", "no plugin \"%s\"",
				      app->line.arguments[0]);
	return status;
}

pctl_status pctl_verb_plugin_show(pctl_app *app)
{
	const pctl_plugin_info *p;
	pctl_status status = find_plugin(app, &p);

	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "plugin");
		json_plugin(&app->document, p);
	} else {
		text_plugin(p, 1);
		pctl_registry_refused_each(app->host.registry, p->id, text_refused,
					   (void *)(uintptr_t)p->id);
	}
	return PCTL_OK;
}

pctl_status pctl_verb_plugin_quarantine(pctl_app *app)
{
	const char *cause = pctl_option_value(&app->line, "--cause");
	const pctl_plugin_info *p;
	pctl_status status = find_plugin(app, &p);

	if (status == PCTL_OK && cause == NULL)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"--cause TEXT is needed: nothing is quarantined without a cause");
	if (status == PCTL_OK)
		status = pctl_quarantine_put(app->host.registry, p->id,
					     pctl_option_value(&app->line, "--driver"), cause,
					     "command line", app->call);
	return status;
}

pctl_status pctl_verb_plugin_release(pctl_app *app)
{
	const pctl_plugin_info *p;
	uint32_t released;
	pctl_status status = find_plugin(app, &p);

	if (status == PCTL_OK)
		status = pctl_quarantine_release(app->host.registry, p->id,
						 pctl_option_value(&app->line, "--driver"),
						 app->call, &released);
	if (status == PCTL_OK && app->json)
		pctl_json_kv_u32(&app->document, "released", released);
	else if (status == PCTL_OK)
		printf("%" PRIu32 " released\n", released);
	return status;
}

static const char *device_kind(uint32_t kind)
{
	static const char *const names[] = {"other", "reference", "cpu", "integrated", "discrete"};

	return kind < 5 ? names[kind] : "?";
}

static void print_device(pctl_app *app, const pctl_device_entry *e)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("%-12s %-10s %s (%s)", e->selector == NULL ? e->backend : e->selector,
		       device_kind(e->kind), e->name == NULL ? "?" : e->name,
		       e->driver == NULL ? "?" : e->driver);
		/* That of the reference is its kind. */
		for (uint32_t i = 0; i < PCTL_N_ROLES; i++)
			if (e->roles & 1u << i && e->kind != PCTL_DEVICE_REFERENCE)
				printf(" [%s]", pctl_role_name(i));
		printf("%s%s\n", e->state == PCTL_DEVICE_USABLE ? "" : ": ",
		       e->state == PCTL_DEVICE_USABLE ? "" : e->cause);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "selector", e->selector);
	pctl_json_kv_string(j, "backend", e->backend);
	pctl_json_kv_string(j, "kind", device_kind(e->kind));
	pctl_json_key(j, "roles");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < PCTL_N_ROLES; i++)
		if (e->roles & 1u << i)
			pctl_json_string(j, pctl_role_name(i));
	pctl_json_array_end(j);
	pctl_json_kv_string(j, "name", e->name);
	pctl_json_kv_string(j, "driver", e->driver);
	pctl_json_kv_bool(j, "usable", e->state == PCTL_DEVICE_USABLE);
	pctl_json_kv_string(j, "cause", e->cause);
	pctl_json_kv_bool(j, "i64", (e->caps.caps & PCTL_CAP_I64) != 0);
	pctl_json_kv_u64(j, "memory_bytes", e->caps.memory_bytes);
	pctl_json_kv_u64(j, "max_binding_bytes", e->caps.max_binding_bytes);
	pctl_json_kv_u32(j, "max_invocations", e->caps.max_invocations);
	pctl_json_kv_u32(j, "max_workgroup_bytes", e->caps.max_workgroup_bytes);
	pctl_json_object_end(j);
}

static pctl_status list_devices(pctl_app *app, uint32_t flags)
{
	pctl_devices *list;
	pctl_status status = pctl_devices_list(app->host.registry, NULL, flags, app->call, &list);

	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "devices");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < pctl_devices_count(list); i++)
		print_device(app, pctl_devices_at(list, i));
	if (app->json)
		pctl_json_array_end(&app->document);
	pctl_devices_destroy(list);
	return PCTL_OK;
}

pctl_status pctl_verb_device_list(pctl_app *app)
{
	pctl_status status = pctl_installation_registry(&app->host, app->call);

	return status != PCTL_OK ? status
				 : list_devices(app, pctl_option_has(&app->line, "--fresh")
							     ? PCTL_DEVICES_FRESH
							     : 0);
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
		pctl_registry_refused_each(app->host.registry, p->id, text_refused,
					   (void *)(uintptr_t)p->id);
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
	json_confinement(app);
	pctl_json_kv_string(j, "schedule", pctl_gas_schedule_name(app->host.schedule));
	pctl_json_kv_string(j, "store", pctl_store_path(app->host.store));
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
	one = pctl_verb_plugin_list(app);
	status = status == PCTL_OK ? one : status;
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++)
		usable += pctl_registry_at(app->host.registry, i)->state == PCTL_PLUGIN_USABLE;
	one = list_devices(app, 0);
	status = status == PCTL_OK ? one : status;
	if (status == PCTL_OK && usable == 0)
		status = pctl_refuse(app->call, PC5207_NO_DEVICE, "no plugin is usable");
	return status;
}
