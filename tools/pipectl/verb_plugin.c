/* `plugin`: what is installed, what was refused and why; quarantine and release. */
#include <inttypes.h>
#include <string.h>

#include "app.h"
#include "foundation/base/str.h"

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

static void text_plugin(pctl_table *t, const pctl_plugin_info *p)
{
	pctl_table_cell(t, "%s", p->id);
	pctl_table_cell(t, "%s", kind_name(p->kind));
	pctl_table_cell(t, "%s", state_name(p->state));
	pctl_table_cell(t, "%s", p->about == NULL ? "" : p->about);
	if (p->state == PCTL_PLUGIN_REFUSED)
		pctl_table_note(t, "           ", "PC%04" PRIu32 " %s", p->code,
				p->why == NULL ? "" : p->why);
	else if (p->why != NULL)
		pctl_table_note(t, "           ", "%s (%s)", p->why, p->who == NULL ? "?" : p->who);
}

static const pctl_column plugin_columns[] = {
	{"plugin", "", 10}, {"kind", " ", 8}, {"state", " ", 12}, {"about", " ", 0}};

static void text_details(const pctl_plugin_info *p)
{
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
	pctl_app_list_begin(app, "plugins", plugin_columns, PCTL_COLUMNS(plugin_columns));
	for (uint32_t i = 0; i < pctl_registry_count(app->host.registry); i++) {
		if (app->json)
			json_plugin(&app->document, pctl_registry_at(app->host.registry, i));
		else
			text_plugin(app->table, pctl_registry_at(app->host.registry, i));
	}
	return pctl_app_list_end(app, PCTL_OK);
}

/* The hint where there is none of that name. */
static const char *nearest_plugin(const pctl_app *app)
{
	const char *names[64], *nearest;
	uint32_t n = 0;

	for (; n < 64 && n < pctl_registry_count(app->host.registry); n++)
		names[n] = pctl_registry_at(app->host.registry, n)->id;
	nearest = pctl_str_nearest(app->line.arguments[0], names, n);
	if (nearest != NULL)
		nearest = pctl_arena_printf(app->arena, "did you mean %s?", nearest);
	return nearest != NULL ? nearest : "`pipectl plugin list` lists them";
}

static pctl_status find_plugin(pctl_app *app, const pctl_plugin_info **out)
{
	pctl_status status = pctl_installation_registry(&app->host, app->call);

	*out = status == PCTL_OK ? pctl_registry_find(app->host.registry, app->line.arguments[0])
				 : NULL;
	if (status == PCTL_OK && *out == NULL)
		return pctl_refuse_at(app->call, PC3039_PLUGIN_NONE, NULL, nearest_plugin(app),
				      "no plugin \"%s\"", app->line.arguments[0]);
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
		pctl_table *t = pctl_table_begin(plugin_columns, PCTL_COLUMNS(plugin_columns), 0);

		text_plugin(t, p);
		status = pctl_table_end(t, app->call);
		text_details(p);
		pctl_app_print_refused(app, p);
	}
	return status;
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
