/* `certs`: which certificates there are and what they say. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foundation/base/file.h"
#include "certify.h"
#include "host/document.h"

/* ---- one certificate ---------------------------------------------------------------------- */

static void print_unit(const pctl_certificate_unit *u)
{
	printf("  %-12s %-28s %-24s %s: %" PRIu64 " judged", pctl_unit_kind_name(u->kind),
	       u->subject, u->name, u->domain, u->cases);
	if (u->skipped != 0)
		printf(" of %" PRIu64 ", the others skipped", u->cases + u->skipped);
	if (u->failures != 0)
		printf(", %" PRIu64 " FAILED", u->failures);
	if (u->not_run != 0)
		printf(", %" PRIu64 " of %" PRIu64 " blocks not run: %s", u->not_run, u->n_blocks,
		       u->cause);
	if (u->value[0] != '\0')
		printf(", %s", u->value);
	printf("\n");
	if (u->failed)
		printf("    %s with %s gave %s, not %s\n", u->first.law, u->first.inputs,
		       u->first.got, u->first.want);
}

void pctl_app_print_certificate(pctl_app *app, const pctl_certificate *c, int full)
{
	char asked[8], got[8], hex[2 * PCTL_DIGEST_BYTES + 1];
	const pctl_certificate_unit *programs = pctl_certificate_programs(c);

	if (app->json) {
		pctl_document_certificate(&app->document, c, full);
		return;
	}
	pctl_level_name(c->params.level, c->params.track, asked);
	pctl_level_name(c->granted, c->params.track, got);
	printf("granted    %s%s%s%s%s\n", got, c->granted == c->params.level ? "" : " of ",
	       c->granted == c->params.level ? "" : asked, c->cause[0] == '\0' ? "" : ": ",
	       c->cause);
	printf("device     %s, %s\n", c->device, c->driver);
	printf("backend    %s %s, %.16s; with its driver's libraries %.16s\n", c->backend,
	       c->backend_version, c->backend_sha256, c->driver_files);
	printf("libraries ");
	for (uint32_t i = 0; i < c->n_libraries; i++)
		printf("%s %s %.16s", i == 0 ? "" : ",", c->libraries[i].key,
		       c->libraries[i].value);
	printf("\nhost       %.16s, semantics %s, %s, %s\n", c->host, c->semantics, c->suite,
	       c->kit);
	printf("proved     %u operations, %u units, %" PRIu64 " cases judged, %" PRIu64
	       " failed, %" PRIu64 " skipped; %" PRIu64 " of %" PRIu64 " blocks not run\n",
	       c->n_ops, c->n_units, c->cases, c->failures, c->skipped, c->not_run, c->n_blocks);
	if (programs != NULL)
		printf("programs   %" PRIu64 " of %" PRIu64 " generated programs run, %" PRIu64
		       " failed\n",
		       programs->cases, programs->planned, programs->failures);
	printf("digest     %s\n", pctl_digest_hex(c->digest, hex));
	printf("made       %s by pipectl %s, seed %" PRIu64 ", %" PRIu64 " random cases a unit\n",
	       c->made, c->version, c->params.seed, c->params.cases);
	if (c->confirmed.of[0] != '\0')
		printf("confirmed  from %.16s, sample %g, %" PRIu64 " digests, %" PRIu64 " cases\n",
		       c->confirmed.of, (double)c->confirmed.sample_ppm / 1e6, c->confirmed.strips,
		       c->confirmed.cases);
	for (uint32_t i = 0; full && i < c->n_late; i++)
		printf("late       %s %s\n", c->late[i].key, c->late[i].value);
	if (full && c->shapes[0] != '\0')
		printf("shapes     %s\n", c->shapes);
	printf("file       %s\n", c->path);
	for (uint32_t i = 0; full && i < c->n_ops; i++)
		printf("  %-28s %s%s%s\n", c->ops[i].op,
		       pctl_level_name(c->ops[i].level, c->params.track, got),
		       c->ops[i].cause[0] == '\0' ? "" : ": ", c->ops[i].cause);
	for (uint32_t i = 0; full && i < c->n_units; i++)
		print_unit(&c->units[i]);
}

/* ---- list --------------------------------------------------------------------------------- */

/* Devices by profile key, in the order in which certificates name them, and ops by name. */
typedef struct table {
	const pctl_certificate **devices;
	const char **ops;
	uint32_t n_devices, n_ops;
} table;

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A column of the table: what people call the device, with its driver. Cards of one kind share it; policy counts each
 * card's own certificates alone. */
static int is_alike(const pctl_certificate *a, const pctl_certificate *b)
{
	return strcmp(a->device, b->device) == 0 && strcmp(a->driver, b->driver) == 0;
}

static pctl_status make_table(pctl_app *app, const pctl_found *f, table *t)
{
	uint32_t n = 0;

	*t = (table){NULL, NULL, 0, 0};
	for (uint32_t i = 0; i < f->n; i++)
		n += f->items[i].c->n_ops;
	t->devices = pctl_arena_array(app->arena, f->n + 1u, sizeof(*t->devices));
	t->ops = pctl_arena_array(app->arena, n + 1u, sizeof(*t->ops));
	if (t->devices == NULL || t->ops == NULL)
		return pctl_no_memory(app->call, "certificates");
	for (uint32_t i = 0; i < f->n; i++) {
		const pctl_certificate *c = f->items[i].c;
		uint32_t k = 0;

		while (k < t->n_devices && !is_alike(t->devices[k], c))
			k++;
		if (k == t->n_devices)
			t->devices[t->n_devices++] = c;
		for (k = 0; k < c->n_ops; k++)
			t->ops[t->n_ops++] = c->ops[k].op;
	}
	if (t->n_ops != 0)
		qsort(t->ops, t->n_ops, sizeof(*t->ops), by_text);
	n = 0;
	for (uint32_t i = 0; i < t->n_ops; i++)
		if (i == 0 || strcmp(t->ops[i], t->ops[i - 1]) != 0)
			t->ops[n++] = t->ops[i];
	t->n_ops = n;
	return PCTL_OK;
}

/* Does it count for anything here, if its device is the one in use? */
static int counts(const pctl_found_certificate *x)
{
	return x->trusted && x->note[0] == '\0' && x->claim[0] == '\0';
}

/* The levels of all tracks that certificates (claims 0) or claims of other files (1) give op on a device: "L2", "L2f",
 * or "" */
static void levels_of(const pctl_found *f, const char *op, const pctl_certificate *device,
		      int claims, char out[32])
{
	char name[8];

	out[0] = '\0';
	for (uint32_t track = PCTL_TRACK_INTEGER; track <= PCTL_TRACK_APPROXIMATE; track++) {
		uint32_t best = 0;

		for (uint32_t i = 0; i < f->n; i++) {
			const pctl_certificate *c = f->items[i].c;

			if (c->params.track != track || !is_alike(c, device) ||
			    counts(&f->items[i]) == claims)
				continue;
			for (uint32_t k = 0; k < c->n_ops; k++)
				if (strcmp(c->ops[k].op, op) == 0 && c->ops[k].level > best)
					best = c->ops[k].level;
		}
		if (best != 0) {
			strcat(out, out[0] == '\0' ? "" : " ");
			strcat(out, pctl_level_name(best, track, name));
		}
	}
}

/* What its column says: the levels held, or those that are only claimed, in brackets. */
static void cell(const pctl_found *f, const char *op, const pctl_certificate *device, char out[40])
{
	char levels[32];

	levels_of(f, op, device, 0, levels);
	if (levels[0] != '\0') {
		snprintf(out, 40, "%s", levels);
		return;
	}
	levels_of(f, op, device, 1, levels);
	snprintf(out, 40, levels[0] == '\0' ? "-" : "(%s)", levels);
}

static void print_file(const pctl_found_certificate *x)
{
	const pctl_certificate *c = x->c;
	char got[8];

	printf("%s  %s%s, %" PRIu64 " cases, backend %s %.16s%s%s%s%s%s\n", c->path,
	       pctl_level_name(c->granted, c->params.track, got),
	       c->confirmed.of[0] == '\0' ? "" : " confirmed by a sample", c->cases, c->backend,
	       c->backend_sha256, x->trusted ? "" : "; its signer is not trusted here",
	       x->note[0] == '\0' ? "" : "; ", x->note, x->claim[0] == '\0' ? "" : "; ", x->claim);
}

/* A column a device, known by its letter. */
static void print_levels(const pctl_found *f, const table *t, const pctl_call *call)
{
	pctl_column *columns = calloc(t->n_devices + (size_t)1, sizeof(*columns));
	static const char letters[26][2] = {"A", "B", "C", "D", "E", "F", "G", "H", "I",
					    "J", "K", "L", "M", "N", "O", "P", "Q", "R",
					    "S", "T", "U", "V", "W", "X", "Y", "Z"};
	pctl_table *out = NULL;
	char levels[40];

	if (columns != NULL) {
		columns[0] = (pctl_column){"operation", "", 28};
		for (uint32_t d = 0; d < t->n_devices; d++)
			columns[1 + d] = (pctl_column){letters[d % 26], " ", 7};
		out = pctl_table_begin(columns, 1 + t->n_devices, PCTL_TABLE_HEADS);
	}
	for (uint32_t i = 0; i < t->n_ops; i++) {
		pctl_table_cell(out, "%s", t->ops[i]);
		for (uint32_t d = 0; d < t->n_devices; d++) {
			cell(f, t->ops[i], t->devices[d], levels);
			pctl_table_cell(out, "%s", levels);
		}
	}
	(void)pctl_table_end(out, call);
	free(columns);
}

static void print_table(const pctl_found *f, const table *t, const pctl_call *call)
{
	uint32_t n_claims = 0;

	for (uint32_t d = 0; d < t->n_devices; d++)
		printf("%c  %s, %s\n", 'A' + (int)(d % 26), t->devices[d]->device,
		       t->devices[d]->driver);
	printf("\n");
	print_levels(f, t, call);
	printf("\ncertificates of the files installed here\n");
	for (uint32_t i = 0; i < f->n; i++) {
		if (counts(&f->items[i]))
			print_file(&f->items[i]);
		n_claims += !counts(&f->items[i]);
	}
	if (n_claims != 0)
		printf("\nclaims, which count for nothing until `pipectl certify confirm` has "
		       "tried a sample of them here\n");
	for (uint32_t i = 0; i < f->n; i++)
		if (!counts(&f->items[i]))
			print_file(&f->items[i]);
	if (f->n_refused != 0)
		printf("%u further files are no valid certificates\n", f->n_refused);
}

static void json_table(pctl_app *app, const pctl_found *f, const table *t)
{
	pctl_json *j = &app->document;
	char levels[32], claims[32];

	pctl_json_key(j, "operations");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < t->n_ops; i++) {
		for (uint32_t d = 0; d < t->n_devices; d++) {
			levels_of(f, t->ops[i], t->devices[d], 0, levels);
			levels_of(f, t->ops[i], t->devices[d], 1, claims);
			if (levels[0] == '\0' && claims[0] == '\0')
				continue;
			pctl_json_object_begin(j);
			pctl_json_kv_string(j, "op", t->ops[i]);
			pctl_json_kv_string(j, "device", t->devices[d]->device);
			pctl_json_kv_string(j, "profile", t->devices[d]->profile);
			pctl_json_kv_string(j, "levels", levels);
			pctl_json_kv_string(j, "claims", claims);
			pctl_json_object_end(j);
		}
	}
	pctl_json_array_end(j);
	pctl_json_key(j, "certificates");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < f->n; i++) {
		pctl_json_object_begin(j);
		pctl_document_certificate(&app->document, f->items[i].c, 0);
		pctl_json_kv_bool(j, "trusted", (int)f->items[i].trusted);
		pctl_json_kv_string(j, "note", f->items[i].note);
		pctl_json_kv_string(j, "claim", f->items[i].claim);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
	pctl_json_kv_u32(j, "refused", f->n_refused);
}

pctl_status pctl_verb_certs_list(pctl_app *app)
{
	const pctl_found *f;
	table t;
	pctl_status status = pctl_installation_certificates(&app->host, app->call);

	f = app->host.certificates;
	if (status == PCTL_OK)
		status = make_table(app, f, &t);
	if (status == PCTL_OK && app->json)
		json_table(app, f, &t);
	else if (status == PCTL_OK)
		print_table(f, &t, app->call);
	return status;
}

/* ---- show --------------------------------------------------------------------------------- */

static int names(const pctl_certificate *c, const char *word)
{
	return strcmp(c->selector, word) == 0 || strcmp(c->profile, word) == 0 ||
	       strcasestr(c->device, word) != NULL || strcasestr(c->driver, word) != NULL;
}

static pctl_status show_file(pctl_app *app, const char *path)
{
	pctl_certificate *c = NULL;
	pctl_status status = pctl_certificate_read(path, app->call, &c);

	if (status == PCTL_OK && app->json)
		pctl_json_object_begin(&app->document);
	if (status == PCTL_OK)
		pctl_app_print_certificate(app, c, 1);
	if (status == PCTL_OK && app->json)
		pctl_json_object_end(&app->document);
	pctl_certificate_destroy(c);
	return status;
}

static pctl_status show_device(pctl_app *app, const char *word)
{
	const pctl_found *f;
	uint32_t n = 0;
	pctl_status status = pctl_installation_certificates(&app->host, app->call);

	f = app->host.certificates;
	for (uint32_t i = 0; status == PCTL_OK && i < f->n; i++) {
		if (!names(f->items[i].c, word))
			continue;
		if (n++ != 0 && !app->json)
			printf("\n");
		if (app->json)
			pctl_json_object_begin(&app->document);
		pctl_app_print_certificate(app, f->items[i].c, 1);
		if (app->json)
			pctl_json_object_end(&app->document);
	}
	if (status == PCTL_OK && n == 0)
		status = pctl_refuse(
			app->call, PC5540_NO_CERTIFICATE,
			"no certificate is of a device \"%s\", and no file has that name", word);
	return status;
}

pctl_status pctl_verb_certs_show(pctl_app *app)
{
	const char *what = app->line.arguments[0];
	pctl_status status;

	if (app->json) {
		pctl_json_key(&app->document, "certificates");
		pctl_json_array_begin(&app->document);
	}
	status = pctl_file_exists(what) ? show_file(app, what) : show_device(app, what);
	if (app->json)
		pctl_json_array_end(&app->document);
	return status;
}
