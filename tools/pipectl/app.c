/* What the command line says of an installation and of a run. */
#include "app.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/wgsl/wgsl.h"
#include "foundation/base/num.h"
#include "runtime/exec/resident.h"

static void say_probing(void *ctx, const char *device)
{
	pctl_app *app = ctx;

	const pctl_log_field fields[] = {{"device", device}};

	pctl_app_progress_clear(app);
	pctl_log_write(app->log, PCTL_LOG_INFO, "pipectl", "probes a device", fields, 1);
	if (!app->quiet)
		fprintf(stderr, "probing %s\n", device);
}

/* What the command line says comes first. */
static void configured(void *ctx, const pctl_host_config *c)
{
	pctl_app *app = ctx;

	if (pctl_option_value(&app->line, "--color") == NULL && c->colour != PCTL_WHEN_AUTO)
		app->colour = c->colour == PCTL_WHEN_ALWAYS;
	(void)pctl_app_progress_choose(app, c->progress);
	app->log_status = pctl_app_log_open(app, c);
	app->host.log = app->log;
}

pctl_status pctl_app_values(pctl_app *app, const char *option, const char *const **out, uint32_t *n)
{
	const char **values = pctl_arena_array(app->arena, app->line.n_given + 1u, sizeof(*values));

	*out = values;
	*n = 0;
	if (values == NULL)
		return pctl_no_memory(app->call, "options");
	for (const char *v; (v = pctl_option_at(&app->line, option, *n)) != NULL;)
		values[(*n)++] = v;
	return PCTL_OK;
}

/* --max-turns N */
static pctl_status parse_turns(pctl_app *app, uint32_t *out)
{
	const char *text = pctl_option_value(&app->line, "--max-turns");
	uint64_t n = 0;

	*out = 0;
	if (text == NULL)
		return PCTL_OK;
	if (!pctl_num_parse_u64(text, strlen(text), &n) || n == 0 || n > PCTL_TURNS_MAX)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--max-turns wants a number from 1 to %u, not \"%s\"",
				   PCTL_TURNS_MAX, text);
	*out = (uint32_t)n;
	return PCTL_OK;
}

/* --subgroup N */
static pctl_status parse_subgroup(pctl_app *app, uint32_t *out)
{
	const char *text = pctl_option_value(&app->line, "--subgroup");
	uint64_t n = 0;

	*out = 0;
	if (text == NULL)
		return PCTL_OK;
	if (!pctl_num_parse_u64(text, strlen(text), &n) || !pctl_wgsl_is_subgroup_size(n))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--subgroup wants 4, 8, 16, 32, 64 or 128, not \"%s\"", text);
	*out = (uint32_t)n;
	return PCTL_OK;
}

pctl_status pctl_app_begin(pctl_app *app)
{
	pctl_installation_options o = {
		.home = pctl_option_value(&app->line, "--home"),
		.config = pctl_option_value(&app->line, "--config"),
		.policy = pctl_option_value(&app->line, "--policy"),
		.schedule = pctl_option_value(&app->line, "--gas"),
		.in_process = (uint32_t)pctl_option_has(&app->line, "--in-process"),
		.progress = pctl_app_progress(app),
		.configured = configured,
		.probing = say_probing,
		.ctx = app};
	pctl_status status = pctl_app_values(app, "--plugin-dir", &o.plugin_dirs, &o.n_plugin_dirs);

	if (status == PCTL_OK)
		status = parse_turns(app, &o.max_turns);
	if (status == PCTL_OK)
		status = parse_subgroup(app, &o.subgroup);
	if (status == PCTL_OK)
		status = pctl_app_values(app, "--dir", &o.certificates, &o.n_certificates);
	return status == PCTL_OK ? pctl_installation_init(&app->host, &o, app->call) : status;
}

/* --forms strict|native */
static pctl_status parse_forms(pctl_app *app, uint32_t *flags)
{
	const char *text = pctl_option_value(&app->line, "--forms");

	if (text != NULL && strcmp(text, "native") == 0)
		*flags |= PCTL_RUN_NATIVE;
	else if (text != NULL && strcmp(text, "strict") != 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--forms takes strict or native, not \"%s\"", text);
	return PCTL_OK;
}

/* What stands behind the `=` cannot be empty; outputs are looked at as such (pctl_app_check_files). */
static int names_file(const char *option)
{
	return strcmp(option, "--in") == 0 || strcmp(option, "--bind") == 0;
}

pctl_status pctl_app_dispatch(pctl_app *app, uint32_t out[3])
{
	const char *text = pctl_option_value(&app->line, "--dispatch"), *at = text;

	out[0] = out[1] = out[2] = 1;
	if (text == NULL)
		return PCTL_OK;
	for (uint32_t i = 0; i < 3; i++) {
		const size_t n = strcspn(at, ",");
		uint64_t value;

		if (!pctl_num_parse_u64(at, n, &value) || value > UINT32_MAX)
			break;
		out[i] = (uint32_t)value;
		if (at[n] == '\0')
			return PCTL_OK;
		at += n + 1;
	}
	return pctl_refuse(app->call, PC10_USAGE,
			   "--dispatch wants X[,Y[,Z]], each at most %" PRIu32 ", not \"%s\"",
			   UINT32_MAX, text);
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
		return pctl_no_memory(app->call, "options");
	while ((text = pctl_option_at(&app->line, option, n)) != NULL) {
		const char *equals = strchr(text, '=');

		if (equals == NULL || equals == text)
			return pctl_refuse(app->call, PC10_USAGE, "%s wants NAME=VALUE, not \"%s\"",
					   option, text);
		if (equals[1] == '\0' && names_file(option))
			return pctl_refuse(app->call, PC10_USAGE,
					   "%s wants NAME=VALUE, and \"%s\" has no value", option,
					   text);
		settings[n].name = pctl_arena_dup_n(app->arena, text, (size_t)(equals - text));
		if (settings[n].name == NULL)
			return pctl_no_memory(app->call, "options");
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

	if (text == NULL)
		return PCTL_OK;
	if (strcmp(text, "none") == 0 || strcmp(text, "all") == 0) {
		*ppm = text[0] == 'a' ? 1000000 : 0;
		return PCTL_OK;
	}
	if (strncmp(text, "sample=", 7) == 0) {
		f = strtod(text + 7, &end);
		if (end != text + 7 && *end == '\0' && f >= 0 && f <= 1) {
			*ppm = f > 0 && f < 1e-6 ? 1 : (uint32_t)(f * 1e6 + 0.5);
			return PCTL_OK;
		}
	}
	return pctl_refuse(app->call, PC10_USAGE,
			   "--verify takes none, all or sample=F with F from 0 to 1, not \"%s\"",
			   text);
}

static pctl_status parse_profile(pctl_app *app, uint32_t *flags)
{
	const char *text = pctl_option_value(&app->line, "--profile");

	if (text == NULL)
		return PCTL_OK;
	if (strcmp(text, "sc") != 0 && strcmp(text, "mc") != 0)
		return pctl_refuse(app->call, PC10_USAGE, "--profile wants sc or mc, not \"%s\"",
				   text);
	*flags |= text[0] == 's' ? PCTL_RUN_PROFILE_SC : PCTL_RUN_PROFILE_MC;
	return PCTL_OK;
}

static pctl_status parse_joins(pctl_app *app, uint32_t *flags)
{
	static const char *const names[] = {"none", "beside", "behind", "ahead"};
	const char *text = pctl_option_value(&app->line, "--joins");

	for (uint32_t i = 0; text != NULL && i < 4; i++)
		if (strcmp(text, names[i]) == 0) {
			*flags |= PCTL_RUN_JOINS(PCTL_JOINS_NONE + i);
			return PCTL_OK;
		}
	return text == NULL ? PCTL_OK
			    : pctl_refuse(app->call, PC10_USAGE,
					  "--joins wants none, beside, behind or ahead, not \"%s\"",
					  text);
}

pctl_status pctl_app_run_request(pctl_app *app, pctl_run_request *out)
{
	const char *limit = pctl_option_value(&app->line, "--gas-limit");
	const char *memory = pctl_option_value(&app->line, "--memory-budget");
	pctl_status status;

	memset(out, 0, sizeof(*out));
	if (memory != NULL && (!pctl_num_parse_bytes(memory, strlen(memory), &out->memory_bytes) ||
			       out->memory_bytes == 0))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--memory-budget wants bytes, as 1500000000 or 2G, not \"%s\"",
				   memory);
	status = parse_verify(app, &out->verify_ppm);
	if (status == PCTL_OK && limit != NULL) {
		out->has_gas_limit = 1;
		if (!pctl_num_parse_u64(limit, strlen(limit), &out->gas_limit))
			return pctl_refuse(app->call, PC10_USAGE,
					   "--gas-limit wants a number, not \"%s\"", limit);
	}
	if (status == PCTL_OK)
		status = pctl_app_values(app, "--backend", &out->backends, &out->n_backends);
	out->flags |= (pctl_option_has(&app->line, "--debug") ? PCTL_RUN_DEBUG : 0) |
		      (pctl_option_has(&app->line, "--no-memo") ? PCTL_RUN_FRESH : 0) |
		      (pctl_option_has(&app->line, "--no-fuse") ? PCTL_RUN_NO_FUSE : 0) |
		      (pctl_option_has(&app->line, "--no-in-place") ? PCTL_RUN_NO_PLACES : 0) |
		      (pctl_option_has(&app->line, "--sanitize") ? PCTL_RUN_SANITIZE : 0);
	if (status == PCTL_OK)
		status = parse_forms(app, &out->flags);
	if (status == PCTL_OK)
		status = parse_profile(app, &out->flags);
	if (status == PCTL_OK)
		status = parse_joins(app, &out->flags);
	out->progress = pctl_app_progress(app);
	return status;
}

pctl_status pctl_app_run_options(pctl_app *app, pctl_run_options *out)
{
	pctl_run_request q;
	pctl_status status = pctl_app_run_request(app, &q);

	memset(out, 0, sizeof(*out));
	return status == PCTL_OK ? pctl_request_run_options(&app->host, &q, app->call, out)
				 : status;
}
