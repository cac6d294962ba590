/* Verbs of the store. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "chain/home/named.h"
#include "foundation/base/vec.h"

static pctl_status parse_cid(pctl_app *app, const char *text, pctl_cid *out)
{
	return pctl_cid_parse(text, out)
		       ? PCTL_OK
		       : pctl_refuse_at(
				 app->call, PC5005_CAS_CID, NULL,
				 "a CID of this store begins with bafkrei and has 59 lower-case "
				 "characters; the first 15 of them, or more, do where one blob "
				 "begins so",
				 "\"%s\" is not a CID, nor the beginning of one", text);
}

static void print_blob(pctl_app *app, const pctl_cid *cid, uint64_t n_bytes, const char *file)
{
	char text[PCTL_CID_TEXT_SIZE];

	pctl_cid_format(cid, text);
	if (app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "cid", text);
		pctl_json_kv_u64(&app->document, "bytes", n_bytes);
		if (file != NULL)
			pctl_json_kv_string(&app->document, "file", file);
		pctl_json_object_end(&app->document);
	}
}

static void array_begin(pctl_app *app)
{
	if (app->json) {
		pctl_json_key(&app->document, "blobs");
		pctl_json_array_begin(&app->document);
	}
}

static void array_end(pctl_app *app)
{
	if (app->json)
		pctl_json_array_end(&app->document);
}

pctl_status pctl_verb_cas_put(pctl_app *app)
{
	pctl_status status = pctl_installation_store(&app->host, app->call);

	array_begin(app);
	for (uint32_t i = 0; status == PCTL_OK && i < app->line.n_arguments; i++) {
		char text[PCTL_CID_TEXT_SIZE];
		uint64_t n_bytes;
		pctl_cid cid;

		status = strcmp(app->line.arguments[i], "-") == 0
				 ? pctl_store_put_fd(app->host.store, STDIN_FILENO, app->call, &cid,
						     &n_bytes)
				 : pctl_store_put_file(app->host.store, app->line.arguments[i],
						       app->call, &cid, &n_bytes);
		if (status == PCTL_OK && pctl_option_has(&app->line, "--pin"))
			status = pctl_store_pin(app->host.store, &cid, app->call);
		if (status != PCTL_OK)
			break;
		pctl_app_progress_clear(app);
		print_blob(app, &cid, n_bytes, app->line.arguments[i]);
		if (!app->json)
			printf("%s\n", pctl_cid_format(&cid, text));
	}
	array_end(app);
	return status;
}

pctl_status pctl_verb_cas_get(pctl_app *app)
{
	const char *path = pctl_option_value(&app->line, "--out");
	pctl_status status = pctl_installation_store(&app->host, app->call);
	pctl_blob blob;
	pctl_cid cid;

	if (status == PCTL_OK)
		status = parse_cid(app, app->line.arguments[0], &cid);
	if (status == PCTL_OK && path != NULL)
		return pctl_store_get_file(app->host.store, &cid, path, app->call);
	if (status == PCTL_OK && app->json)
		return pctl_refuse(app->call, PC10_USAGE, "with --json give --out FILE");
	if (status == PCTL_OK)
		status = pctl_store_get(app->host.store, &cid, app->call, &blob);
	if (status != PCTL_OK)
		return status;
	pctl_app_progress_clear(app);
	fwrite(blob.data, 1, blob.n_bytes, stdout); /* main says what could not be written */
	pctl_blob_release(&blob);
	return status;
}

static int visit(void *ctx, const pctl_cid *cid, uint64_t n_bytes)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_app *app = ctx;

	print_blob(app, cid, n_bytes, NULL);
	if (!app->json) {
		pctl_table_cell(app->table, "%s", pctl_cid_format(cid, text));
		pctl_table_cell(app->table, "%" PRIu64, n_bytes);
	}
	return 0;
}

pctl_status pctl_verb_cas_ls(pctl_app *app)
{
	static const pctl_column columns[] = {{"cid", "", 0}, {"bytes", " ", 0}};
	pctl_status status = pctl_installation_store(&app->host, app->call);

	pctl_app_list_begin(app, "blobs", columns, PCTL_COLUMNS(columns));
	if (status == PCTL_OK)
		status = pctl_option_has(&app->line, "--pins")
				 ? pctl_store_list_pins(app->host.store, app->call, visit, app)
				 : pctl_store_list(app->host.store, app->call, visit, app);
	return pctl_app_list_end(app, status);
}

static pctl_status each(pctl_app *app, pctl_status (*act)(pctl_store *s, const pctl_cid *cid,
							  const pctl_call *call))
{
	pctl_status status = pctl_installation_store(&app->host, app->call);

	for (uint32_t i = 0; status == PCTL_OK && i < app->line.n_arguments; i++) {
		pctl_cid cid;

		status = parse_cid(app, app->line.arguments[i], &cid);
		if (status == PCTL_OK)
			status = act(app->host.store, &cid, app->call);
	}
	return status;
}

pctl_status pctl_verb_cas_pin(pctl_app *app)
{
	return each(app, pctl_store_pin);
}

pctl_status pctl_verb_cas_unpin(pctl_app *app)
{
	return each(app, pctl_store_unpin);
}

static void print_report(pctl_app *app, const pctl_store_report *r)
{
	pctl_app_progress_clear(app);
	if (app->json) {
		pctl_json *j = &app->document;

		pctl_json_kv_u64(j, "blobs", r->blobs);
		pctl_json_kv_u64(j, "bytes", r->bytes);
		pctl_json_kv_u64(j, "damaged", r->damaged);
		pctl_json_kv_u64(j, "removed", r->removed);
		pctl_json_kv_u64(j, "removed_bytes", r->removed_bytes);
		pctl_json_kv_u64(j, "held", r->held);
		pctl_json_kv_u64(j, "leftovers", r->garbage);
		return;
	}
	printf("%" PRIu64 " blobs, %" PRIu64 " bytes, %" PRIu64 " damaged, %" PRIu64
	       " removed (%" PRIu64 " bytes), %" PRIu64 " leftover files\n",
	       r->blobs, r->bytes, r->damaged, r->removed, r->removed_bytes, r->garbage);
	if (r->held != 0)
		printf("%" PRIu64 " more stay while a snapshot of the chain is being made: run it "
		       "again afterwards\n",
		       r->held);
}

/* CIDs that remembered results name, sorted. */
struct named {
	pctl_cid *items;
	uint32_t n, cap;
	int failed;
};

static int note_record(void *ctx, const uint8_t key[PCTL_DIGEST_BYTES], const pctl_memo_record *r)
{
	struct named *named = ctx;

	(void)key;
	for (uint32_t i = 0; i < r->n_outputs; i++) {
		if (!pctl_vec_reserve((void **)&named->items, named->n, &named->cap,
				      sizeof(*named->items))) {
			named->failed = 1;
			return 1;
		}
		named->items[named->n++] = r->outputs[i].cid;
	}
	return 0;
}

/* Bytes that the chain's state refers to stay, whatever else is asked for: others count on this node to have them. */
static int note_state(void *ctx, const pctl_cid *cid)
{
	struct named *named = ctx;

	if (!pctl_vec_reserve((void **)&named->items, named->n, &named->cap, sizeof(*named->items)))
		return 0;
	named->items[named->n++] = *cid;
	return 1;
}

static int order(const void *a, const void *b)
{
	return pctl_cid_compare(a, b);
}

static int keep(void *ctx, const pctl_cid *cid)
{
	const struct named *named = ctx;

	return named->n != 0 &&
	       bsearch(cid, named->items, named->n, sizeof(*named->items), order) != NULL;
}

pctl_status pctl_verb_cas_gc(pctl_app *app)
{
	struct named named = {NULL, 0, 0, 0};
	pctl_store_report report;
	pctl_status status = pctl_installation_memo(&app->host, app->call);

	if (status == PCTL_OK && app->host.config->memo && !pctl_option_has(&app->line, "--all"))
		status = pctl_memo_list(app->host.memo, app->call, note_record, &named);
	if (named.failed)
		status = pctl_refuse(app->call, PC2_NOMEM, "no memory to collect what is named");
	if (status == PCTL_OK)
		status = pctl_home_named(&app->host, note_state, &named, app->call);
	if (status == PCTL_OK) {
		if (named.n != 0)
			qsort(named.items, named.n, sizeof(*named.items), order);
		status = pctl_store_gc(app->host.store, app->host.config->gc_grace_s,
				       pctl_option_has(&app->line, "--dry-run"), keep, &named,
				       app->call, &report);
	}
	if (status == PCTL_OK)
		print_report(app, &report);
	free(named.items);
	return status;
}

pctl_status pctl_verb_cas_verify(pctl_app *app)
{
	pctl_store_report report = {.blobs = 0};
	pctl_status status = pctl_installation_store(&app->host, app->call);

	if (status != PCTL_OK)
		return status;
	status = pctl_store_verify(app->host.store, app->call, &report);
	print_report(app, &report);
	return status;
}
