/* The parts of the host, opened on demand. */
#include "app.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "certify.h"

#define LARGEST_SCHEDULE (4u << 20)
#define REDRAW_NS 100000000u /* at most ten redraws a second */

pctl_status pctl_app_config(pctl_app *app)
{
	pctl_host_options options = {pctl_option_value(&app->line, "--home"),
				     pctl_option_value(&app->line, "--config")};
	pctl_status status;

	if (app->config != NULL)
		return PCTL_OK;
	status = pctl_host_config_load(&options, app->call, &app->config);
	if (status != PCTL_OK)
		return status;
	/* What the command line says comes first. */
	if (pctl_option_value(&app->line, "--color") == NULL &&
	    app->config->colour != PCTL_WHEN_AUTO)
		app->colour = app->config->colour == PCTL_WHEN_ALWAYS;
	if (!app->quiet && !pctl_option_has(&app->line, "--no-progress") &&
	    app->config->progress != PCTL_WHEN_AUTO)
		app->progress = app->config->progress == PCTL_WHEN_ALWAYS;
	return PCTL_OK;
}

pctl_status pctl_app_registry(pctl_app *app)
{
	pctl_registry_options o = {.flags = 0};
	pctl_status status = pctl_app_policy(app);
	const pctl_host_config *c = app->config;
	pctl_plugin_rules rules;
	const char **dirs;

	if (status != PCTL_OK || app->registry != NULL)
		return status;
	pctl_policy_plugin_rules(app->policy, &rules);
	o.rules = &rules;
	o.cache_bytes = c->cache_bytes;
	o.bound_cache = 1;
	dirs = calloc(c->n_plugin_dirs + app->line.n_given + 1u, sizeof(*dirs));
	if (dirs == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory for the registry");
	for (uint32_t i = 0; i < c->n_plugin_dirs; i++)
		dirs[o.n_dirs++] = c->plugin_dirs[i];
	for (const char *dir; (dir = pctl_option_at(&app->line, "--plugin-dir",
						    o.n_dirs - c->n_plugin_dirs)) != NULL;)
		dirs[o.n_dirs++] = dir;
	o.dirs = dirs;
	o.home = c->home;
	o.cache = c->cache_dir;
	o.worker = c->worker;
	o.disabled = c->plugins_disabled;
	o.n_disabled = c->n_plugins_disabled;
	o.disabled_by = c->config;
	o.unconfined = c->unconfined;
	o.n_unconfined = c->n_unconfined;
	o.readable = c->readable;
	o.n_readable = c->n_readable;
	o.probe_ms = c->probe_ms;
	o.start_ms = c->start_ms;
	o.call_ms = c->call_ms;
	o.grace_ms = c->grace_ms;
	o.build_cpu_ms = c->build_cpu_ms;
	o.build_memory = c->build_memory;
	o.strikes = c->strikes;
	status = pctl_registry_open(&o, app->call, &app->registry);
	free(dirs);
	return status;
}

pctl_status pctl_app_in_process(pctl_app *app, int *out)
{
	*out = pctl_option_has(&app->line, "--in-process") || app->config->in_process;
	return *out ? pctl_registry_in_process(app->registry, app->call) : PCTL_OK;
}

pctl_status pctl_app_ops(pctl_app *app)
{
	pctl_status status = pctl_app_registry(app);

	if (status == PCTL_OK)
		status = pctl_app_policy(app);
	if (status != PCTL_OK || app->kernels != NULL)
		return status;
	app->library = pctl_op_library_create(app->registry, app->call);
	if (app->library != NULL)
		app->kernels = pctl_kernels_create(pctl_op_library_source(app->library));
	if (app->kernels == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory for ops");
	pctl_kernels_obey(app->kernels, app->policy);
	return PCTL_OK;
}

pctl_status pctl_app_store(pctl_app *app)
{
	pctl_status status = pctl_app_config(app);

	if (status != PCTL_OK || app->store != NULL)
		return status;
	return pctl_store_open(app->config->cas_dir, 0, app->call, &app->store);
}

pctl_status pctl_app_memo(pctl_app *app)
{
	pctl_status status = pctl_app_store(app);

	/* Where nothing is remembered it still notes how what is stored stands. */
	if (status != PCTL_OK || app->memo != NULL)
		return status;
	return pctl_memo_open(app->config->memo_dir, app->store, app->call, &app->memo);
}

/* The host's limits hold on top of the policy's. */
static void limit_policy(pctl_app *app)
{
	const pctl_host_config *c = app->config;

	pctl_policy_limit(app->policy, c->memory_bytes, pctl_host_config_origin(c, "limits.memory"),
			  c->time_ms);
}

pctl_status pctl_app_policy(pctl_app *app)
{
	const char *given = pctl_option_value(&app->line, "--policy");
	pctl_status status = pctl_app_config(app);
	char *path;

	if (status != PCTL_OK || app->policy != NULL)
		return status;
	if (given == NULL && app->config->policy == NULL) {
		status = pctl_policy_default(app->call, &app->policy);
		if (status == PCTL_OK)
			limit_policy(app);
		return status;
	}
	path = given == NULL ? strdup(app->config->policy)
			     : pctl_host_config_find(app->config, given);
	if (path == NULL)
		return pctl_refuse(app->call, PC3_IO, "no policy file %s",
				   given == NULL ? "" : given);
	status = pctl_policy_read(path, pctl_host_config_find_policy, app->config, app->call,
				  &app->policy);
	free(path);
	if (status == PCTL_OK)
		limit_policy(app);
	return status;
}

/* A price list is known by its bytes: two files may have one name. */
static pctl_status identify_schedule(pctl_app *app, const char *path)
{
	char *text = NULL, cid_text[PCTL_CID_TEXT_SIZE];
	uint64_t n;
	pctl_cid cid;
	pctl_status status = pctl_file_read(path, LARGEST_SCHEDULE, app->call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_cid_of(text, n, app->call, &cid);
	if (status == PCTL_OK)
		app->schedule_id = pctl_arena_dup(app->arena, pctl_cid_format(&cid, cid_text));
	free(text);
	return status;
}

pctl_status pctl_app_schedule(pctl_app *app)
{
	const char *given = pctl_option_value(&app->line, "--gas"), *configured = NULL;
	pctl_status status = pctl_app_config(app);
	char *path;

	if (status != PCTL_OK || app->schedule != NULL)
		return status;
	if (given == NULL)
		status = pctl_host_config_require_gas(app->config, app->call, &configured);
	if (status != PCTL_OK)
		return status;
	if (given == NULL && configured == NULL)
		return pctl_refuse(app->call, PC3_IO,
				   "no gas schedule is configured; give --gas FILE");
	path = given == NULL ? strdup(app->config->gas) : pctl_host_config_find(app->config, given);
	if (path == NULL)
		return pctl_refuse(app->call, PC3_IO, "no gas schedule %s",
				   given == NULL ? "" : given);
	status = pctl_gas_schedule_read(path, app->call, &app->schedule);
	if (status == PCTL_OK)
		status = identify_schedule(app, path);
	free(path);
	return status;
}

static void say_probing(void *ctx, const char *device)
{
	pctl_app *app = ctx;

	pctl_app_progress_clear(app);
	if (!app->quiet)
		fprintf(stderr, "probing %s\n", device);
}

/* Where profiles that came with the installation lie: beside the conf directory. */
pctl_status pctl_app_profiles(pctl_app *app)
{
	pctl_profiles_options o = {.probing = say_probing, .ctx = app};
	pctl_status status = pctl_app_config(app);
	const char *certs;

	if (status != PCTL_OK || app->profiles != NULL)
		return status;
	certs = app->config->conf_dir == NULL
			? NULL
			: pctl_arena_printf(app->arena, "%s/../certs", app->config->conf_dir);
	o.home = app->config->home;
	o.certs = &certs;
	o.n_certs = certs != NULL;
	return pctl_profiles_open(&o, app->call, &app->profiles);
}

/* --forms strict|native */
static pctl_status parse_forms(pctl_app *app, uint32_t *flags)
{
	const char *text = pctl_option_value(&app->line, "--forms");

	if (text != NULL && strcmp(text, "native") == 0)
		*flags |= PCTL_RUN_NATIVE | PCTL_RUN_FRESH;
	else if (text != NULL && strcmp(text, "strict") != 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--forms takes strict or native, not \"%s\"", text);
	return PCTL_OK;
}

void pctl_app_close(pctl_app *app)
{
	pctl_found_close(app->certificates);
	pctl_profiles_close(app->profiles);
	pctl_kernels_destroy(app->kernels);
	pctl_op_library_destroy(app->library);
	pctl_registry_close(app->registry);
	pctl_memo_close(app->memo);
	pctl_store_close(app->store);
	pctl_policy_destroy(app->policy);
	pctl_gas_schedule_destroy(app->schedule);
	pctl_host_config_destroy(app->config);
}

pctl_status pctl_app_settings(pctl_app *app, const char *option, pctl_setting **out,
			      uint32_t *n_out)
{
	pctl_setting *settings =
		pctl_arena_array(app->arena, app->line.n_given + 1u, sizeof(*settings));
	uint32_t n = 0;
	const char *text;

	*out = NULL;
	*n_out = 0;
	if (settings == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory for options");
	while ((text = pctl_option_at(&app->line, option, n)) != NULL) {
		const char *equals = strchr(text, '=');

		if (equals == NULL || equals == text)
			return pctl_refuse(app->call, PC10_USAGE, "%s wants NAME=VALUE, not \"%s\"",
					   option, text);
		settings[n].name = pctl_arena_dup_n(app->arena, text, (size_t)(equals - text));
		if (settings[n].name == NULL)
			return pctl_refuse(app->call, PC2_NOMEM, "no memory for options");
		for (uint32_t i = 0; i < n; i++) {
			if (strcmp(settings[i].name, settings[n].name) == 0)
				return pctl_refuse(app->call, PC10_USAGE, "%s gives \"%s\" twice",
						   option, settings[n].name);
		}
		settings[n++].value = equals + 1;
	}
	*out = settings;
	*n_out = n;
	return PCTL_OK;
}

static pctl_status parse_verify(pctl_app *app, uint32_t *ppm)
{
	const char *text = pctl_option_value(&app->line, "--verify");
	char *end;
	double f;

	*ppm = app->policy->verify_ppm;
	if (text == NULL)
		return PCTL_OK;
	if (strcmp(text, "none") == 0 || strcmp(text, "all") == 0) {
		uint32_t wanted = text[0] == 'a' ? 1000000 : 0;

		if (wanted > *ppm)
			*ppm = wanted;
		return PCTL_OK;
	}
	if (strncmp(text, "sample=", 7) == 0) {
		f = strtod(text + 7, &end);
		if (end != text + 7 && *end == '\0' && f >= 0 && f <= 1) {
			uint32_t wanted = f > 0 && f < 1e-6 ? 1 : (uint32_t)(f * 1e6 + 0.5);

			if (wanted > *ppm)
				*ppm = wanted;
			return PCTL_OK;
		}
	}
	return pctl_refuse(app->call, PC10_USAGE,
			   "--verify takes none, all or sample=F with F from 0 to 1, not \"%s\"",
			   text);
}

/* Certificates are looked for when a policy first asks for a level. */
static void certified_level(void *ctx, const pctl_level_question *q, pctl_level_answer *out)
{
	pctl_app *app = ctx;

	if (app->certificates == NULL && pctl_app_certificates(app, &app->certificates) != PCTL_OK)
		*out = (pctl_level_answer){0, 0, NULL};
	else
		pctl_found_level(app->certificates, q, out);
}

pctl_status pctl_app_run_options(pctl_app *app, pctl_run_options *out, const char ***backends)
{
	const char *limit = pctl_option_value(&app->line, "--gas-limit");
	pctl_status status = pctl_app_ops(app);
	int in_process = 0;

	memset(out, 0, sizeof(*out));
	*backends = NULL;
	if (status == PCTL_OK)
		status = pctl_app_memo(app);
	if (status == PCTL_OK)
		status = pctl_app_policy(app);
	if (status == PCTL_OK)
		status = pctl_app_schedule(app);
	if (status == PCTL_OK)
		status = pctl_app_profiles(app);
	if (status == PCTL_OK)
		status = parse_verify(app, &out->verify_ppm);
	if (status == PCTL_OK)
		status = pctl_app_in_process(app, &in_process);
	if (status != PCTL_OK)
		return status;
	if (limit != NULL) {
		out->has_gas_limit = 1;
		if (!pctl_num_parse_u64(limit, strlen(limit), &out->gas_limit))
			return pctl_refuse(app->call, PC10_USAGE,
					   "--gas-limit wants a number, not \"%s\"", limit);
	}
	*backends = pctl_arena_array(app->arena, app->line.n_given + 1u, sizeof(**backends));
	if (*backends == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory for options");
	for (const char *id;
	     (id = pctl_option_at(&app->line, "--backend", out->n_backends)) != NULL;)
		(*backends)[out->n_backends++] = id;
	out->backends = *backends;
	out->registry = app->registry;
	out->ops = pctl_op_library_source(app->library);
	out->store = app->store;
	out->memo = app->memo;
	out->schedule = app->schedule;
	out->schedule_id = app->schedule_id;
	out->policy = app->policy;
	out->cache_dir = app->config->cache_bytes != 0 ? app->config->cache_dir : NULL;
	out->flags =
		(in_process ? PCTL_RUN_IN_PROCESS : 0) |
		(pctl_option_has(&app->line, "--debug") ? PCTL_RUN_DEBUG : 0) |
		(pctl_option_has(&app->line, "--no-memo") || !app->config->memo ? PCTL_RUN_FRESH
										: 0) |
		(pctl_option_has(&app->line, "--sanitize") ? PCTL_RUN_SANITIZE : 0);
	out->profiles = app->profiles;
	out->certified_level = certified_level;
	out->certified_ctx = app;
	status = parse_forms(app, &out->flags);
	if (app->progress) {
		out->progress = pctl_app_progress;
		out->progress_ctx = app;
	}
	return status;
}

void pctl_app_progress(void *ctx, const char *job, uint64_t done, uint64_t total)
{
	pctl_app *app = ctx;
	struct timespec t;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	if (!app->progress || now - app->drawn_ns < REDRAW_NS)
		return;
	app->drawn_ns = now;
	app->is_drawn = 1;
	if (total > 1)
		fprintf(stderr, "\r\033[K%s: %" PRIu64 " of %" PRIu64, job, done, total);
	else
		fprintf(stderr, "\r\033[K%s", job);
	fflush(stderr);
}

void pctl_app_progress_clear(pctl_app *app)
{
	if (app->is_drawn)
		fputs("\r\033[K", stderr);
	app->is_drawn = 0;
}
