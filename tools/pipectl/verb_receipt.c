/* Verbs over receipts that need no device: show, verify. */
#include "block.h"
#include "receipt.h"

/* What the proof is of, not whether it holds: verify says that. */
static void print_proof(pctl_app *app, const pctl_app_receipt *r)
{
	pctl_app_print_count(app, "proof_height", r->proof.height);
	pctl_app_print_word(app, "proof_table", r->proof.table);
	pctl_app_print_word(app, "proof_row", r->proof.n_row != 0 ? "there" : "none");
}

/* --trust: which block is trusted; without it the proof holds for the block that it names, and that is said. */
static pctl_status check_proof(pctl_app *app, const pctl_app_receipt *r,
			       char root[2 * PCTL_DIGEST_BYTES + 1])
{
	const char *id = pctl_option_value(&app->line, "--trust");
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_trusted trusted;
	pctl_status status;

	root[0] = '\0';
	if (!r->has_proof || r->block == NULL)
		return r->has_proof || id != NULL
			       ? pctl_refuse(app->call, PC5915_RECEIPT_ROW, "%s: %s", r->path,
					     r->has_proof ? "the receipt is of a run"
							  : "there is no proof in it")
			       : PCTL_OK;
	if (id != NULL) {
		status = pctl_trusted_read(id, app->call, &trusted);
		if (status != PCTL_OK)
			return status;
	}
	status = pctl_receipt_proof_check(r->block, &r->proof, id == NULL ? NULL : &trusted,
					  app->call, digest);
	if (status == PCTL_OK)
		pctl_digest_hex(digest, root);
	return status;
}

pctl_status pctl_verb_receipt_show(pctl_app *app)
{
	pctl_app_receipt r;
	pctl_status status = pctl_app_receipt_open(app, app->line.arguments[0], &r);

	if (status == PCTL_OK)
		pctl_app_print_receipt(app, &r);
	if (status == PCTL_OK && r.has_proof)
		print_proof(app, &r);
	pctl_app_receipt_close(&r);
	return status;
}

static pctl_status verify_file(pctl_app *app, const char *path)
{
	char root[2 * PCTL_DIGEST_BYTES + 1];
	pctl_some_receipt some;
	const char *signer;
	pctl_app_receipt r;
	pctl_status status = pctl_app_receipt_open(app, path, &r);

	if (status != PCTL_OK)
		goto out;
	some = (pctl_some_receipt){r.run, r.block};
	signer = pctl_some_receipt_signer(&some);
	status = pctl_some_receipt_verify(&app->host, &some,
					  pctl_option_value(&app->line, "--signer"),
					  pctl_option_has(&app->line, "--store"), app->call);
	if (status == PCTL_OK)
		status = check_proof(app, &r, root);
	if (status != PCTL_OK)
		goto out;
	if (app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_string(&app->document, "signer", signer);
		if (root[0] != '\0')
			pctl_json_kv_string(&app->document, "state", root);
		pctl_json_object_end(&app->document);
	} else if (!app->quiet) {
		printf("%s: ok, signed by %s%s%s%s\n", path, signer,
		       root[0] == '\0' ? "" : ", in the state ", root,
		       root[0] == '\0' || pctl_option_has(&app->line, "--trust")
			       ? ""
			       : " (--trust ID: the block that is trusted)");
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
