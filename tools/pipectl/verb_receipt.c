/* Verbs over receipts that need no device: show, verify. */
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

static pctl_status verify_file(pctl_app *app, const char *path)
{
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
