/* `device list`: the devices of the usable backends, and why others are not usable. */
#include "app.h"

#include <string.h>

#include "runtime/device/tuning_record.h"

static const char *device_kind(uint32_t kind)
{
	static const char *const names[] = {"other", "reference", "cpu", "integrated", "discrete"};

	return kind < 5 ? names[kind] : "?";
}

static void print_device(pctl_app *app, const pctl_device_entry *e)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		char roles[128] = "";

		/* That of the reference is its kind. */
		for (uint32_t i = 0; i < PCTL_N_ROLES; i++)
			if (e->roles & 1u << i && e->kind != PCTL_DEVICE_REFERENCE)
				snprintf(roles + strlen(roles), sizeof(roles) - strlen(roles),
					 " [%s]", pctl_role_name(i));
		pctl_table_cell(app->table, "%s", e->selector == NULL ? e->backend : e->selector);
		pctl_table_cell(app->table, "%s", device_kind(e->kind));
		pctl_table_cell(app->table, "%s (%s)%s", e->name == NULL ? "?" : e->name,
				e->driver == NULL ? "?" : e->driver, roles);
		if (e->state == PCTL_DEVICE_USABLE)
			pctl_table_none(app->table);
		else
			pctl_table_cell(app->table, "%s", e->cause);
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
	pctl_json_kv_string(j, "profile", pctl_tuning_name(pctl_tuning_profile(&e->caps)));
	pctl_json_object_end(j);
}

pctl_status pctl_app_list_devices(pctl_app *app, uint32_t flags)
{
	static const pctl_column columns[] = {{"device", "", 12},
					      {"kind", " ", 10},
					      {"name (driver)", " ", 0},
					      {"why not", ": ", 0}};
	pctl_devices *list;
	pctl_status status = pctl_devices_list(app->host.registry, NULL, flags, app->call, &list);

	if (status != PCTL_OK)
		return status;
	pctl_app_list_begin(app, "devices", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = 0; i < pctl_devices_count(list); i++)
		print_device(app, pctl_devices_at(list, i));
	pctl_devices_destroy(list);
	return pctl_app_list_end(app, PCTL_OK);
}

pctl_status pctl_verb_device_list(pctl_app *app)
{
	pctl_status status = pctl_installation_registry(&app->host, app->call);

	return status != PCTL_OK ? status
				 : pctl_app_list_devices(app, pctl_option_has(&app->line, "--fresh")
								      ? PCTL_DEVICES_FRESH
								      : 0);
}
