/* Verbs over receipts that need no device: show, verify. */
#include <string.h>

#include "receipt.h"

pctl_status pctl_verb_receipt_show(pctl_app *app)
{
	pctl_app_receipt r;
	pctl_status status = pctl_app_receipt_open(app, app->line.arguments[0], &r);

	if (status == PCTL_OK)
		pctl_app_print_receipt(app, &r);
	pctl_app_receipt_close(&r);
	return status;
}

static pctl_status has_all(pctl_app *app, const pctl_block_receipt *r)
{
	const pctl_block_statement *items = r->is_job ? &r->job : r->all.items;
	char cid[PCTL_CID_TEXT_SIZE], hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < (r->is_job ? 1 : r->all.n); i++) {
		const pctl_cid *missing = pctl_store_has(app->host.store, &items[i].program)
						  ? NULL
						  : &items[i].program;

		for (uint32_t k = 0; k < items[i].n_inputs; k++)
			if (!pctl_store_has(app->host.store, &items[i].inputs[k].cid))
				missing = &items[i].inputs[k].cid;
		if (items[i].complete && !pctl_store_has(app->host.store, &items[i].output))
			missing = &items[i].output;
		if (missing != NULL)
			status = pctl_refuse(app->call, PC5904_RECEIPT_MISSING, "%s: of job %s, %s",
					     r->name, pctl_digest_hex(items[i].job, hex),
					     pctl_cid_format(missing, cid));
	}
	return status;
}

static pctl_status verify_file(pctl_app *app, const char *path)
{
	const char *want = pctl_option_value(&app->line, "--signer"), *signer;
	pctl_app_receipt r;
	pctl_status status = pctl_app_receipt_open(app, path, &r);

	if (status != PCTL_OK)
		goto out;
	signer = r.run != NULL ? r.run->signer : r.block->signer;
	if (want != NULL && strcmp(want, signer) != 0) {
		status = pctl_refuse(app->call, PC5906_RECEIPT_SIGNER, "%s was signed by %s", path,
				     signer);
		goto out;
	}
	if (pctl_option_has(&app->line, "--store")) {
		status = pctl_installation_store(&app->host, app->call);
		if (status == PCTL_OK)
			status = r.run != NULL
					 ? pctl_receipt_in_store(r.run, app->host.store, app->call)
					 : has_all(app, r.block);
	}
	if (status != PCTL_OK)
		goto out;
	if (app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_string(&app->document, "signer", signer);
		pctl_json_object_end(&app->document);
	} else if (!app->quiet) {
		printf("%s: ok, signed by %s\n", path, signer);
	}
out:
	pctl_app_receipt_close(&r);
	return status;
}

pctl_status pctl_verb_receipt_verify(pctl_app *app)
{
	pctl_status first = PCTL_OK;

	if (app->json) {
		pctl_json_key(&app->document, "receipts");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		pctl_status status = verify_file(app, app->line.arguments[i]);

		if (first == PCTL_OK)
			first = status;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}
