/* Wasmtime of one chain: loaded when it is first needed, and the modules that were called last. */
#include "chain/contracts/contract_runtime.h"

#include <stdlib.h>
#include <string.h>

#include "chain/data/data.h"
#include "foundation/diag/diag.h"

#define KEPT 16u /* compiled modules */

typedef struct kept_module {
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_wasm_module *module;
	uint64_t used; /* a counter: when last */
} kept_module;

typedef struct pctl_contract_runtime {
	pctl_wasm *wasm;
	kept_module kept[KEPT];
	uint64_t n_used;
} pctl_contract_runtime;

void pctl_contract_runtime_close(pctl_contract_runtime *r)
{
	if (r == NULL)
		return;
	for (uint32_t i = 0; i < KEPT; i++)
		pctl_wasm_release(r->kept[i].module);
	pctl_wasm_close(r->wasm);
	free(r);
}

/* What fails here is this node's, whatever its words and its code: they stand in the message. */
static pctl_status trouble(const pctl_diag_list *said, pctl_status status, const pctl_call *call)
{
	if (status == PCTL_OK || status == PCTL_E_NOMEM)
		return status;
	for (uint32_t i = 0; i < pctl_diag_list_count(said); i++)
		if (pctl_diag_list_at(said, i)->severity == PCTL_SEVERITY_ERROR)
			return pctl_refuse(call, PC6128_CONTRACT_NODE, "%s",
					   pctl_diag_list_at(said, i)->message);
	return pctl_refuse(call, PC6128_CONTRACT_NODE, "Wasmtime gave no reason");
}

static pctl_status open_wasm(const char *path, const pctl_call *call, pctl_wasm **out)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_status status;

	if (said == NULL)
		return pctl_no_memory(call, "a runtime");
	status = trouble(said, pctl_wasm_open(path, pctl_diag_list_call(said), out), call);
	pctl_diag_list_destroy(said);
	return status;
}

pctl_status pctl_contract_wasm(pctl_chain *c, const pctl_call *call, pctl_wasm **out)
{
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (c->wasm == NULL)
		return pctl_refuse(call, PC6128_CONTRACT_NODE,
				   "nobody said where Wasmtime's library is");
	if (c->contracts == NULL)
		c->contracts = calloc(1, sizeof(*c->contracts));
	if (c->contracts == NULL)
		return pctl_no_memory(call, "a runtime");
	if (c->contracts->wasm == NULL)
		status = open_wasm(c->wasm, call, &c->contracts->wasm);
	*out = c->contracts->wasm;
	return status;
}

pctl_status pctl_contracts_ready(pctl_chain *c, const pctl_call *call)
{
	pctl_wasm *w;

	return pctl_contract_wasm(c, NULL, &w) == PCTL_OK
		       ? PCTL_OK
		       : pctl_refuse_at(
				 call, PC6114_NODE_CONTRACTS, NULL,
				 "tools/packaging/install-wasm installs it, PIPECTL_WASMTIME "
				 "says where it is",
				 "this chain takes contracts, and Wasmtime cannot be loaded from "
				 "%s",
				 c->wasm == NULL ? "anywhere" : c->wasm);
}

/* The place of a module: its own, else the one that was not used for longest. */
static kept_module *place_of(pctl_contract_runtime *r, const char *cid)
{
	kept_module *oldest = &r->kept[0];

	for (uint32_t i = 0; i < KEPT; i++) {
		if (strcmp(r->kept[i].cid, cid) == 0)
			return &r->kept[i];
		if (r->kept[i].used < oldest->used)
			oldest = &r->kept[i];
	}
	return oldest;
}

static pctl_status compile(pctl_wasm *w, const pctl_blob *blob, const pctl_call *call,
			   pctl_wasm_module **out)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_status status;

	if (said == NULL)
		return pctl_no_memory(call, "a module");
	status = trouble(said,
			 pctl_wasm_compile(w, blob->data, (size_t)blob->n_bytes,
					   pctl_diag_list_call(said), out),
			 call);
	pctl_diag_list_destroy(said);
	return status;
}

pctl_status pctl_contract_compiled(pctl_chain *c, const char *cid_text, const pctl_call *call,
				   pctl_wasm_module **out)
{
	pctl_wasm_module *made = NULL;
	kept_module *place;
	pctl_blob blob;
	pctl_cid cid;
	pctl_wasm *w;
	pctl_status status = pctl_contract_wasm(c, call, &w);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	place = place_of(c->contracts, cid_text);
	if (strcmp(place->cid, cid_text) != 0) {
		status = pctl_cid_read(cid_text, call, &cid);
		if (status == PCTL_OK)
			status = pctl_data_get(c, &cid, call, &blob);
		if (status != PCTL_OK)
			return status;
		status = compile(w, &blob, call, &made);
		pctl_blob_release(&blob);
		if (status != PCTL_OK)
			return status;
		pctl_wasm_release(place->module);
		place->module = made;
		memcpy(place->cid, cid_text, strlen(cid_text) + 1);
	}
	place->used = ++c->contracts->n_used;
	*out = place->module;
	return PCTL_OK;
}
