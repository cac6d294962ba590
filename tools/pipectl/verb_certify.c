/* `certify` and `certify merge`: run a proof, or join its shards, and write the certificate. */
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "certify.h"
#include "host/certify.h"

#define KEPT_BLOCK (32 << 20)
#define KEPT_MEMORY (128 << 20)

/* ---- options ------------------------------------------------------------------------------ */

static pctl_status take_number(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, option);

	*out = fallback;
	if (text != NULL && !pctl_num_parse_u64(text, strlen(text), out))
		return pctl_refuse(app->call, PC10_USAGE, "%s wants a number, not \"%s\"", option,
				   text);
	return PCTL_OK;
}

static pctl_status take_params(pctl_app *app, pctl_certify_request *p)
{
	const char *level = pctl_option_value(&app->line, "--level");
	const char *shard = pctl_option_value(&app->line, "--shard");
	pctl_status status = PCTL_OK;

	p->params.ops = pctl_option_value(&app->line, "--ops");
	p->params.pairs = (uint32_t)pctl_option_has(&app->line, "--pairs");
	p->shard = (pctl_shard){1, 1};
	p->sharded = shard != NULL;
	if (!pctl_level_parse(level == NULL ? "L2" : level, &p->params.level, &p->params.track))
		status =
			pctl_refuse(app->call, PC10_USAGE,
				    "--level takes L1 to L4, L1f to L4f or L1a, not \"%s\"", level);
	if (status == PCTL_OK && shard != NULL && !pctl_shard_parse(shard, &p->shard))
		status = pctl_refuse(
			app->call, PC10_USAGE,
			"--shard wants I/N with I from 1 to N and N at most %u, not \"%s\"",
			PCTL_SHARDS_MAX, shard);
	if (status == PCTL_OK)
		status = take_number(app, "--seed", 1, &p->params.seed);
	if (status == PCTL_OK)
		status = take_number(app, "--cases", PCTL_CERTIFY_CASES, &p->params.cases);
	if (status == PCTL_OK)
		status = take_number(app, "--programs", PCTL_CERTIFY_PROGRAMS, &p->params.programs);
	if (status == PCTL_OK && p->params.cases == 0)
		status = pctl_refuse(app->call, PC10_USAGE, "--cases 0 would prove nothing");
	return status;
}

/* --shapes, 16 hex digits; *given 0: they are drawn. */
static pctl_status take_shapes(pctl_app *app, uint64_t *seed, int *given)
{
	const char *text = pctl_option_value(&app->line, "--shapes");

	*given = text != NULL;
	if (text == NULL)
		return PCTL_OK;
	if (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--shapes wants 16 hexadecimal digits, not \"%s\"", text);
	*seed = strtoull(text, NULL, 16);
	return PCTL_OK;
}

/* What every context of proofs of this command line has: shapes, flags; and this process's memory is made fit for it. */
static pctl_status take_context_options(pctl_app *app, uint64_t *shapes, int *given,
					uint32_t *flags)
{
	/* Blocks are made and dropped by the thousand: their memory stays with this process. */
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
	*flags = pctl_option_has(&app->line, "--debug") ? PCTL_CERTIFY_DEBUG : 0;
	return take_shapes(app, shapes, given);
}

pctl_status pctl_app_proof_context(pctl_app *app, const char *selector,
				   const pctl_proof_params *params, const char *const *regressions,
				   uint32_t n_regressions, const pctl_call *call,
				   pctl_proof_context **out)
{
	uint64_t shapes;
	uint32_t flags;
	int given;
	pctl_status status = take_context_options(app, &shapes, &given, &flags);

	return status != PCTL_OK ? status
				 : pctl_host_proof_context(&app->host, selector, params,
							   regressions, n_regressions, flags,
							   given ? &shapes : NULL, call, out);
}

/* ---- --list ------------------------------------------------------------------------------- */

static void list_unit(pctl_app *app, const pctl_unit *u)
{
	pctl_json *j = &app->document;
	char level[8];

	if (!app->json) {
		pctl_table_cell(app->table, "%s", pctl_level_name(u->level, u->track, level));
		pctl_table_cell(app->table, "%s", pctl_unit_kind_name(u->kind));
		pctl_table_cell(app->table, "%s", u->subject);
		pctl_table_cell(app->table, "%s", u->name);
		pctl_table_cell(app->table, "%s", u->domain);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "kind", pctl_unit_kind_name(u->kind));
	pctl_json_kv_string(j, "subject", u->subject);
	pctl_json_kv_string(j, "op", u->op);
	pctl_json_kv_string(j, "name", u->name);
	pctl_json_kv_string(j, "domain", u->domain);
	pctl_json_kv_string(j, "program", u->program);
	pctl_json_kv_string(j, "level", pctl_level_name(u->level, u->track, level));
	pctl_json_kv_u64(j, "cases", u->n_cases);
	pctl_json_kv_u64(j, "blocks", u->n_blocks);
	pctl_json_object_end(j);
}

static pctl_status list_units(pctl_app *app, const pctl_certify_request *p)
{
	static const pctl_column columns[] = {{"level", "", 4},
					      {"kind", " ", 12},
					      {"subject", " ", 32},
					      {"name", " ", 24},
					      {"inputs", " ", 0}};
	uint32_t n_providers;
	const pctl_provider *providers = pctl_providers(&n_providers);
	pctl_units *units = NULL;
	pctl_proof_context *context = NULL;
	const char *const *regressions, *file;
	uint32_t n_regressions;
	pctl_status status = pctl_certify_regressions(&app->host, NULL, app->call, &regressions,
						      &n_regressions, &file);

	if (status == PCTL_OK)
		status = pctl_app_proof_context(app, NULL, &p->params, regressions, n_regressions,
						app->call, &context);
	if (status == PCTL_OK)
		status = pctl_proof_plan(context, providers, n_providers, &p->params, app->call,
					 &units);
	if (status == PCTL_OK) {
		pctl_app_list_begin(app, "units", columns, PCTL_COLUMNS(columns));
		for (uint32_t i = 0; i < units->n; i++)
			list_unit(app, &units->units[i]);
		status = pctl_app_list_end(app, PCTL_OK);
	}
	if (status == PCTL_OK && !app->json && !app->quiet)
		fprintf(stderr, "%u units, %" PRIu64 " blocks\n", units->n, units->n_blocks);
	pctl_units_destroy(units);
	pctl_certify_context_close(context);
	return status;
}

/* ---- running ------------------------------------------------------------------------------ */

static void print_shard(pctl_app *app, const pctl_certify_request *q, const pctl_certified *c)
{
	const pctl_certify_outcome *out = &c->outcome;
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("shard %u/%u: %" PRIu64 " blocks, %" PRIu64 " run before, %" PRIu64
		       " now, %" PRIu64 " failed, %" PRIu64 " not run\n",
		       q->shard.index, q->shard.count, out->blocks, out->before, out->ran,
		       out->failed, out->not_run);
		return;
	}
	pctl_json_kv_u32(j, "shard", q->shard.index);
	pctl_json_kv_u32(j, "shards", q->shard.count);
	pctl_json_kv_string(j, "directory", c->dir);
	pctl_json_kv_u64(j, "blocks", out->blocks);
	pctl_json_kv_u64(j, "before", out->before);
	pctl_json_kv_u64(j, "ran", out->ran);
	pctl_json_kv_u64(j, "failed", out->failed);
	pctl_json_kv_u64(j, "not_run", out->not_run);
}

static pctl_status prove(pctl_app *app, const pctl_certify_request *q)
{
	pctl_certified c;
	pctl_status status = pctl_certify(&app->host, q, app->call, &c);

	pctl_app_progress_clear(app);
	if (c.outcome.reopened != 0 && !app->quiet)
		fprintf(stderr, "the device was lost and opened again %" PRIu64 " times\n",
			c.outcome.reopened);
	if (status == PCTL_OK && c.certificate != NULL)
		pctl_app_print_certificate(app, c.certificate, 0);
	else if (status == PCTL_OK)
		print_shard(app, q, &c);
	if (status == PCTL_OK)
		status = pctl_certified_judge(&c, app->call);
	pctl_certified_clear(&c);
	return status;
}

pctl_status pctl_verb_certify(pctl_app *app)
{
	pctl_certify_request q = {.selector = pctl_option_value(&app->line, "--backend"),
				  .dir = pctl_option_value(&app->line, "--out"),
				  .resume = (uint32_t)pctl_option_has(&app->line, "--resume"),
				  .progress = pctl_app_progress(app)};
	uint64_t shapes;
	int given = 0;
	pctl_status status = take_params(app, &q);

	if (status == PCTL_OK)
		status = pctl_installation_ops(&app->host, app->call);
	if (status == PCTL_OK && pctl_option_has(&app->line, "--list"))
		return list_units(app, &q);
	if (status == PCTL_OK)
		status = take_context_options(app, &shapes, &given, &q.flags);
	q.shapes = given ? &shapes : NULL;
	if (status == PCTL_OK && q.selector == NULL) {
		status = pctl_certify_device(&app->host, app->call, &q.selector);
		if (status == PCTL_OK && !app->quiet)
			fprintf(stderr, "proving %s\n", q.selector);
	}
	return status == PCTL_OK ? prove(app, &q) : status;
}

pctl_status pctl_verb_certify_merge(pctl_app *app)
{
	pctl_certificate *c = NULL;
	pctl_status status =
		pctl_certificate_make(&app->host, app->line.arguments[0],
				      pctl_option_value(&app->line, "--out"), 0, app->call, &c);

	pctl_app_progress_clear(app);
	if (status == PCTL_OK) {
		pctl_app_print_certificate(app, c, 0);
		status = pctl_certificate_judge(c, app->call);
	}
	pctl_certificate_destroy(c);
	return status;
}
