/* An audit's result on the terminal: the devices, what differs down to the bits, how far natives go, the verdict. */
#include <inttypes.h>
#include <string.h>

#include "audit.h"
#include "evidence/audit/drift.h"

static void print_devices(const pctl_audit_result *r, const pctl_call *call)
{
	pctl_column columns[] = {{"device", "", 8},
				 {"runs", " ", -5},
				 {"time", " ", -12},
				 {"outcome", "  ", 16},
				 {"driver", " ", 0}};
	pctl_str_buf under = PCTL_STR_BUF_INIT;
	char took[PCTL_SHOWN];
	pctl_table *table;

	for (uint32_t i = 0; i < r->n_devices; i++) {
		const int n = (int)strlen(r->devices[i].selector);

		columns[0].width = n > columns[0].width ? n : columns[0].width;
	}
	pctl_str_addf(&under, "%*s       ", columns[0].width, "");
	table = pctl_table_begin(columns, PCTL_COLUMNS(columns), PCTL_TABLE_HEADS);
	for (uint32_t i = 0; i < r->n_devices; i++) {
		const pctl_audit_device *d = &r->devices[i];

		pctl_table_cell(table, "%s", d->selector);
		pctl_table_cell(table, "%" PRIu32, d->n_runs);
		pctl_table_cell(table, "%s", pctl_show_ns(d->wall_ns, took));
		pctl_table_cell(table, "%s", pctl_show_outcome(d->outcome));
		pctl_table_cell(table, "%s", d->driver == NULL ? "" : d->driver);
		if (d->outcome == PCTL_AUDIT_FAILED && d->cause != NULL)
			pctl_table_note(table, under.failed ? "" : under.data, "%s", d->cause);
	}
	(void)pctl_table_end(table, call);
	pctl_str_drop(&under);
}

static void print_outputs(const pctl_audit_result *r)
{
	char cid[PCTL_CID_TEXT_SIZE];

	for (uint32_t i = 0; i < r->n_cells; i++) {
		const pctl_audit_cell *c = &r->cells[i];
		const uint32_t n = pctl_count_cids(r, i, 0), step = r->natives ? r->repeat : 1;
		uint32_t at = 0;

		/* Of a run that failed there is none. */
		while (n != 0 && !pctl_has_cid(&c->cids[at]))
			at += step;
		if (n == 0)
			printf("%s.%s no result\n", c->job, c->port);
		else if (n == 1)
			printf("%s.%s %s%s\n", c->job, c->port, pctl_cid_format(&c->cids[at], cid),
			       c->evidence.weak ? " (weak evidence)" : "");
		else
			printf("%s.%s %" PRIu32 " different CIDs\n", c->job, c->port, n);
	}
}

static uint32_t dtype_of(const pctl_audit_result *r, const pctl_audit_divergence *d)
{
	for (uint32_t i = 0; i < r->n_cells; i++) {
		if (strcmp(r->cells[i].job, d->job) == 0 && strcmp(r->cells[i].port, d->port) == 0)
			return r->cells[i].type.dtype;
	}
	return 0;
}

static void print_divergence(const pctl_audit_result *r, const pctl_audit_divergence *d)
{
	const uint32_t dtype = dtype_of(r, d);
	char got[PCTL_SHOWN], want[PCTL_SHOWN], got_value[PCTL_SHOWN], want_value[PCTL_SHOWN];

	printf("\n%s, run %" PRIu32 ": job \"%s\" (%s), output \"%s\", element %" PRIu64 "\n",
	       pctl_device_selector(r, d->device), d->repeat + 1, d->job, d->what, d->port,
	       d->element);
	printf("  got %s = %s, want %s = %s: %" PRIu32 " bit%s flipped",
	       pctl_show_bits(d->element_bytes, d->got, got),
	       pctl_show_value(dtype, d->got, got_value),
	       pctl_show_bits(d->element_bytes, d->want, want),
	       pctl_show_value(dtype, d->want, want_value), d->flipped_bits,
	       d->flipped_bits == 1 ? "" : "s");
	if (d->ulp != 0)
		printf(", %" PRIu64 " ULP", d->ulp);
	printf("; %" PRIu64 " element%s differ%s\n", d->n_different, d->n_different == 1 ? "" : "s",
	       d->n_different == 1 ? "s" : "");
	if (d->known)
		printf("  began in round %" PRIu32 ", step %" PRIu32
		       ", kernel %s, %s, element %" PRIu64 ": got 0x%" PRIx64 ", want 0x%" PRIx64
		       "\n",
		       d->round, d->step, d->kernel, d->buffer, d->buffer_element, d->buffer_got,
		       d->buffer_want);
	else
		printf("  it did not differ when it ran again, so the step is not known\n");
	if (d->command != NULL)
		printf("  reproduction: %s\n", d->command);
	if (d->dir != NULL && d->tried != 0)
		printf("  %" PRIu64 " bytes of data, shrunk from %" PRIu64
		       "; came again in %" PRIu32 " of %" PRIu32 " tries\n",
		       d->shrunk_bytes, d->shrunk_from, d->reproduced, d->tried);
}

static void print_drifts(const pctl_audit_result *r, const pctl_call *call)
{
	static const pctl_column columns[] = {{"device", "", 16},    {"output", " ", 24},
					      {"differ", " ", -14},  {"of", " ", -12},
					      {"max ULP", " ", -16}, {"mean ULP", " ", -14}};
	pctl_table *table;

	printf("\n");
	table = pctl_table_begin(columns, PCTL_COLUMNS(columns), PCTL_TABLE_HEADS);
	for (uint32_t i = 0; i < r->n_drifts; i++) {
		const pctl_audit_drift *d = &r->drifts[i];

		if (d->job >= r->n_cells)
			continue;
		pctl_table_cell(table, "%s", pctl_device_selector(r, d->device));
		pctl_table_cell(table, "%s.%s", r->cells[d->job].job, r->cells[d->job].port);
		pctl_table_cell(table, "%" PRIu64, d->n_different);
		pctl_table_cell(table, "%" PRIu64, d->n_elements);
		pctl_table_cell(table, "%" PRIu64, d->max_ulp);
		pctl_table_cell(table, "%.6g", d->mean_ulp);
	}
	(void)pctl_table_end(table, call);
	for (uint32_t i = 0; r->natives && i < r->n_cells; i++)
		printf("%s.%s: strict %" PRIu32 " CID, native %" PRIu32 "\n", r->cells[i].job,
		       r->cells[i].port, pctl_count_cids(r, i, 0), pctl_count_cids(r, i, 1));
}

static void print_blamed(const pctl_audit_result *r, int quarantined)
{
	for (uint32_t i = 0; i < r->n_devices; i++) {
		const pctl_audit_device *d = &r->devices[i];

		if (d->outcome == PCTL_AUDIT_OUTVOTED || d->outcome == PCTL_AUDIT_UNSTEADY)
			printf("%s %s%s%s (%s): %s\n",
			       quarantined ? "quarantined" : "would be quarantined", d->plugin,
			       d->driver_key == NULL || d->driver_key[0] == '\0' ? "" : ", driver ",
			       d->driver_key == NULL ? "" : d->driver_key, d->selector,
			       d->cause == NULL ? "" : d->cause);
	}
}

static void print_verdict(const pctl_audit_result *r)
{
	const uint32_t verdict = pctl_audit_verdict(r);
	char bytes[PCTL_SHOWN];

	if (verdict == PCTL_AUDIT_AGREED)
		printf("\nagreed: %" PRIu32 " devices, %" PRIu32 " strict run%s each, %" PRIu32
		       " outputs, %s compared\n",
		       r->n_devices, r->natives ? 1 : r->repeat,
		       r->natives || r->repeat == 1 ? "" : "s", r->n_cells,
		       pctl_show_bytes(r->compared_bytes, bytes));
	else if (verdict == PCTL_AUDIT_SOME_FAILED)
		printf("\nfailed: nothing differs among the%s runs that came to an end\n",
		       r->natives ? " strict" : "");
	else if (r->race != NULL)
		printf("\n%s, and nobody is blamed: %s\n", pctl_show_verdict(verdict), r->race);
	else if (verdict != PCTL_AUDIT_WEAK)
		printf("\n%s%s\n", pctl_show_verdict(verdict),
		       r->decided ? "" : ": neither a quorum nor the reference says who is right");
}

void pctl_audit_print(pctl_app *app, const pctl_audit_result *r, uint32_t n_quarantined)
{
	const char *report = pctl_option_value(&app->line, "--report");

	print_devices(r, app->call);
	if (!app->quiet)
		print_outputs(r);
	for (uint32_t i = 0; i < r->n_divergences; i++)
		print_divergence(r, &r->divergences[i]);
	if (r->natives)
		print_drifts(r, app->call);
	print_verdict(r);
	print_blamed(r, n_quarantined != 0);
	if (report != NULL)
		printf("report: %s/index.html\n", report);
}
