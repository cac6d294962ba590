/* `certify` and `certify merge`: run a proof, or join its shards, and write the certificate. */
#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "certify.h"
#include "evidence/certify/regressions.h"
#include "evidence/certify/run.h"
#include "foundation/base/hex.h"

#define CASES (1u << 20)
#define PROGRAMS 64u
#define KEPT_BLOCK (32 << 20)
#define KEPT_MEMORY (128 << 20)

/* Where a proof is run and kept. own_dir: made by this program, removed when the proof is complete. */
typedef struct proof {
	pctl_proof_params params;
	pctl_shard shard;
	const char *selector, *dir, *regressions_file;
	const char *const *regressions;
	uint32_t n_regressions;
	uint32_t own_dir, sharded;
} proof;

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

static pctl_status take_params(pctl_app *app, proof *p)
{
	const char *level = pctl_option_value(&app->line, "--level");
	const char *shard = pctl_option_value(&app->line, "--shard");
	pctl_status status = PCTL_OK;

	p->params.ops = pctl_option_value(&app->line, "--ops");
	p->params.pairs = (uint32_t)pctl_option_has(&app->line, "--pairs");
	p->shard = (pctl_shard){1, 1};
	p->sharded = shard != NULL;
	if (!pctl_level_parse(level == NULL ? "L2" : level, &p->params.level, &p->params.track))
		status = pctl_refuse(app->call, PC10_USAGE,
				     "--level takes L1 to L4, L1f, L2f or L1a, not \"%s\"", level);
	if (status == PCTL_OK && shard != NULL && !pctl_shard_parse(shard, &p->shard))
		status = pctl_refuse(app->call, PC10_USAGE,
				     "--shard wants I/N with I from 1 to N, not \"%s\"", shard);
	if (status == PCTL_OK)
		status = take_number(app, "--seed", 1, &p->params.seed);
	if (status == PCTL_OK)
		status = take_number(app, "--cases", CASES, &p->params.cases);
	if (status == PCTL_OK)
		status = take_number(app, "--programs", PROGRAMS, &p->params.programs);
	if (status == PCTL_OK && p->params.cases == 0)
		status = pctl_refuse(app->call, PC10_USAGE, "--cases 0 would prove nothing");
	return status == PCTL_OK ? pctl_proof_params_check(&p->params, app->call) : status;
}

/* The device that policy prefers, of those that compute. */
static pctl_status choose_device(pctl_app *app, const char **out)
{
	uint32_t best = UINT32_MAX;
	pctl_devices *list = NULL;
	pctl_status status = pctl_installation_policy(&app->host, app->call);

	if (status == PCTL_OK)
		status = pctl_devices_list(app->host.registry, NULL, 0, app->call, &list);
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);
		const pctl_policy_device d = {e->backend, e->name, e->index, e->kind};
		const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
		const uint32_t rank = pctl_policy_backend_rank(app->host.policy, &d);

		if (e->state != PCTL_DEVICE_USABLE || rank >= best ||
		    pctl_policy_backend_allowed(app->host.policy, &d, &quiet) != PCTL_OK)
			continue;
		best = rank;
		*out = pctl_arena_dup(app->arena, e->selector);
	}
	pctl_devices_destroy(list);
	if (status == PCTL_OK && best == UINT32_MAX)
		status = pctl_refuse(app->call, PC5207_NO_DEVICE, "there is no device to prove");
	return status;
}

/* Without --out: a directory in the home that the parameters name, so that --resume finds it. */
static pctl_status choose_dir(pctl_app *app, proof *p)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], level[8];
	const char *given = pctl_option_value(&app->line, "--out");
	const char *text;
	pctl_cid cid;
	pctl_status status;

	p->dir = given;
	if (given != NULL)
		return PCTL_OK;
	p->own_dir = 1;
	text = pctl_arena_printf(app->arena, "%s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %u",
				 p->selector,
				 pctl_level_name(p->params.level, p->params.track, level),
				 p->params.ops == NULL ? "" : p->params.ops, p->params.seed,
				 p->params.cases, p->params.programs, p->params.pairs);
	if (text == NULL)
		return pctl_no_memory(app->call, "a proof");
	status = pctl_cid_of(text, strlen(text), app->call, &cid);
	if (status == PCTL_OK)
		p->dir = pctl_arena_printf(app->arena, "%s/certify/%.16s", app->host.config->home,
					   pctl_digest_hex(cid.digest, hex));
	return status == PCTL_OK && p->dir == NULL ? pctl_no_memory(app->call, "a proof") : status;
}

static pctl_status take_regressions(pctl_app *app, proof *p)
{
	const char *paths[2] = {
		pctl_arena_printf(app->arena, "%s/regressions.tsv", app->host.config->home), NULL};
	uint32_t n = 1;

	p->regressions_file = paths[0];
	if (app->host.config->conf_dir != NULL)
		paths[n++] = pctl_arena_printf(app->arena, "%s/../certs/regressions.tsv",
					       app->host.config->conf_dir);
	if (paths[0] == NULL || paths[n - 1] == NULL)
		return pctl_no_memory(app->call, "a proof");
	if (pctl_option_has(&app->line, "--list"))
		return pctl_regressions_load(paths, n, app->arena, app->call, &p->regressions,
					     &p->n_regressions);
	return pctl_regressions_of(p->dir, paths, n, app->arena, app->call, &p->regressions,
				   &p->n_regressions);
}

/* --shapes, 16 hex digits; *given 0: they are drawn. */
static pctl_status take_shapes(pctl_app *app, uint64_t *seed, int *given)
{
	const char *text = pctl_option_value(&app->line, "--shapes");

	*given = text != NULL;
	if (text == NULL)
		return PCTL_OK;
	if (!pctl_hex_is(text, 16))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--shapes wants 16 hexadecimal digits, not \"%s\"", text);
	*seed = strtoull(text, NULL, 16);
	return PCTL_OK;
}

pctl_status pctl_app_bench(pctl_app *app, const char *selector, const pctl_proof_params *params,
			   const char *const *regressions, uint32_t n_regressions,
			   const pctl_call *call, pctl_bench **out)
{
	int in_process, given = 0;
	uint64_t shapes = 0;
	pctl_status status = pctl_installation_in_process(&app->host, app->call, &in_process);
	const pctl_status taken = take_shapes(app, &shapes, &given);
	const pctl_certify_bench_options o = {
		.registry = app->host.registry,
		.ops = pctl_op_library_source(app->host.library),
		.kernels = app->host.kernels,
		.profiles = app->host.profiles,
		.cache_dir =
			app->host.config->cache_bytes != 0 ? app->host.config->cache_dir : NULL,
		.flags = (in_process ? PCTL_CERTIFY_IN_PROCESS : 0) |
			 (pctl_option_has(&app->line, "--debug") ? PCTL_CERTIFY_DEBUG : 0) |
			 (params->level >= 3 ? PCTL_CERTIFY_SANITIZER : 0),
		.params = params,
		.regressions = regressions,
		.n_regressions = n_regressions,
		.shapes = given ? &shapes : NULL};

	if (status == PCTL_OK)
		status = taken;
	/* Blocks are made and dropped by the thousand: their memory stays with this process. */
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
	return status == PCTL_OK ? pctl_certify_bench_open(&o, selector, call, out) : status;
}

/* ---- --list ------------------------------------------------------------------------------- */

static void list_unit(pctl_app *app, const pctl_unit *u)
{
	pctl_json *j = &app->document;
	char level[8];

	if (!app->json) {
		printf("%-4s %-12s %-32s %-24s %s\n", pctl_level_name(u->level, u->track, level),
		       pctl_unit_kind_name(u->kind), u->subject, u->name, u->domain);
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

static pctl_status list_units(pctl_app *app, proof *p)
{
	uint32_t n_providers;
	const pctl_provider *providers = pctl_providers(&n_providers);
	pctl_units *units = NULL;
	pctl_bench *bench = NULL;
	pctl_status status = take_regressions(app, p);

	if (status == PCTL_OK)
		status = pctl_app_bench(app, NULL, &p->params, p->regressions, p->n_regressions,
					app->call, &bench);
	if (status == PCTL_OK)
		status = pctl_proof_plan(bench, providers, n_providers, &p->params, app->call,
					 &units);
	if (status == PCTL_OK && app->json) {
		pctl_json_key(&app->document, "units");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < units->n; i++)
		list_unit(app, &units->units[i]);
	if (status == PCTL_OK && app->json)
		pctl_json_array_end(&app->document);
	else if (status == PCTL_OK && !app->quiet)
		fprintf(stderr, "%u units, %" PRIu64 " blocks\n", units->n, units->n_blocks);
	pctl_units_destroy(units);
	pctl_certify_bench_close(bench);
	return status;
}

/* ---- the certificate ---------------------------------------------------------------------- */

static const char *certificate_path(pctl_app *app, const pctl_certificate *c, const char *dir,
				    int own_dir)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], level[8];

	if (!own_dir)
		return pctl_arena_printf(app->arena, "%s/certificate.cfg", dir);
	return pctl_arena_printf(app->arena, "%s/certificates/%.20s.%s.%.16s.cfg",
				 app->host.config->home, c->profile + 7,
				 pctl_level_name(c->params.level, c->params.track, level),
				 pctl_digest_hex(c->digest, hex));
}

static pctl_status write_certificate(pctl_app *app, pctl_certificate *c, const char *path)
{
	char *dir = strdup(path), *slash = dir == NULL ? NULL : strrchr(dir, '/');
	const char *keys = pctl_arena_printf(app->arena, "%s/keys", app->host.config->home);
	pctl_signer *signer = NULL;
	pctl_status status = dir == NULL || keys == NULL
				     ? pctl_no_memory(app->call, "a proof")
				     : pctl_signer_open(keys, app->call, &signer);

	if (status == PCTL_OK && slash != NULL && slash != dir) {
		*slash = '\0';
		status = pctl_file_make_dirs(dir, app->call);
	}
	if (status == PCTL_OK)
		status = pctl_certificate_write(c, path, signer, app->call);
	pctl_signer_close(signer);
	free(dir);
	return status;
}

/* What a certificate that was just made means for the exit code. */
static pctl_status judge(pctl_app *app, const pctl_certificate *c)
{
	char asked[8], got[8];

	if (c->failures != 0)
		return pctl_refuse(app->call, PC5521_FAILED, "%s", c->cause);
	if (c->granted == c->params.level)
		return PCTL_OK;
	return pctl_refuse(app->call, PC5520_REFUSED, "%s was asked for, %s is granted: %s",
			   pctl_level_name(c->params.level, c->params.track, asked),
			   pctl_level_name(c->granted, c->params.track, got), c->cause);
}

static pctl_status make_certificate(pctl_app *app, const char *dir, const char *path, int own_dir)
{
	pctl_certificate *c = NULL;
	pctl_status status = pctl_certify_collect(dir, app->call, &c);

	if (status == PCTL_OK && path == NULL)
		path = certificate_path(app, c, dir, own_dir);
	if (status == PCTL_OK)
		status = path == NULL ? pctl_no_memory(app->call, "a proof")
				      : write_certificate(app, c, path);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK) {
		pctl_app_print_certificate(app, c, 0);
		status = judge(app, c);
	}
	pctl_certificate_destroy(c);
	return status;
}

/* The journal has served once the certificate is there. */
static void remove_dir(const char *dir)
{
	static const char *const names[] = {"shard-1-of-1.journal", "units.tsv", "regressions.tsv"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = pctl_path_join(dir, names[i]);

		if (path != NULL)
			unlink(path);
		free(path);
	}
	rmdir(dir);
}

/* ---- running ------------------------------------------------------------------------------ */

static void print_shard(pctl_app *app, const proof *p, const pctl_certify_outcome *out)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("shard %u/%u: %" PRIu64 " blocks, %" PRIu64 " run before, %" PRIu64
		       " now, %" PRIu64 " failed, %" PRIu64 " not run\n",
		       p->shard.index, p->shard.count, out->blocks, out->before, out->ran,
		       out->failed, out->not_run);
		return;
	}
	pctl_json_kv_u32(j, "shard", p->shard.index);
	pctl_json_kv_u32(j, "shards", p->shard.count);
	pctl_json_kv_string(j, "directory", p->dir);
	pctl_json_kv_u64(j, "blocks", out->blocks);
	pctl_json_kv_u64(j, "before", out->before);
	pctl_json_kv_u64(j, "ran", out->ran);
	pctl_json_kv_u64(j, "failed", out->failed);
	pctl_json_kv_u64(j, "not_run", out->not_run);
}

static pctl_status run_proof(pctl_app *app, const proof *p)
{
	pctl_certify_outcome outcome;
	pctl_certify_options o = {.params = p->params,
				  .dir = p->dir,
				  .shard = p->shard,
				  .reopen = pctl_certify_bench_reopen,
				  .regressions = p->regressions_file,
				  .resume = (uint32_t)pctl_option_has(&app->line, "--resume"),
				  .progress = app->progress ? pctl_app_progress : NULL,
				  .progress_ctx = app};
	pctl_status status = pctl_app_bench(app, p->selector, &p->params, p->regressions,
					    p->n_regressions, app->call, &o.bench);

	o.providers = pctl_providers(&o.n_providers);
	if (status == PCTL_OK)
		status = pctl_certify_run(&o, app->call, &outcome);
	pctl_certify_bench_close(o.bench);
	if (status != PCTL_OK)
		return status;
	pctl_app_progress_clear(app);
	if (outcome.reopened != 0 && !app->quiet)
		fprintf(stderr, "the device was lost and opened again %" PRIu64 " times\n",
			outcome.reopened);
	if (!p->sharded) {
		status = make_certificate(app, p->dir, NULL, (int)p->own_dir);
		if (p->own_dir &&
		    (status == PCTL_OK || status == PCTL_E_MISMATCH || status == PCTL_E_FAILED))
			remove_dir(p->dir);
		return status;
	}
	print_shard(app, p, &outcome);
	if (outcome.failed != 0)
		return pctl_refuse(app->call, PC5521_FAILED, "%s", outcome.cause);
	if (outcome.not_run != 0)
		return pctl_refuse(app->call, PC5522_NOT_RUN, "%" PRIu64 " blocks, first %s",
				   outcome.not_run, outcome.cause);
	return PCTL_OK;
}

pctl_status pctl_verb_certify(pctl_app *app)
{
	proof p = {.selector = pctl_option_value(&app->line, "--backend")};
	pctl_status status = take_params(app, &p);

	if (status == PCTL_OK)
		status = pctl_installation_ops(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_installation_profiles(&app->host, app->call);
	if (status == PCTL_OK && pctl_option_has(&app->line, "--list"))
		return list_units(app, &p);
	if (status == PCTL_OK && p.selector == NULL) {
		status = choose_device(app, &p.selector);
		if (status == PCTL_OK && !app->quiet)
			fprintf(stderr, "proving %s\n", p.selector);
	}
	if (status == PCTL_OK)
		status = choose_dir(app, &p);
	if (status == PCTL_OK)
		status = take_regressions(app, &p);
	return status == PCTL_OK ? run_proof(app, &p) : status;
}

pctl_status pctl_verb_certify_merge(pctl_app *app)
{
	pctl_status status = pctl_installation_config(&app->host, app->call);

	return status == PCTL_OK ? make_certificate(app, app->line.arguments[0],
						    pctl_option_value(&app->line, "--out"), 0)
				 : status;
}
