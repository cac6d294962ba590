/* What a client's proof consists of; see certify.h. */
#include "host/certify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "evidence/certify/regressions.h"
#include "foundation/base/file.h"

pctl_status pctl_certify_device(pctl_installation *in, const pctl_call *call, const char **out)
{
	uint32_t best = UINT32_MAX;
	pctl_devices *list = NULL;
	pctl_status status = pctl_installation_registry(in, call);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_devices_list(in->registry, NULL, 0, call, &list);
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);
		const pctl_policy_device d = {e->backend, e->name, e->index, e->kind};
		const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
		const uint32_t rank = pctl_policy_backend_rank(in->policy, &d);

		if (e->state != PCTL_DEVICE_USABLE || rank >= best ||
		    pctl_policy_backend_allowed(in->policy, &d, &quiet) != PCTL_OK)
			continue;
		best = rank;
		*out = pctl_arena_dup(in->arena, e->selector);
		status = *out == NULL ? pctl_no_memory(call, "a proof") : PCTL_OK;
	}
	pctl_devices_destroy(list);
	if (status == PCTL_OK && best == UINT32_MAX)
		status = pctl_refuse(call, PC5207_NO_DEVICE, "there is no device to prove");
	return status;
}

/* Without a directory: one in the home that the parameters name, so that a later call finds it. */
static pctl_status choose_dir(pctl_installation *in, const pctl_certify_request *q,
			      const char *selector, const pctl_call *call, const char **out)
{
	const pctl_proof_params *p = &q->params;
	char hex[2 * PCTL_DIGEST_BYTES + 1], level[8];
	const char *text;
	pctl_cid cid;
	pctl_status status;

	*out = q->dir;
	if (q->dir != NULL)
		return PCTL_OK;
	text = pctl_arena_printf(in->arena, "%s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %u",
				 selector, pctl_level_name(p->level, p->track, level),
				 p->ops == NULL ? "" : p->ops, p->seed, p->cases, p->programs,
				 p->pairs);
	if (text == NULL)
		return pctl_no_memory(call, "a proof");
	status = pctl_cid_of(text, strlen(text), call, &cid);
	if (status == PCTL_OK)
		*out = pctl_arena_printf(in->arena, "%s/certify/%.16s", in->config->home,
					 pctl_digest_hex(cid.digest, hex));
	return status == PCTL_OK && *out == NULL ? pctl_no_memory(call, "a proof") : status;
}

pctl_status pctl_certify_regressions(pctl_installation *in, const char *dir, const pctl_call *call,
				     const char *const **out, uint32_t *n, const char **file)
{
	const char *paths[2] = {
		pctl_arena_printf(in->arena, "%s/regressions.tsv", in->config->home), NULL};
	uint32_t n_paths = 1;

	*file = paths[0];
	if (in->config->conf_dir != NULL)
		paths[n_paths++] = pctl_arena_printf(in->arena, "%s/../certs/regressions.tsv",
						     in->config->conf_dir);
	if (paths[0] == NULL || paths[n_paths - 1] == NULL)
		return pctl_no_memory(call, "a proof");
	return dir == NULL ? pctl_regressions_load(paths, n_paths, in->arena, call, out, n)
			   : pctl_regressions_of(dir, paths, n_paths, in->arena, call, out, n);
}

pctl_status pctl_host_proof_context(pctl_installation *in, const char *selector,
				    const pctl_proof_params *params, const char *const *regressions,
				    uint32_t n_regressions, uint32_t flags, const uint64_t *shapes,
				    const pctl_call *call, pctl_proof_context **out)
{
	pctl_certify_context_options o;
	int in_process;
	pctl_status status = pctl_installation_ops(in, call);

	if (status == PCTL_OK)
		status = pctl_installation_profiles(in, call);
	if (status == PCTL_OK)
		status = pctl_installation_in_process(in, call, &in_process);
	if (status != PCTL_OK)
		return status;
	o = (pctl_certify_context_options){
		.registry = in->registry,
		.ops = pctl_op_library_source(in->library),
		.kernels = in->kernels,
		.profiles = in->profiles,
		.cache_dir = in->config->cache_bytes != 0 ? in->config->cache_dir : NULL,
		.flags = flags | (in_process ? PCTL_CERTIFY_IN_PROCESS : 0) |
			 (params->level >= 3 ? PCTL_CERTIFY_SANITIZER : 0),
		.params = params,
		.regressions = regressions,
		.n_regressions = n_regressions,
		.shapes = shapes};
	return pctl_certify_context_open(&o, selector, call, out);
}

/* ---- the certificate ---------------------------------------------------------------------- */

static const char *certificate_path(pctl_installation *in, const pctl_certificate *c,
				    const char *dir, int home)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], level[8];

	if (!home)
		return pctl_arena_printf(in->arena, "%s/certificate.cfg", dir);
	return pctl_arena_printf(in->arena, "%s/certificates/%.20s.%s.%.16s.cfg", in->config->home,
				 c->profile + 7,
				 pctl_level_name(c->params.level, c->params.track, level),
				 pctl_digest_hex(c->digest, hex));
}

static pctl_status write_certificate(pctl_installation *in, pctl_certificate *c, const char *path,
				     const pctl_call *call)
{
	char *dir = strdup(path), *slash = dir == NULL ? NULL : strrchr(dir, '/');
	pctl_signer *signer = NULL;
	pctl_status status = dir == NULL ? pctl_no_memory(call, "a proof")
					 : pctl_installation_signer(in, call, &signer);

	if (status == PCTL_OK && slash != NULL && slash != dir) {
		*slash = '\0';
		status = pctl_file_make_dirs(dir, call);
	}
	if (status == PCTL_OK)
		status = pctl_certificate_write(c, path, signer, call);
	pctl_signer_close(signer);
	free(dir);
	return status;
}

pctl_status pctl_certificate_make(pctl_installation *in, const char *dir, const char *path,
				  int home, const pctl_call *call, pctl_certificate **out)
{
	pctl_status status = pctl_installation_config(in, call);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_certify_collect(dir, call, out);
	if (status == PCTL_OK && path == NULL)
		path = certificate_path(in, *out, dir, home);
	if (status == PCTL_OK)
		status = path == NULL ? pctl_no_memory(call, "a proof")
				      : write_certificate(in, *out, path, call);
	if (status != PCTL_OK) {
		pctl_certificate_destroy(*out);
		*out = NULL;
	}
	return status;
}

pctl_status pctl_certificate_judge(const pctl_certificate *c, const pctl_call *call)
{
	char asked[8], got[8];

	if (c->failures != 0)
		return pctl_refuse(call, PC5521_FAILED, "%s", c->cause);
	if (c->granted == c->params.level)
		return PCTL_OK;
	return pctl_refuse(call, PC5520_REFUSED, "%s was asked for, %s is granted: %s",
			   pctl_level_name(c->params.level, c->params.track, asked),
			   pctl_level_name(c->granted, c->params.track, got), c->cause);
}

pctl_status pctl_certified_judge(const pctl_certified *c, const pctl_call *call)
{
	if (c->certificate != NULL)
		return pctl_certificate_judge(c->certificate, call);
	if (c->outcome.failed != 0)
		return pctl_refuse(call, PC5521_FAILED, "%s", c->outcome.cause);
	if (c->outcome.not_run != 0)
		return pctl_refuse(call, PC5522_NOT_RUN, "%" PRIu64 " blocks, first %s",
				   c->outcome.not_run, c->outcome.cause);
	return PCTL_OK;
}

/* ---- running ------------------------------------------------------------------------------ */

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

static pctl_status run_proof(pctl_installation *in, const pctl_certify_request *q,
			     const pctl_call *call, pctl_certified *out)
{
	const char *const *regressions = NULL;
	uint32_t n_regressions = 0;
	pctl_certify_options o = {.params = q->params,
				  .dir = out->dir,
				  .shard = q->shard,
				  .reopen = pctl_certify_context_reopen,
				  .resume = q->resume,
				  .progress = q->progress};
	pctl_status status = pctl_certify_regressions(in, out->dir, call, &regressions,
						      &n_regressions, &o.regressions);

	if (status == PCTL_OK)
		status = pctl_host_proof_context(in, out->selector, &q->params, regressions,
						 n_regressions, q->flags, q->shapes, call,
						 &o.context);
	o.providers = pctl_providers(&o.n_providers);
	if (status == PCTL_OK)
		status = pctl_certify_run(&o, call, &out->outcome);
	pctl_certify_context_close(o.context);
	return status;
}

pctl_status pctl_certify(pctl_installation *in, const pctl_certify_request *q,
			 const pctl_call *call, pctl_certified *out)
{
	pctl_status status = pctl_installation_ops(in, call);

	*out = (pctl_certified){.selector = q->selector};
	if (status == PCTL_OK && out->selector == NULL)
		status = pctl_certify_device(in, call, &out->selector);
	if (status == PCTL_OK)
		status = choose_dir(in, q, out->selector, call, &out->dir);
	if (status == PCTL_OK)
		status = run_proof(in, q, call, out);
	if (status != PCTL_OK || q->sharded)
		return status;
	status = pctl_certificate_make(in, out->dir, NULL, q->dir == NULL, call, &out->certificate);
	if (status == PCTL_OK && q->dir == NULL)
		remove_dir(out->dir);
	return status;
}

void pctl_certified_clear(pctl_certified *c)
{
	pctl_certificate_destroy(c->certificate);
	*c = (pctl_certified){.selector = NULL};
}
