/* Sections of the page that compare all runs: the matrix of outputs and devices, and how long each took. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evidence/audit/html.h"
#include "foundation/base/order.h"

/* One small letter a run, when a device ran more than once. */
static void dots(pctl_page *p, const pctl_audit_cell *c, uint32_t device)
{
	const uint32_t repeat = p->r->repeat;

	if (repeat < 2 || p->r->natives)
		return;
	pctl_str_add(&p->s, "<br/>");
	for (uint32_t i = 0; i < repeat; i++) {
		const uint32_t at = device * repeat + i;
		const uint32_t group = c->groups[at];
		const int ran = pctl_has_cid(&c->cids[at]);

		pctl_str_addf(&p->s, "<i class=\"dot g%c\" title=\"run %" PRIu32 "\">%c</i>",
			      ran && group < 8 ? (char)('0' + group) : 'x', i + 1,
			      ran ? pctl_html_letter(group) : '-');
	}
}

static void evidence(pctl_page *p, const pctl_audit_cell *c)
{
	const pctl_audit_evidence *e = &c->evidence;

	pctl_str_addf(&p->s, "<td class=\"small\">%" PRIu64 " elements<br/>%s%" PRIu64 " distinct",
		      e->n_elements, e->distinct >= 65536 ? "at least " : "", e->distinct);
	pctl_str_addf(&p->s, "<br/>%" PRIu64 " zero", e->zeros);
	if (e->nans != 0)
		pctl_str_addf(&p->s, ", %" PRIu64 " NaN", e->nans);
	if (e->weak)
		pctl_str_add(&p->s, "<br/><span class=\"weak\">! weak evidence</span>");
	pctl_str_add(&p->s, "</td>");
}

static void matrix_row(pctl_page *p, uint32_t cell)
{
	const pctl_audit_cell *c = &p->r->cells[cell];
	char type[PCTL_SHOWN_TYPE];

	pctl_html_wrap(&p->s, "<tr><th scope=\"row\"><code>", c->job, ".");
	pctl_html_wrap(&p->s, "", c->port, "</code><br/><span class=\"small muted\">");
	pctl_html_wrap(&p->s, "", c->what, "<br/>");
	pctl_html_wrap(&p->s, "", pctl_show_type(&c->type, type), "</span></th>");
	for (uint32_t d = 0; d < p->r->n_devices; d++) {
		const uint32_t at = d * p->r->repeat;

		pctl_str_add(&p->s, "<td>");
		pctl_html_cid(p, &c->cids[at], pctl_cid_group(p->r, cell, at));
		dots(p, c, d);
		pctl_str_add(&p->s, "</td>");
	}
	evidence(p, c);
	pctl_str_add(&p->s, "</tr>\n");
}

void pctl_html_matrix(pctl_page *p)
{
	if (p->r->n_cells == 0)
		return;
	pctl_html_heading(&p->s, "matrix",
			  p->r->natives ? "Strict runs: every output on every device"
					: "Every output on every device",
			  "Each cell is the end of the output's CID. Equal letters are equal "
			  "bytes; A is the outcome that "
			  "stands. Small letters are the single runs.");
	pctl_str_add(&p->s, "<div class=\"scroll\"><table><thead><tr><th>output</th>");
	for (uint32_t d = 0; d < p->r->n_devices; d++)
		pctl_html_wrap(&p->s, "<th><code>", p->r->devices[d].selector, "</code></th>");
	pctl_str_add(&p->s, "<th>evidence</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < p->r->n_cells; i++)
		matrix_row(p, i);
	pctl_str_add(&p->s, "</tbody></table></div>\n");
}

/* ---- times -------------------------------------------------------------------------------------- */

/* Median of the runs of a device that took any time. */
static uint64_t median(const pctl_audit_cell *c, uint32_t device, uint32_t repeat)
{
	uint64_t *sorted = calloc(repeat + 1u, sizeof(*sorted)), middle = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; sorted != NULL && i < repeat; i++) {
		const uint64_t ns = c->device_ns[device * repeat + i];

		if (ns != 0)
			sorted[n++] = ns;
	}
	if (n != 0) {
		qsort(sorted, n, sizeof(*sorted), pctl_order_u64);
		middle = sorted[n / 2];
	}
	free(sorted);
	return middle;
}

/* A selector with a script is cut to what fits beside a bar; the table of devices has it whole. */
static void bar_name(const char *selector, const char *side, char out[PCTL_SHOWN])
{
	const int room = 24 - (int)strlen(side);

	if ((int)strlen(selector) <= room)
		snprintf(out, PCTL_SHOWN, "%s%s", selector, side);
	else
		snprintf(out, PCTL_SHOWN, "%.*s..%s", room - 2, selector, side);
}

/* ns[i]: of device i; of an audit of natives, of device i / 2, strict and native in turn. 0: none. */
static void bars(pctl_page *p, const uint64_t *ns, const char *title)
{
	const uint32_t sides = p->r->natives ? 2 : 1, n = p->r->n_devices * sides;
	pctl_svg_bar *list = calloc(n + 1u, sizeof(*list));
	char(*shown)[PCTL_SHOWN] = calloc(n + 1u, PCTL_SHOWN),
	(*names)[PCTL_SHOWN] = calloc(n + 1u, PCTL_SHOWN);

	if (list == NULL || shown == NULL || names == NULL) {
		p->s.failed = 1;
	} else {
		for (uint32_t i = 0; i < n; i++) {
			bar_name(pctl_device_selector(p->r, i / sides),
				 sides == 1   ? ""
				 : i % 2 == 0 ? " strict"
					      : " native",
				 names[i]);
			list[i] = (pctl_svg_bar){names[i],
						 ns[i] == 0 ? "not measured"
							    : pctl_show_ns(ns[i], shown[i]),
						 sides == 1   ? "time"
						 : i % 2 == 0 ? "strict"
							      : "native",
						 (double)ns[i]};
		}
		pctl_svg_bars(&p->s, list, n, title);
	}
	free(list);
	free(shown);
	free(names);
}

static void job_times(pctl_page *p, const pctl_audit_cell *c, uint64_t *ns)
{
	const pctl_audit_result *r = p->r;
	uint64_t sum = 0;

	if (c->device_ns == NULL)
		return;
	for (uint32_t i = 0; i < r->n_devices * (r->natives ? 2u : 1u); i++) {
		ns[i] = r->natives ? c->device_ns[i] : median(c, i, r->repeat);
		sum |= ns[i];
	}
	if (sum == 0)
		return;
	pctl_html_wrap(&p->s, "<div><h3>Job <code>", c->job, "</code></h3>\n");
	bars(p, ns, "Device time of the job, a bar a device");
	pctl_str_add(&p->s, "</div>\n");
}

static void run_times(pctl_page *p, uint64_t *ns)
{
	const pctl_audit_result *r = p->r;

	for (uint32_t d = 0; d < r->n_devices; d++) {
		if (r->natives) {
			ns[2 * d] = r->devices[d].wall_ns;
			ns[2 * d + 1] = r->devices[d].native_wall_ns;
		} else {
			ns[d] = r->devices[d].wall_ns;
		}
	}
	pctl_str_add(&p->s, "<div><h3>Whole run</h3>\n");
	bars(p, ns, "Wall time of a run, a bar a device");
	pctl_str_add(&p->s, "</div>\n");
}

void pctl_html_times(pctl_page *p)
{
	const pctl_audit_result *r = p->r;
	uint64_t *ns = calloc(2u * r->n_devices + 1u, sizeof(*ns));

	if (ns == NULL) {
		p->s.failed = 1;
		return;
	}
	pctl_html_heading(&p->s, "times", "Times",
			  "Medians over the runs of a device. An audit is no benchmark: runs are "
			  "traced round by round.");
	pctl_str_add(&p->s, "<div class=\"two\">\n");
	run_times(p, ns);
	for (uint32_t i = 0; i < r->n_cells; i++) {
		if (i == 0 || strcmp(r->cells[i].job, r->cells[i - 1].job) != 0)
			job_times(p, &r->cells[i], ns);
	}
	pctl_str_add(&p->s, "</div>\n");
	free(ns);
}
