/* `device probe`: what is proved of each device's arithmetic, and which form every strict operation takes from that. */
#include "app.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/exec/session.h"
#include "runtime/plugin/devices.h"

static const uint8_t float_scalars[] = {PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16};

static const char *form_name(uint32_t kind)
{
	static const char *const names[] = {"none", "native", "guarded", "f64", "int"};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

/* All natives with one verdict on a line of their own, the first witness of each difference below. */
static void print_verdicts(const pctl_profile_record *r)
{
	for (int verdict = PCTL_NATIVE_EXACT; verdict >= PCTL_NATIVE_ABSENT; verdict--) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < PCTL_N_NATIVE; i++) {
			if (r->profile.native[i] != verdict)
				continue;
			if (n++ == 0)
				printf("  %s:", pctl_verdict_name((uint8_t)verdict));
			printf(" %s", pctl_native_name(i));
		}
		if (n != 0)
			printf("\n");
	}
	printf("  facts:");
	for (uint32_t i = 0; i < PCTL_N_FACTS; i++)
		printf(" %s %s", pctl_fact_name(i), pctl_verdict_name(r->facts[i]));
	printf("\n");
}

static void print_witnesses(const pctl_profile_record *r)
{
	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
		if (r->native_witness[i].text[0] != '\0')
			printf("  %s %s\n", pctl_native_name(i), r->native_witness[i].text);
	for (uint32_t i = 0; i < PCTL_N_FACTS; i++)
		if (r->fact_witness[i].text[0] != '\0')
			printf("  %s %s\n", pctl_fact_name(i), r->fact_witness[i].text);
}

static void print_forms(pctl_app *app, const pctl_profile_record *r, const pctl_device_caps *caps)
{
	pctl_json *j = &app->document;

	for (uint16_t op = PCTL_STRICT_FIRST; op < PCTL_NATIVE_FIRST; op++) {
		const pctl_op_info *info = pctl_op_get(op);

		if (info->name == NULL || info->kind != PCTL_OPKIND_elem)
			continue;
		if (!app->json)
			printf("  %-8s", info->name + 1);
		for (size_t i = 0; i < sizeof(float_scalars); i++) {
			uint32_t kind = PCTL_FORM_NONE;

			pctl_legal_form(&r->profile, caps, op, float_scalars[i], &kind);
			if (!app->json) {
				printf(" %s %-8s", pctl_scalar_name(float_scalars[i]),
				       form_name(kind));
				continue;
			}
			pctl_json_object_begin(j);
			pctl_json_kv_string(j, "op", info->name + 1);
			pctl_json_kv_string(j, "type", pctl_scalar_name(float_scalars[i]));
			pctl_json_kv_string(j, "form", form_name(kind));
			pctl_json_object_end(j);
		}
		if (!app->json)
			printf("\n");
	}
}

static void print_limits(const pctl_limits_record *l)
{
	uint32_t n = 0;

	printf("  limits (%s in %" PRIu64 ".%" PRIu64 " s):",
	       l->searched ? "searched" : "known, rechecked", l->ms / 1000, l->ms / 100 % 10);
	for (uint32_t e = 0; e < PCTL_N_EXTENTS; e++) {
		if (l->limits.most[e] == 0)
			continue;
		n++;
		printf(" %s %" PRIu64 "%s", pctl_extent_key(e), l->limits.most[e],
		       l->slow >> e & 1 ? " (too slow for more)" : "");
	}
	printf(n == 0 ? " none found\n" : "\n");
}

static void json_limits(pctl_json *j, const pctl_limits_record *l)
{
	pctl_json_key(j, "limits");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "kit", PCTL_LIMITS_KIT);
	pctl_json_kv_string(j, "file", l->path);
	pctl_json_kv_bool(j, "searched", (int)l->searched);
	pctl_json_kv_u64(j, "ms", l->ms);
	pctl_json_key(j, "most");
	pctl_json_object_begin(j);
	for (uint32_t e = 0; e < PCTL_N_EXTENTS; e++)
		if (l->limits.most[e] != 0)
			pctl_json_kv_u64(j, pctl_extent_key(e), l->limits.most[e]);
	pctl_json_object_end(j);
	pctl_json_key(j, "too_slow_for_more");
	pctl_json_array_begin(j);
	for (uint32_t e = 0; e < PCTL_N_EXTENTS; e++)
		if (l->slow >> e & 1)
			pctl_json_string(j, pctl_extent_key(e));
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

/* Those that were asked for; a device without any has no line. */
static void print_optional(const pctl_optional_record *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < PCTL_N_OPTIONAL; i++)
		if (r->verdict[i] != PCTL_OPTIONAL_UNASKED)
			printf("%s %s %s", n++ == 0 ? "  of its own:" : "", pctl_optional_name(i),
			       pctl_optional_verdict_name(r->verdict[i]));
	if (n != 0)
		printf("\n");
}

static void json_optional(pctl_json *j, const pctl_optional_record *r)
{
	pctl_json_key(j, "optional");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < PCTL_N_OPTIONAL; i++)
		if (r->verdict[i] != PCTL_OPTIONAL_UNASKED)
			pctl_json_kv_string(j, pctl_optional_name(i),
					    pctl_optional_verdict_name(r->verdict[i]));
	pctl_json_object_end(j);
}

/* What plans for the device go by: of its record, or of the profile that its limits name. */
static void print_tunables(pctl_app *app, const pctl_session *s)
{
	uint32_t tunable[PCTL_TUNABLES_MAX] = {0};
	const char *profile = pctl_tuning_name(pctl_tuning_profile(pctl_session_caps(s)));
	pctl_json *j = &app->document;
	uint32_t n = 0;

	pctl_session_tunables(s, tunable);
	if (app->json) {
		pctl_json_kv_string(j, "profile", profile);
		pctl_json_key(j, "tunables");
		pctl_json_object_begin(j);
		for (uint32_t i = 0; i < PCTL_N_TUNABLES; i++)
			pctl_json_kv_u32(j, pctl_tunable_name(i), tunable[i]);
		pctl_json_object_end(j);
		return;
	}
	printf("  profile %s:", profile);
	for (uint32_t i = 0; i < PCTL_N_TUNABLES; i++)
		if (tunable[i] != 0 && ++n != 0)
			printf(" %s %" PRIu32, pctl_tunable_name(i), tunable[i]);
	printf(n == 0 ? " the ops choose\n" : "\n");
}

static void json_profile(pctl_app *app, const char *selector, const pctl_profile_record *r,
			 const pctl_limits_record *l, const pctl_optional_record *own,
			 const pctl_session *s)
{
	const pctl_device_caps *caps = pctl_session_caps(s);
	pctl_json *j = &app->document;
	char key[PCTL_CID_TEXT_SIZE];

	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "selector", selector);
	pctl_json_kv_string(j, "device", r->device);
	pctl_json_kv_string(j, "driver", r->driver);
	pctl_json_kv_string(j, "key", pctl_cid_format(&r->key, key));
	pctl_json_kv_string(j, "kit", PCTL_PROBE_KIT);
	pctl_json_kv_u64(j, "cases", r->cases);
	pctl_json_kv_string(j, "file", r->path);
	pctl_json_key(j, "native");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
		pctl_json_kv_string(j, pctl_native_name(i),
				    pctl_verdict_name(r->profile.native[i]));
	pctl_json_object_end(j);
	pctl_json_key(j, "facts");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < PCTL_N_FACTS; i++)
		pctl_json_kv_string(j, pctl_fact_name(i), pctl_verdict_name(r->facts[i]));
	pctl_json_object_end(j);
	if (l != NULL)
		json_limits(j, l);
	else
		pctl_json_kv_string(j, "limits", NULL);
	if (own != NULL)
		json_optional(j, own);
	else
		pctl_json_kv_string(j, "optional", NULL);
	print_tunables(app, s);
	pctl_json_key(j, "forms");
	pctl_json_array_begin(j);
	print_forms(app, r, caps);
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

static pctl_status export_copies(pctl_app *app, const char *dir, const pctl_profile_record *r,
				 pctl_limits_record *l)
{
	pctl_profile_record *copy = malloc(sizeof(*copy));
	pctl_status status;

	if (copy == NULL)
		return pctl_no_memory(app->call, "a profile");
	*copy = *r;
	status = pctl_profiles_export(app->host.profiles, copy, dir, app->call);
	if (status == PCTL_OK && l != NULL)
		status = pctl_profiles_export_limits(app->host.profiles, l, r->device, dir,
						     app->call);
	free(copy);
	return status;
}

static pctl_status show(pctl_app *app, const char *selector, pctl_session *s)
{
	const char *dir = pctl_option_value(&app->line, "--out");
	const pctl_optional_record *own = NULL;
	const pctl_profile_record *r;
	const int floats = pctl_option_has(&app->line, "--floats");
	pctl_limits_record *l = floats ? NULL : malloc(sizeof(*l));
	pctl_status status = l == NULL && !floats ? pctl_no_memory(app->call, "limits")
						  : pctl_session_profile(s, app->call, &r);

	if (status == PCTL_OK && l != NULL)
		status = pctl_session_limits(s, app->call, l);
	if (status == PCTL_OK && l != NULL)
		status = pctl_session_own_operations(s, app->call, &own);
	if (status == PCTL_OK)
		status = pctl_session_learn_tuning(s, app->call);
	if (status != PCTL_OK)
		goto out;
	if (app->json) {
		json_profile(app, selector, r, l, own, s);
	} else {
		printf("%s: %s, %" PRIu64 " cases, %s\n", pctl_session_name(s), r->driver, r->cases,
		       r->path);
		print_verdicts(r);
		if (l != NULL)
			print_limits(l);
		if (own != NULL)
			print_optional(own);
		print_tunables(app, s);
		if (app->verbose)
			print_witnesses(r);
		if (pctl_option_has(&app->line, "--forms"))
			print_forms(app, r, pctl_session_caps(s));
	}
	if (dir != NULL)
		status = export_copies(app, dir, r, l);
out:
	free(l);
	return status;
}

static pctl_status probe_entry(pctl_app *app, const pctl_device_entry *e)
{
	int in_process;
	pctl_session_options options = {
		.index = e->in_driver,
		.device_kind = e->kind,
		.id = e->selector,
		.profiles = app->host.profiles,
		.profile_flags = pctl_option_has(&app->line, "--fresh") ? PCTL_PROFILES_FRESH : 0};
	pctl_backend_instance *backend = NULL;
	pctl_session *session = NULL;
	pctl_status status = pctl_installation_in_process(&app->host, app->call, &in_process);

	if (status == PCTL_OK)
		status = pctl_backend_instance_open(app->host.registry, e->backend, e->env,
						    in_process ? PCTL_INSTANCE_IN_PROCESS : 0,
						    app->call, &backend);
	if (status != PCTL_OK)
		return status;
	options.name = pctl_arena_printf(app->arena, "%s (%s)", e->selector, e->name);
	options.backend = backend;
	status = options.name == NULL ? pctl_no_memory(app->call, "a probe")
				      : pctl_session_open(&options, app->call, &session);
	if (status == PCTL_OK)
		status = show(app, e->selector, session);
	pctl_session_close(session);
	pctl_backend_instance_close(backend, NULL);
	return status;
}

/* Nothing of floats can be asked of these: the reference is what others are compared with, inert ones compute nothing. */
static int is_probed(const pctl_device_entry *e)
{
	return e->state == PCTL_DEVICE_USABLE && e->kind != PCTL_DEVICE_REFERENCE &&
	       !(e->roles & PCTL_ROLE_INERT);
}

static pctl_status probe_one(pctl_app *app, const char *selector)
{
	const pctl_device_entry *entry;
	pctl_devices *list = NULL;
	pctl_status status =
		pctl_devices_find(app->host.registry, selector, 0, app->call, &list, &entry);

	if (status == PCTL_OK && !is_probed(entry))
		status = pctl_refuse(
			app->call, PC5207_NO_DEVICE, "%s is not probed: %s", selector,
			entry->state != PCTL_DEVICE_USABLE
				? entry->cause
				: "devices of this kind are not compared with the reference");
	if (status == PCTL_OK)
		status = probe_entry(app, entry);
	pctl_devices_destroy(list);
	return status;
}

static pctl_status probe_all(pctl_app *app)
{
	pctl_devices *list;
	uint32_t n = 0;
	pctl_status first = PCTL_OK,
		    status = pctl_devices_list(app->host.registry, NULL, 0, app->call, &list);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < pctl_devices_count(list); i++) {
		if (!is_probed(pctl_devices_at(list, i)))
			continue;
		n++;
		status = probe_entry(app, pctl_devices_at(list, i));
		if (first == PCTL_OK)
			first = status;
	}
	pctl_devices_destroy(list);
	return n == 0 ? pctl_refuse(app->call, PC5207_NO_DEVICE, "there is no device to probe")
		      : first;
}

pctl_status pctl_verb_device_probe(pctl_app *app)
{
	const char *selector = pctl_option_at(&app->line, "--device", 0);
	pctl_status first = PCTL_OK, status = pctl_installation_registry(&app->host, app->call);

	if (status == PCTL_OK)
		status = pctl_installation_profiles(&app->host, app->call);
	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "profiles");
		pctl_json_array_begin(&app->document);
	}
	if (selector == NULL)
		first = probe_all(app);
	for (uint32_t i = 0; (selector = pctl_option_at(&app->line, "--device", i)) != NULL; i++) {
		status = strcmp(selector, "all") == 0 ? probe_all(app) : probe_one(app, selector);
		if (first == PCTL_OK)
			first = status;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}
