/* The bytes that a job of this home names, made state before it: see provide.h. */
#include "chain/home/provide.h"

#include <string.h>

#include "chain/data/data.h"
#include "chain/registry/rules.h"

#define STAY_BLOCKS 1024u /* or blob_blocks_max, where that is less */

static pctl_status send(pctl_chain *c, const char *sender, const pctl_blob *blob, uint64_t most,
			const pctl_call *call)
{
	const pctl_request r = {.kind = PCTL_MSG_BLOB,
				.as.blob = {.sender = sender,
					    .data = blob->data,
					    .n_data = blob->n_bytes,
					    .blocks = STAY_BLOCKS < most ? STAY_BLOCKS : most}};

	return pctl_chain_apply(c, &r, call, NULL);
}

/* What this home has not either is refused where the job is taken in. */
static pctl_status provide(pctl_chain *c, const pctl_taking *t, const char *sender,
			   const char *text)
{
	pctl_blob blob;
	pctl_cid cid;
	uint64_t n;
	int found;
	pctl_status status = pctl_data_look(t, text, &found, &n);

	if (status != PCTL_OK || found || !pctl_cid_parse(text, &cid) ||
	    !pctl_store_has(pctl_chain_store(c), &cid))
		return status;
	status = pctl_store_get(pctl_chain_store(c), &cid, t->call, &blob);
	if (status != PCTL_OK)
		return status;
	status = send(c, sender, &blob, t->params.values[PCTL_PARAM_BLOB_BLOCKS_MAX], t->call);
	pctl_blob_release(&blob);
	return status;
}

pctl_status pctl_home_provide(pctl_chain *c, const pctl_msg_execute *m, const pctl_call *call)
{
	pctl_taking t = {.c = c, .s = pctl_cursor(c), .call = call};
	pctl_chain_info info;
	const char *cid;
	pctl_status status = pctl_chain_last(c, call, &info);

	t.height = info.last + 1;
	if (status == PCTL_OK)
		status = pctl_params_in_force(t.s, t.height, call, &t.params);
	if (status != PCTL_OK || t.params.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED)
		return status;
	for (uint32_t i = 0; status == PCTL_OK && (cid = pctl_data_named(m, i)) != NULL; i++)
		if (cid[0] != '\0')
			status = provide(c, &t, m->sender, cid);
	return status;
}
