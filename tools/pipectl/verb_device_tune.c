/* `device tune`: which ways to cut work are fastest on a device. */
#include "app.h"

#include <inttypes.h>
#include <string.h>

#include "foundation/base/num.h"
#include "device_tune_problems.h"

static void print_one(pctl_app *app, uint32_t i, const pctl_device_tuned *t)
{
	pctl_json *j = &app->document;
	char cid[PCTL_CID_TEXT_SIZE];

	if (!app->json) {
		printf("  %-20s", pctl_tunable_name(i));
		for (uint32_t k = 0; k < t->n; k++) {
			const uint64_t us = t->ns[k] / 1000;

			printf(" %s", k == t->best ? "*" : "");
			if (t->values[k] == 0)
				printf("own");
			else
				printf("%" PRIu32, t->values[k]);
			if (t->same[k] != k)
				continue;
			printf(" %" PRIu64 ".%03" PRIu64 " ms", us / 1000, us % 1000);
		}
		printf("%s\n", t->is_device ? "" : " (host's clock)");
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "name", pctl_tunable_name(i));
	pctl_json_kv_string(j, "about", pctl_tunable_about(i));
	pctl_json_kv_u32(j, "value", t->values[t->best]);
	pctl_json_kv_bool(j, "device_clock", (int)t->is_device);
	pctl_json_key(j, "tried");
	pctl_json_array_begin(j);
	for (uint32_t k = 0; k < t->n; k++) {
		pctl_json_object_begin(j);
		pctl_json_kv_u32(j, "value", t->values[k]);
		pctl_json_kv_u64(j, "ns", t->ns[k]);
		pctl_json_kv_string(j, "plan", pctl_cid_format(&t->plan[k], cid));
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

static void print_all(pctl_app *app, const char *selector, const pctl_device_tuned *all,
		      const pctl_tuning_record *r)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("%s: profile %s, in %" PRIu64 ".%" PRIu64
		       " s, the same bytes throughout%s%s\n",
		       selector, pctl_tuning_name(r->profile), r->ms / 1000, r->ms / 100 % 10,
		       r->path[0] == '\0' ? "" : ", ", r->path);
	} else {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "selector", selector);
		pctl_json_kv_string(j, "profile", pctl_tuning_name(r->profile));
		pctl_json_kv_u64(j, "ms", r->ms);
		pctl_json_kv_string(j, "file", r->path[0] == '\0' ? NULL : r->path);
		pctl_json_key(j, "tunables");
		pctl_json_array_begin(j);
	}
	for (uint32_t i = 0; i < PCTL_N_TUNABLES; i++)
		if (all[i].n != 0)
			print_one(app, i, &all[i]);
	if (app->json) {
		pctl_json_array_end(j);
		pctl_json_object_end(j);
	}
}

static pctl_status tune(pctl_app *app, const char *selector)
{
	pctl_device_tuned all[PCTL_N_TUNABLES];
	static pctl_tuning_record made; /* it holds a path */
	pctl_device_tune_options o = {.selector = selector,
				      .keep = !pctl_option_has(&app->line, "--dry-run")};
	uint64_t rounds = 0;
	pctl_status status = PCTL_OK;
	const char *text = pctl_option_value(&app->line, "--rounds");

	if (text != NULL &&
	    (!pctl_num_parse_u64(text, strlen(text), &rounds) || rounds == 0 || rounds > 999))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--rounds wants a number from 1 to 999, not \"%s\"", text);
	o.rounds = (uint32_t)rounds;
	o.problems = pctl_device_problems(&o.n_problems);
	status = pctl_device_tune(&app->host, &o, app->call, all, &made);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		print_all(app, selector, all, &made);
	return status;
}

static pctl_status tune_all(pctl_app *app)
{
	pctl_devices *list;
	uint32_t n = 0;
	pctl_status first = PCTL_OK,
		    status = pctl_devices_list(app->host.registry, NULL, 0, app->call, &list);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);

		if (!pctl_device_is_meant(e) || e->kind == PCTL_DEVICE_REFERENCE ||
		    e->roles & PCTL_ROLE_SYNTHETIC)
			continue;
		n++;
		status = tune(app, e->selector);
		first = first == PCTL_OK ? status : first;
	}
	pctl_devices_destroy(list);
	return n == 0 ? pctl_refuse(app->call, PC5207_NO_DEVICE, "there is no device to tune")
		      : first;
}

pctl_status pctl_verb_device_tune(pctl_app *app)
{
	pctl_status first = PCTL_OK, status = pctl_installation_registry(&app->host, app->call);

	if (status == PCTL_OK)
		status = pctl_installation_profiles(&app->host, app->call);
	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "devices");
		pctl_json_array_begin(&app->document);
	}
	if (app->line.n_arguments == 0)
		first = tune_all(app);
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		status = tune(app, app->line.arguments[i]);
		first = first == PCTL_OK ? status : first;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}
