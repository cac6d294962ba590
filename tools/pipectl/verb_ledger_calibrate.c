/* `ledger params calibrate`: gas a millisecond of the admitted backends, and the throughput that would follow. It only
 * measures; what it found becomes a parameter by a proposal that is voted on, or, before there is a state, of genesis. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "foundation/base/str.h"
#include "chain/state/amount.h"
#include "chain/executor/calibrate.h"
#include "chain/chain.h"
#include "chain/registry/rules.h"
#include "ledger.h"

#define MOST_BACKENDS 32u
#define LEAST_MS 200u /* a run that is long enough to be measured */
#define LEAST_SUITE_MS 20u
#define RUNS 5u
#define SUITE_RUNS 3u
#define SPREAD \
	20u /* the most that a schedule may misjudge a kernel against another on one device */

typedef struct calibrating {
	pctl_app *app;
	pctl_params params;
	const char *backends[MOST_BACKENDS];
	pctl_calibration found[MOST_BACKENDS];
	uint32_t n, least_ms, is_suite, spread;
	const char *genesis; /* what was written, or NULL */
} calibrating;

/* Those in force, or of a home without a state those that it would begin with. */
static pctl_status read_params(calibrating *c)
{
	pctl_app *app = c->app;
	const char *dir, *path;
	pctl_status status = pctl_installation_config(&app->host, app->call);

	if (status != PCTL_OK)
		return status;
	dir = pctl_arena_printf(app->arena, "%s/chain", app->host.config->home);
	path = dir == NULL ? NULL : pctl_arena_printf(app->arena, "%s/state.sqlite", dir);
	if (path != NULL && access(path, F_OK) == 0)
		return pctl_calibration_params(dir, app->call, &c->params);
	if (dir != NULL)
		path = pctl_arena_printf(app->arena, "%s/params.cfg", dir);
	if (path != NULL && access(path, F_OK) != 0 && app->host.config->conf_dir != NULL)
		path = pctl_arena_printf(app->arena, "%s/chain/params.cfg",
					 app->host.config->conf_dir);
	return path == NULL ? pctl_no_memory(app->call, "a path")
			    : pctl_params_read(path, app->call, &c->params);
}

static pctl_status add_backend(calibrating *c, const char *selector)
{
	if (c->n == MOST_BACKENDS)
		return pctl_refuse(c->app->call, PC10_USAGE, "at most %u backends", MOST_BACKENDS);
	c->backends[c->n] = pctl_arena_dup(c->app->arena, selector);
	return c->backends[c->n++] != NULL ? PCTL_OK
					   : pctl_refuse(c->app->call, PC2_NOMEM, "no memory");
}

/* --backend, or all that the policy may choose. */
static pctl_status find_backends(calibrating *c)
{
	pctl_app *app = c->app;
	pctl_devices *list = NULL;
	const char *text;
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && (text = pctl_option_at(&app->line, "--backend", c->n)) != NULL)
		status = add_backend(c, text);
	if (status != PCTL_OK || c->n != 0)
		return status;
	status = pctl_devices_list(app->host.registry, NULL, 0, app->call, &list);
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);
		const pctl_policy_device d = {e->backend, e->name, e->index, e->kind};

		if (e->state == PCTL_DEVICE_USABLE &&
		    pctl_policy_backend_rank(app->host.policy, &d) != UINT32_MAX &&
		    pctl_policy_backend_allowed(app->host.policy, &d, NULL) == PCTL_OK)
			status = add_backend(c, e->selector);
	}
	pctl_devices_destroy(list);
	return status == PCTL_OK && c->n == 0
		       ? pctl_refuse(app->call, PC5830_NO_EXECUTOR, "the policy admits no device")
		       : status;
}

static pctl_status measure(calibrating *c, pctl_gas_schedule *schedule,
			   const pctl_gas_schedule *before)
{
	pctl_app *app = c->app;
	const pctl_calibrating how = {.schedule = schedule,
				      .before = before,
				      .least_ms = c->least_ms,
				      .runs = c->is_suite ? SUITE_RUNS : RUNS,
				      .is_suite = c->is_suite,
				      .has_floats = c->params.values[PCTL_PARAM_CLASS] ==
						    PCTL_CLASS_STRICT};
	pctl_device_executor_options o = {.registry = app->host.registry,
					  .policy = app->host.policy,
					  .profiles = app->host.profiles,
					  .cache_dir = app->host.config->cache_bytes != 0
							       ? app->host.config->cache_dir
							       : NULL,
					  .n_backends = 1};
	const pctl_progress_sink sink = pctl_app_progress(app);
	const uint64_t started = pctl_clock_ns();
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < c->n; i++) {
		pctl_progress_tell(&sink,
				   &(pctl_progress){.stage = "measure",
						    .device = c->backends[i],
						    .unit = "devices",
						    .done = i,
						    .total = c->n,
						    .elapsed_ns = pctl_clock_ns() - started});
		o.backends = &c->backends[i];
		status = pctl_calibrate(&o, app->host.kernels, &how, app->call, &c->found[i]);
	}
	pctl_app_progress_clear(app);
	return status;
}

static uint32_t slowest(const calibrating *c)
{
	uint32_t at = 0;

	for (uint32_t i = 1; i < c->n; i++)
		at = c->found[i].gas_per_ms < c->found[at].gas_per_ms ? i : at;
	return at;
}

/* How far the cheapest kernel is from the dearest on a device in gas a millisecond. */
static double spread_of(const pctl_calibration *d, int is_before)
{
	const double least = pctl_calibration_rate(
		&d->points[is_before ? d->least_before : d->least], is_before);
	const double most =
		pctl_calibration_rate(&d->points[is_before ? d->most_before : d->most], is_before);

	return least > 0 ? most / least : 0;
}

static void print_few(const calibrating *c, pctl_table *table, uint32_t i)
{
	for (uint32_t k = 0; k < c->found[i].n_points; k++) {
		const pctl_calibration_point *p = &c->found[i].points[k];

		pctl_table_cell(table, "%s", c->backends[i]);
		pctl_table_cell(table, "%s", p->kernel);
		pctl_table_cell(table, "%" PRIu64, p->jobs);
		pctl_table_cell(table, "%" PRIu64, p->groups);
		pctl_table_cell(table, "%" PRIu64, p->gas);
		pctl_table_cell(table, "%.3f", (double)p->ns * 1e-6);
		pctl_table_cell(table, "%" PRIu64, p->gas_per_ms);
	}
}

static void print_suite(const calibrating *c, pctl_table *table, uint32_t i)
{
	for (uint32_t k = 0; k < c->found[i].n_points; k++) {
		const pctl_calibration_point *p = &c->found[i].points[k];

		pctl_table_cell(table, "%s", c->backends[i]);
		pctl_table_cell(table, "%s", p->kernel);
		pctl_table_cell(table, "%s", p->row);
		pctl_table_cell(table, "%.3f", (double)p->ns * 1e-6);
		pctl_table_cell(table, "%.0f", pctl_calibration_rate(p, 1));
		pctl_table_cell(table, "%" PRIu64, p->gas_per_ms);
	}
}

static void print_spreads(const calibrating *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const pctl_calibration *d = &c->found[i];

		printf("%s: version 1 %.3g (\"%s\" to \"%s\"), now %.3g (\"%s\" to \"%s\"), at "
		       "most %" PRIu32 "\n",
		       c->backends[i], spread_of(d, 1), d->points[d->least_before].kernel,
		       d->points[d->most_before].kernel, spread_of(d, 0),
		       d->points[d->least].kernel, d->points[d->most].kernel, c->spread);
	}
}

static void print_text(const calibrating *c, uint64_t throughput, uint64_t budget,
		       const char *command)
{
	static const pctl_column few[] = {
		{"backend", "", 22}, {"kernel", " ", 12}, {"jobs", " ", -8},   {"groups", " ", -8},
		{"gas", " ", -16},   {"ms", " ", -10},	  {"gas/ms", " ", -14}};
	static const pctl_column suite[] = {{"backend", "", 22},     {"kernel", " ", 28},
					    {"row", " ", 18},	     {"ms", " ", -10},
					    {"version 1", " ", -14}, {"gas/ms", " ", -14}};
	const uint64_t *v = c->params.values;
	pctl_table *table;

	table = c->is_suite ? pctl_table_begin(suite, PCTL_COLUMNS(suite), PCTL_TABLE_HEADS)
			    : pctl_table_begin(few, PCTL_COLUMNS(few), PCTL_TABLE_HEADS);
	for (uint32_t i = 0; i < c->n; i++)
		(c->is_suite ? print_suite : print_few)(c, table, i);
	(void)pctl_table_end(table, c->app->call);
	if (c->is_suite)
		print_spreads(c);
	printf("slowest: %s, %" PRIu64 " gas/ms (in force: %" PRIu64 ")\n",
	       c->found[slowest(c)].device, throughput, v[PCTL_PARAM_THROUGHPUT]);
	printf("gas of a block of %" PRIu64 " ms at utilisation %.6g: %" PRIu64 "\n",
	       v[PCTL_PARAM_BLOCK_TIME_MS], (double)v[PCTL_PARAM_UTILISATION] * 1e-6, budget);
	if (c->genesis != NULL)
		printf("written: %s\n", c->genesis);
	else
		printf("%s\n", command);
}

/* What a solver needs: parts of gas are the sum of rows times units. */
static void print_units(pctl_json *j, const pctl_calibration_point *p,
			const pctl_gas_schedule *schedule)
{
	pctl_json_kv_string(j, "row", p->row);
	pctl_json_kv_u64(j, "gas_before", p->before);
	pctl_json_kv_u64(j, "parts", p->parts);
	pctl_json_key(j, "units");
	pctl_json_object_begin(j);
	for (uint32_t row = 0; row < PCTL_GAS_ROWS; row++)
		if (p->units[row] != 0)
			pctl_json_kv_u64(j, pctl_gas_row_name(schedule, row), p->units[row]);
	pctl_json_object_end(j);
}

static void print_json(const calibrating *c, uint64_t throughput, uint64_t budget,
		       const char *command, const pctl_gas_schedule *schedule)
{
	pctl_json *j = &c->app->document;
	const uint64_t *v = c->params.values;

	pctl_json_key(j, "backends");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < c->n; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "backend", c->backends[i]);
		pctl_json_kv_string(j, "device", c->found[i].device);
		pctl_json_kv_u64(j, "gas_per_ms", c->found[i].gas_per_ms);
		pctl_json_key(j, "kernels");
		pctl_json_array_begin(j);
		for (uint32_t k = 0; k < c->found[i].n_points; k++) {
			const pctl_calibration_point *p = &c->found[i].points[k];

			pctl_json_object_begin(j);
			pctl_json_kv_string(j, "kernel", p->kernel);
			pctl_json_kv_u64(j, "jobs", p->jobs);
			pctl_json_kv_u64(j, "groups", p->groups);
			pctl_json_kv_u64(j, "gas", p->gas);
			pctl_json_kv_u64(j, "nanoseconds", p->ns);
			pctl_json_kv_u64(j, "gas_per_ms", p->gas_per_ms);
			if (c->is_suite)
				print_units(j, p, schedule);
			pctl_json_object_end(j);
		}
		pctl_json_array_end(j);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
	if (c->is_suite) {
		pctl_json_key(j, "rows");
		pctl_json_object_begin(j);
		for (uint32_t row = 0; row < PCTL_GAS_ROWS; row++)
			if (pctl_gas_row_name(schedule, row) != NULL)
				pctl_json_kv_u64(j, pctl_gas_row_name(schedule, row),
						 pctl_gas_row(schedule, row));
		pctl_json_object_end(j);
	}
	pctl_json_kv_string(j, "slowest", c->backends[slowest(c)]);
	pctl_json_kv_u64(j, "throughput", throughput);
	pctl_json_kv_u64(j, "throughput_in_force", v[PCTL_PARAM_THROUGHPUT]);
	pctl_json_kv_u64(j, "block_time_ms", v[PCTL_PARAM_BLOCK_TIME_MS]);
	pctl_json_kv_u64(j, "utilisation_ppm", v[PCTL_PARAM_UTILISATION]);
	pctl_json_kv_u64(j, "block_gas", budget);
	pctl_json_kv_string(j, "propose", c->genesis == NULL ? command : NULL);
	pctl_json_kv_string(j, "genesis", c->genesis);
}

/* The file that this home begins with: what it would begin with, and the throughput just measured. Only where there is no
 * state yet; later it takes a proposal. */
static pctl_status write_genesis(calibrating *c, const pctl_params *p)
{
	pctl_app *app = c->app;
	const char *dir = pctl_arena_printf(app->arena, "%s/chain", app->host.config->home);
	const char *state =
		pctl_arena_printf(app->arena, "%s/chain/state.sqlite", app->host.config->home);
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char value[PCTL_PARAM_TEXT_SIZE];
	pctl_status status;

	c->genesis = pctl_arena_printf(app->arena, "%s/chain/params.cfg", app->host.config->home);
	if (dir == NULL || state == NULL || c->genesis == NULL)
		return pctl_no_memory(app->call, "a path");
	if (access(state, F_OK) == 0)
		return pctl_refuse(app->call, PC5723_PARAM_SEED,
				   "%s has parameters already: propose the throughput", state);
	pctl_str_add(&s, "// The parameters that the chain of this home begins with, written by "
			 "`ledger params "
			 "calibrate --genesis`.\nparams : {\n  version = 1;\n  values : {\n");
	for (uint32_t i = 0; i < PCTL_PARAM_COUNT; i++)
		pctl_str_addf(&s, "    %s = \"%s\"; // %s\n", pctl_param_at(i)->name,
			      pctl_param_format(i, p->values[i], value), pctl_param_at(i)->doc);
	pctl_str_add(&s, "  };\n};\n");
	status = s.failed ? pctl_no_memory(app->call, "parameters")
			  : pctl_file_make_dirs(dir, app->call);
	if (status == PCTL_OK)
		status = pctl_file_write(c->genesis, s.data, s.n, 1, app->call);
	pctl_str_drop(&s);
	return status;
}

/* One device: every kernel that is too cheap beside the dearest one, the cheapest first. */
static pctl_status check_spread(const calibrating *c, uint32_t i)
{
	const pctl_calibration *d = &c->found[i];
	const pctl_calibration_point *most = &d->points[d->most];
	const double rate = pctl_calibration_rate(most, 0);
	pctl_status status = PCTL_OK;

	for (uint32_t k = 0; k <= d->n_points; k++) {
		const uint32_t at = k == 0 ? d->least : k - 1;
		const pctl_calibration_point *p = &d->points[at];
		const double times = rate / pctl_calibration_rate(p, 0);

		if (p->is_built || times <= c->spread || (k != 0 && at == d->least))
			continue;
		status = pctl_refuse(c->app->call, PC2605_GAS_SPREAD,
				     "%s: \"%s\" (row %s) does %" PRIu64
				     " gas a millisecond and \"%s\" (row %s) %" PRIu64
				     ", %.3g times as much, at most %" PRIu32,
				     c->backends[i], p->kernel, p->row, p->gas_per_ms, most->kernel,
				     most->row, most->gas_per_ms, times, c->spread);
	}
	return status;
}

static pctl_status check_spreads(const calibrating *c)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; c->is_suite && i < c->n; i++) {
		const pctl_status one = check_spread(c, i);

		status = status == PCTL_OK ? one : status;
	}
	return status;
}

static pctl_status print(calibrating *c, const pctl_gas_schedule *schedule)
{
	pctl_params changed = c->params;
	uint64_t throughput = c->found[slowest(c)].gas_per_ms, budget;
	const char *command;
	pctl_status status;

	throughput = throughput == 0 ? 1 : throughput;
	changed.values[PCTL_PARAM_THROUGHPUT] = throughput;
	status = pctl_params_check(&changed, c->app->call);
	if (status == PCTL_OK)
		status = pctl_params_block_budget(&changed, c->app->call, &budget);
	if (status != PCTL_OK)
		return status;
	command = pctl_arena_printf(c->app->arena,
				    "pipectl ledger params propose throughput=%" PRIu64
				    " --from ACCOUNT --at HEIGHT",
				    throughput);
	if (command == NULL)
		return pctl_no_memory(c->app->call, "a line");
	if (pctl_option_has(&c->app->line, "--genesis"))
		status = write_genesis(c, &changed);
	if (status != PCTL_OK)
		return status;
	if (c->app->json)
		print_json(c, throughput, budget, command, schedule);
	else
		print_text(c, throughput, budget, command);
	return check_spreads(c);
}

static pctl_status read_options(calibrating *c)
{
	pctl_app *app = c->app;
	const char *least = pctl_option_value(&app->line, "--least-ms");
	const char *spread = pctl_option_value(&app->line, "--spread");
	uint64_t least_ms, most;

	c->is_suite = pctl_option_has(&app->line, "--suite") != 0;
	least_ms = c->is_suite ? LEAST_SUITE_MS : LEAST_MS;
	most = SPREAD;
	if (app->line.n_arguments != 1 ||
	    (least != NULL && (!pctl_amount_parse(least, &least_ms) || least_ms > 60000)) ||
	    (spread != NULL && (!pctl_amount_parse(spread, &most) || most == 0 ||
				most > UINT32_MAX || !c->is_suite)) ||
	    (pctl_option_has(&app->line, "--gas") && !c->is_suite))
		return pctl_refuse(app->call, PC10_USAGE,
				   "usage: pipectl ledger params calibrate [--backend ID]... "
				   "[--least-ms 0..60000] [--suite [--gas FILE] [--spread N]]");
	c->least_ms = (uint32_t)least_ms;
	c->spread = (uint32_t)most;
	return PCTL_OK;
}

/* Of the suite: the file that was named, or that of version 2 of the rules; *before is what version 1 says. */
static pctl_status read_schedules(calibrating *c, pctl_gas_schedule **out,
				  pctl_gas_schedule **before)
{
	pctl_app *app = c->app;
	pctl_params first, second = c->params;
	const char *given = pctl_option_value(&app->line, "--gas");
	pctl_status status;

	if (!c->is_suite)
		return pctl_chain_schedule(&c->params, app->call, out);
	pctl_params_default(&first);
	second.values[PCTL_PARAM_RULES] = PCTL_RULES_DRAFT;
	status = pctl_chain_schedule(&first, app->call, before);
	if (status != PCTL_OK)
		return status;
	return given != NULL ? pctl_gas_schedule_read(given, app->call, out)
			     : pctl_chain_schedule(&second, app->call, out);
}

pctl_status pctl_ledger_calibrate(pctl_app *app)
{
	calibrating *c = pctl_arena_alloc(app->arena, sizeof(*c));
	pctl_gas_schedule *schedule = NULL, *before = NULL;
	pctl_status status;

	if (c == NULL)
		return pctl_no_memory(app->call, "a calibration");
	c->app = app;
	status = read_options(c);
	if (status == PCTL_OK)
		status = read_params(c);
	if (status == PCTL_OK)
		status = pctl_installation_ops(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_installation_policy(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_installation_profiles(&app->host, app->call);
	if (status == PCTL_OK)
		status = find_backends(c);
	if (status == PCTL_OK)
		status = read_schedules(c, &schedule, &before);
	if (status == PCTL_OK)
		status = measure(c, schedule, before);
	if (status == PCTL_OK)
		status = print(c, schedule);
	for (uint32_t i = 0; i < c->n; i++)
		pctl_calibration_clear(&c->found[i]);
	pctl_gas_schedule_destroy(schedule);
	pctl_gas_schedule_destroy(before);
	return status;
}
