/* Implementation of confirm.h. */
#include "evidence/certify/confirm.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "evidence/certify/found.h"
#include "foundation/conf/conf.h"
#include "evidence/suite/suite.h"

static pctl_status refuse(const pctl_certificate *c, const char *what, const char *there,
			  const char *here, const pctl_call *call)
{
	return pctl_refuse(call, PC5541_CLAIM_OTHER,
			   "%s: %s is \"%s\" in the certificate and \"%s\" on this machine",
			   c->path, what, there, here);
}

/* Trying it can only tell of the same device, driven by a plugin of the same name, with the same units. */
static pctl_status check(const pctl_certificate *c, const pctl_proof_context *b,
			 const pctl_call *call)
{
	const pctl_plugin_info *plugin = pctl_session_plugin(b->device);
	const pctl_key_value *identity;
	const uint32_t n = pctl_session_identity(b->device, &identity);

	if (plugin == NULL || strcmp(plugin->id, c->backend) != 0)
		return refuse(c, "the backend", c->backend, plugin == NULL ? "" : plugin->id, call);
	if (!pctl_found_same_device(c, identity, n))
		return refuse(c, "the device, by its identity facts,", c->device,
			      pctl_session_name(b->device), call);
	if (strcmp(c->semantics, PCTL_SEMANTICS_VERSION) != 0)
		return refuse(c, "the semantics", c->semantics, PCTL_SEMANTICS_VERSION, call);
	if (strcmp(c->suite, PCTL_SUITE_VERSION) != 0)
		return refuse(c, "the engine suite", c->suite, PCTL_SUITE_VERSION, call);
	if (strcmp(c->kit, PCTL_PROBE_KIT) != 0)
		return refuse(c, "the probe kit", c->kit, PCTL_PROBE_KIT, call);
	return PCTL_OK;
}

static pctl_status note(pctl_certificate *c, const pctl_certify_replay_options *o,
			const pctl_replay_outcome *done, const pctl_call *call)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], *text = NULL;
	pctl_certificate_confirmed *k = &c->confirmed;
	uint64_t n = 0;
	pctl_cid cid;
	pctl_status status =
		pctl_file_read(c->path, PCTL_CONF_FILE_BYTES_MAX + 1024u, call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_cid_of(text, n, call, &cid);
	free(text);
	if (status != PCTL_OK)
		return status;
	k->of = pctl_arena_dup(c->arena, pctl_digest_hex(cid.digest, hex));
	k->signer = pctl_arena_dup(c->arena, c->signer);
	k->sample_ppm = o->sample_ppm;
	k->seed = o->seed;
	k->strips = done->compared;
	k->cases = done->cases;
	return k->of != NULL && k->signer != NULL ? PCTL_OK : pctl_no_memory(call, "a certificate");
}

pctl_status pctl_certify_confirm(pctl_certificate *c, const pctl_certify_replay_options *o,
				 const pctl_call *call, pctl_replay_outcome *out)
{
	pctl_certify_replay_options sample = *o;
	pctl_status status = check(c, o->context, call);

	*out = (pctl_replay_outcome){0};
	sample.flags |= PCTL_REPLAY_EVERY_OP;
	if (status == PCTL_OK)
		status = pctl_certify_replay(c, &sample, call, out);
	if (status == PCTL_OK && out->compared == 0)
		status = pctl_refuse(call, PC5532_REPLAY_NOTHING, "no digest of %s was compared",
				     c->path);
	if (status == PCTL_OK)
		status = note(c, o, out, call);
	if (status == PCTL_OK)
		status = pctl_certificate_describe(c, o->context, call);
	return status == PCTL_OK ? pctl_certificate_finish(c, call) : status;
}
