/* Signing blocks as they end; see signing.h. */
#include "chain/home/signing.h"

#include <string.h>

#include "chain/accounts/account.h"
#include "chain/blocks/block.h"
#include "chain/home/stated.h"
#include "evidence/receipt/block_receipt.h"

const char *pctl_home_receipts(pctl_installation *in)
{
	return pctl_arena_printf(in->arena, "%s/chain/receipts", in->config->home);
}

/* The plugin that a device's selector begins with. */
static void plugin_facts(const pctl_installation *in, const char *executor, pctl_arena *arena,
			 pctl_block_signing *who)
{
	pctl_block_fact *facts = pctl_arena_array(arena, 3, sizeof(*facts));
	char *id = pctl_arena_dup_n(arena, executor, strcspn(executor, ": "));
	const pctl_plugin_info *p =
		id == NULL || in->registry == NULL ? NULL : pctl_registry_find(in->registry, id);

	if (facts == NULL || p == NULL)
		return;
	facts[0] = (pctl_block_fact){"plugin", p->id};
	facts[1] = (pctl_block_fact){"plugin-version", p->version == NULL ? "" : p->version};
	facts[2] = (pctl_block_fact){"plugin-sha256", p->sha256 == NULL ? "" : p->sha256};
	who->facts = facts;
	who->n_facts = 3;
}

/* How the outputs stand here, job by job in the order of the block's receipts, equal ones in a row together. */
static pctl_status standings_of(const pctl_home_signing *signing, const pctl_block_record *record,
				pctl_arena *arena, const pctl_call *call, pctl_block_signing *who)
{
	pctl_block_statements all;
	pctl_block_standing *to;
	pctl_status status =
		pctl_block_statements_read("receipts", record->text[PCTL_BLOCK_RECEIPTS],
					   record->n_bytes[PCTL_BLOCK_RECEIPTS], arena, call, &all);

	if (status != PCTL_OK)
		return status;
	to = pctl_arena_array(arena, all.n + (size_t)1, sizeof(*to));
	if (to == NULL)
		return pctl_no_memory(call, "a receipt");
	for (uint32_t i = 0; i < all.n; i++) {
		const pctl_evidence e = pctl_chain_evidence(signing->chain, all.items[i].job);

		if (who->n_standings == 0 ||
		    pctl_evidence_compare(to[who->n_standings - 1].evidence, e) != 0)
			to[who->n_standings++].evidence = e;
		to[who->n_standings - 1].n_jobs++;
	}
	who->standings = to;
	return PCTL_OK;
}

/* Under version 1 of the rules nothing is judged by it. */
static pctl_status write_statement(const pctl_home_signing *signing,
				   const pctl_block_header *header, const char *dir,
				   const pctl_signer *signer, const pctl_call *call)
{
	pctl_chain_state *s = pctl_cursor(signing->chain);
	uint8_t chain[PCTL_DIGEST_BYTES];
	pctl_params p;
	pctl_status status = pctl_params_in_force(s, header->height, call, &p);

	if (status != PCTL_OK || !pctl_params_has_stakes(&p))
		return status;
	status = pctl_chain_id(s, call, chain);
	return status == PCTL_OK
		       ? pctl_stated_write(dir, chain, header->height, header->root, signer, call)
		       : status;
}

static pctl_status sign_record(void *ctx, const pctl_block_record *record, const pctl_call *call)
{
	const pctl_home_signing *signing = ctx;
	const pctl_executor *executor = signing->executor;
	pctl_block_signing who = {.version = PIPECTL_VERSION, .executor = NULL};
	pctl_block_header header;
	pctl_signer *signer = NULL;
	pctl_arena *arena = pctl_arena_create();
	const char *dir = pctl_home_receipts(signing->in);
	pctl_status status = dir == NULL
				     ? pctl_no_memory(call, "a receipt")
				     : pctl_block_read_header(record, "the block", call, &header);

	if (status == PCTL_OK)
		status = pctl_installation_signer(signing->in, signing->call, &signer);
	if (executor != NULL && executor->describe != NULL)
		who.executor = executor->describe(executor->ctx);
	if (who.executor == NULL)
		who.executor = "none";
	if (status == PCTL_OK)
		status = arena == NULL ? pctl_no_memory(call, "a receipt")
				       : standings_of(signing, record, arena, call, &who);
	if (status == PCTL_OK) {
		memcpy(who.previous, header.previous, sizeof(who.previous));
		memcpy(who.state, header.root, sizeof(who.state));
		plugin_facts(signing->in, who.executor, arena, &who);
		status = pctl_block_receipt_write(dir, record->text[PCTL_BLOCK_RECEIPTS],
						  record->n_bytes[PCTL_BLOCK_RECEIPTS], &who,
						  signer, call);
		if (status == PCTL_OK)
			status = write_statement(signing, &header, dir, signer, call);
	}
	pctl_signer_close(signer);
	pctl_arena_destroy(arena);
	return status;
}

void pctl_home_sign_blocks(const pctl_home_signing *signing)
{
	pctl_chain_set_record(signing->chain, sign_record, (void *)(uintptr_t)signing);
}
