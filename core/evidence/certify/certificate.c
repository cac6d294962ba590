/* Certificates in memory: made, described from a bench, summed up. */
#include "evidence/certify/certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/certify/level.h"
#include "runtime/exec/run.h"
#include "evidence/suite/suite.h"

pctl_status pctl_certificate_create(const pctl_call *call, pctl_certificate **out)
{
	pctl_certificate *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (c == NULL || (c->arena = pctl_arena_create()) == NULL) {
		free(c);
		return pctl_no_memory(call, "a certificate");
	}
	c->version = c->device = c->driver = c->selector = c->profile = "";
	c->backend = c->backend_version = c->backend_sha256 = c->driver_files = c->host = "";
	c->semantics = c->suite = c->kit = "";
	c->shapes = "";
	c->confirmed.of = c->confirmed.signer = "";
	c->cause = c->made = c->path = "";
	*out = c;
	return PCTL_OK;
}

void pctl_certificate_destroy(pctl_certificate *c)
{
	if (c == NULL)
		return;
	pctl_arena_destroy(c->arena);
	free(c);
}

const char *pctl_certificate_clean(pctl_arena *arena, const char *text)
{
	char *copy = pctl_arena_dup(arena, text == NULL ? "" : text);

	for (char *at = copy; at != NULL && *at != '\0'; at++)
		if (*at < ' ' || *at >= 0x7f)
			*at = ' ';
	return copy;
}

static int by_pair(const void *a, const void *b)
{
	const pctl_certificate_pair *x = a, *y = b;
	const int names = strcmp(x->key, y->key);

	return names != 0 ? names : strcmp(x->value, y->value);
}

/* Only what was read can be known again: of a file that had gone there is no hash. */
static int is_hash(const char *text, size_t n)
{
	return n == (size_t)2 * PCTL_DIGEST_BYTES && strspn(text, "0123456789abcdef") >= n;
}

pctl_status pctl_certificate_take_late(pctl_certificate *c, const char *lines,
				       const pctl_call *call)
{
	pctl_certificate_pair *pairs;
	uint32_t n = 0, kept = 0;

	for (const char *at = lines; *at != '\0'; at++)
		n += *at == '\n';
	pairs = pctl_arena_array(c->arena, n + 1u, sizeof(*pairs));
	n = 0;
	for (; pairs != NULL && lines[0] != '\0'; lines += strcspn(lines, "\n") + 1) {
		const size_t name = strcspn(lines, "\t\n"), all = strcspn(lines, "\n");

		if (name == all || !is_hash(lines + name + 1, all - name - 1))
			continue;
		pairs[n].key =
			pctl_certificate_clean(c->arena, pctl_arena_dup_n(c->arena, lines, name));
		pairs[n].value = pctl_arena_dup_n(c->arena, lines + name + 1, all - name - 1);
		if (pairs[n].key == NULL || pairs[n].value == NULL)
			return pctl_no_memory(call, "a certificate");
		n++;
	}
	if (pairs == NULL)
		return pctl_no_memory(call, "a certificate");
	if (n != 0)
		qsort(pairs, n, sizeof(*pairs), by_pair);
	for (uint32_t i = 0; i < n; i++)
		if (kept == 0 || by_pair(&pairs[kept - 1], &pairs[i]) != 0)
			pairs[kept++] = pairs[i];
	c->late = pairs;
	c->n_late = kept;
	return PCTL_OK;
}

/* ---- describing --------------------------------------------------------------------------- */

static pctl_status describe_device(pctl_certificate *c, pctl_proof_context *b,
				   const pctl_call *call)
{
	pctl_profile_record *r = calloc(1, sizeof(*r));
	const pctl_key_value *facts;
	pctl_certificate_pair *pairs;
	char key[PCTL_CID_TEXT_SIZE];
	pctl_status status = PCTL_OK;
	uint32_t n;

	if (r == NULL)
		return pctl_no_memory(call, "a certificate");
	n = pctl_session_identity(b->device, &facts);
	r->n_identity = n < PCTL_PROFILE_IDENTITY_MAX ? n : PCTL_PROFILE_IDENTITY_MAX;
	memcpy(r->identity, facts, r->n_identity * sizeof(*facts));
	snprintf(r->files, sizeof(r->files), "%s", pctl_session_files(b->device));
	c->driver_files = pctl_arena_dup(c->arena, r->files);
	status = pctl_session_settle(b->device, call);
	if (status == PCTL_OK)
		status = pctl_certificate_take_late(c, pctl_session_late(b->device), call);
	pairs = pctl_arena_array(c->arena, r->n_identity, sizeof(*pairs));
	if (status == PCTL_OK)
		status = pairs == NULL ? pctl_no_memory(call, "a certificate")
				       : pctl_profile_key(r, call);
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_identity; i++) {
		pairs[i].key = pctl_certificate_clean(c->arena, r->identity[i].key);
		pairs[i].value = pctl_certificate_clean(c->arena, r->identity[i].value);
	}
	c->identity = pairs;
	c->n_identity = r->n_identity;
	c->profile = pctl_arena_dup(c->arena, pctl_cid_format(&r->key, key));
	free(r);
	return status;
}

/* Each library of the op source once, in its order. */
static pctl_status describe_libraries(pctl_certificate *c, pctl_proof_context *b,
				      const pctl_call *call)
{
	const uint32_t n = b->ops == NULL ? 0 : b->ops->count(b->ops->ctx);
	pctl_certificate_pair *list = pctl_arena_array(c->arena, n + 1u, sizeof(*list));

	if (list == NULL)
		return pctl_no_memory(call, "a certificate");
	c->libraries = list;
	c->n_libraries = 0;
	for (uint32_t i = 0; i < n; i++) {
		pctl_op_ref op;

		b->ops->at(b->ops->ctx, i, &op);
		if (op.plugin == NULL ||
		    (c->n_libraries > 0 && strcmp(list[c->n_libraries - 1].key, op.plugin) == 0))
			continue;
		list[c->n_libraries].key = pctl_certificate_clean(c->arena, op.plugin);
		list[c->n_libraries++].value = pctl_certificate_clean(c->arena, op.digest);
	}
	return PCTL_OK;
}

/* The file that the session loaded, not what a device says of its driver. */
static void describe_backend(pctl_certificate *c, const pctl_plugin_info *p)
{
	c->backend = pctl_certificate_clean(c->arena, p->id);
	c->backend_version = pctl_certificate_clean(c->arena, p->version);
	c->backend_sha256 = pctl_certificate_clean(c->arena, p->sha256);
}

pctl_status pctl_certificate_describe(pctl_certificate *c, pctl_proof_context *b,
				      const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	c->version = PIPECTL_VERSION;
	c->semantics = PCTL_SEMANTICS_VERSION;
	c->suite = PCTL_SUITE_VERSION;
	c->kit = PCTL_PROBE_KIT;
	if (b->registry != NULL) {
		const char *host;

		status = pctl_registry_host(b->registry, call, &host);
		c->host = status == PCTL_OK ? pctl_arena_dup(c->arena, host) : "";
	}
	if (status == PCTL_OK && b->device != NULL && pctl_session_plugin(b->device) != NULL)
		describe_backend(c, pctl_session_plugin(b->device));
	if (b->entry != NULL) {
		c->device = pctl_certificate_clean(c->arena, b->entry->name);
		c->driver = pctl_certificate_clean(c->arena, b->entry->driver);
		c->selector = pctl_certificate_clean(c->arena, b->entry->selector);
	}
	if (status == PCTL_OK && b->device != NULL)
		status = describe_device(c, b, call);
	if (status == PCTL_OK)
		status = describe_libraries(c, b, call);
	if (status == PCTL_OK &&
	    (c->device == NULL || c->driver == NULL || c->selector == NULL || c->backend == NULL ||
	     c->backend_version == NULL || c->backend_sha256 == NULL || c->driver_files == NULL ||
	     c->host == NULL))
		status = pctl_no_memory(call, "a certificate");
	return status;
}

/* ---- summing up --------------------------------------------------------------------------- */

pctl_status pctl_certificate_strips(pctl_certificate *c, const pctl_call *call)
{
	uint64_t most = PCTL_CERTIFICATE_STRIPS / (c->n_units + 1u);

	if (most > PCTL_CERTIFICATE_UNIT_STRIPS)
		most = PCTL_CERTIFICATE_UNIT_STRIPS;
	if (most < 1)
		most = 1;
	for (uint32_t i = 0; i < c->n_units; i++) {
		pctl_certificate_unit *u = &c->units[i];

		if (u->flags & PCTL_UNIT_MEASURED)
			continue;
		for (u->strip = 1; (u->n_blocks + u->strip - 1) / u->strip > most;)
			u->strip *= 2;
		u->n_strips = (uint32_t)((u->n_blocks + u->strip - 1) / u->strip);
		u->digests = pctl_arena_array(c->arena, u->n_strips, sizeof(*u->digests));
		if (u->digests == NULL)
			return pctl_no_memory(call, "a certificate");
	}
	return PCTL_OK;
}

static pctl_status total_digest(pctl_certificate *c, const pctl_call *call)
{
	pctl_hasher *h = NULL;
	pctl_status status = pctl_hasher_create(call, &h);

	for (uint32_t i = 0; status == PCTL_OK && i < c->n_units; i++)
		if (c->units[i].n_strips != 0)
			status = pctl_hasher_update(h, c->units[i].digests,
						    (uint64_t)c->units[i].n_strips *
							    PCTL_DIGEST_BYTES);
	return pctl_hasher_end(h, status, c->digest);
}

/* Every op that a unit is of, in the order of the units. */
static pctl_status list_ops(pctl_certificate *c, const pctl_call *call)
{
	c->n_ops = 0;
	c->ops = pctl_arena_array(c->arena, c->n_units + 1u, sizeof(*c->ops));
	if (c->ops == NULL)
		return pctl_no_memory(call, "a certificate");
	for (uint32_t i = 0; i < c->n_units; i++) {
		const char *op = c->units[i].op;
		uint32_t k = 0;

		if (op[0] == '\0')
			continue;
		while (k < c->n_ops && strcmp(c->ops[k].op, op) != 0)
			k++;
		if (k == c->n_ops)
			c->ops[c->n_ops++].op = op;
	}
	return PCTL_OK;
}

pctl_status pctl_certificate_finish(pctl_certificate *c, const pctl_call *call)
{
	char cause[PCTL_LEVEL_CAUSE];
	pctl_status status = total_digest(c, call);

	c->n_blocks = c->cases = c->failures = c->skipped = c->not_run = 0;
	for (uint32_t i = 0; i < c->n_units; i++) {
		const pctl_certificate_unit *u = &c->units[i];

		c->n_blocks += u->n_blocks;
		c->cases += u->cases;
		c->failures += u->failures;
		c->skipped += u->skipped;
		c->not_run += u->not_run;
	}
	if (status == PCTL_OK)
		status = list_ops(c, call);
	for (uint32_t i = 0; status == PCTL_OK && i < c->n_ops; i++) {
		c->ops[i].level = pctl_certificate_level(c, c->ops[i].op, cause);
		c->ops[i].cause = pctl_certificate_clean(c->arena, cause);
		if (c->ops[i].cause == NULL)
			status = pctl_no_memory(call, "a certificate");
	}
	c->granted = pctl_certificate_level(c, NULL, cause);
	c->cause = pctl_certificate_clean(c->arena, cause);
	return status == PCTL_OK && c->cause == NULL ? pctl_no_memory(call, "a certificate")
						     : status;
}
