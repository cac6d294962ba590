/* Sections of the page on drift: strict beside native, and for each device and output how far, how often and where. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/audit/html.h"
#include "runtime/graph/type.h"

static void side_row(pctl_page *p, const char *selector, const pctl_cid *cid, uint32_t group)
{
	pctl_html_wrap(&p->s, "<tr><th scope=\"row\"><code>", selector, "</code></th><td>");
	pctl_html_cid(p, cid, group);
	pctl_str_add(&p->s, "</td></tr>\n");
}

static void side_head(pctl_page *p, const char *style, const char *name, uint32_t n)
{
	pctl_str_addf(&p->s,
		      "<section class=\"side %s\"><p>%s</p><p class=\"big\">%" PRIu32
		      " CID%s</p><p class=\"muted small\">on %" PRIu32
		      " devices</p>\n<table><tbody>\n",
		      style, name, n, n == 1 ? "" : "s", p->r->n_devices);
}

static void contrast_of(pctl_page *p, uint32_t cell)
{
	const pctl_audit_result *r = p->r;
	const pctl_audit_cell *c = &r->cells[cell];

	pctl_html_wrap(&p->s, "<h3>Output <code>", c->job, ".");
	pctl_html_wrap(&p->s, "", c->port, "</code></h3>\n<div class=\"contrast\">\n");
	side_head(p, "strict", "Strict forms", pctl_count_cids(r, cell, 0));
	for (uint32_t d = 0; d < r->n_devices; d++)
		side_row(p, pctl_device_selector(r, d), &c->cids[d * r->repeat],
			 pctl_cid_group(r, cell, d * r->repeat));
	pctl_str_add(&p->s, "</tbody></table></section>\n");
	side_head(p, "native", "Native forms", pctl_count_cids(r, cell, 1));
	for (uint32_t d = 0; d < r->n_devices; d++)
		side_row(p, pctl_device_selector(r, d), &c->cids[d * r->repeat + 1],
			 pctl_cid_group(r, cell, d * r->repeat + 1));
	pctl_str_add(&p->s, "</tbody></table></section>\n</div>\n");
}

/* One CID of native runs is no promise; whether it is the strict one shows in the letters. */
static void no_contrast(pctl_page *p, uint32_t cell)
{
	const pctl_audit_cell *c = &p->r->cells[cell];

	pctl_html_wrap(&p->s, "<p class=\"small\">Output <code>", c->job, ".");
	pctl_html_wrap(&p->s, "", c->port, "</code>: all native runs gave ");
	pctl_html_cid(p, &c->cids[1], pctl_cid_group(p->r, cell, 1));
	pctl_str_add(&p->s, ", the strict ones ");
	pctl_html_cid(p, &c->cids[0], pctl_cid_group(p->r, cell, 0));
	pctl_str_add(&p->s, ".</p>\n");
}

void pctl_html_contrast(pctl_page *p)
{
	if (!p->r->natives || p->r->repeat < 2)
		return;
	pctl_html_heading(&p->s, "contrast", "The same job, strict and native",
			  "Strict forms give IEEE 754's one answer everywhere. Native forms are "
			  "what each driver makes of "
			  "the same kernel. Equal letters are equal bytes.");
	/* The widest contrast first. */
	for (uint32_t n = p->r->n_devices; n > 1; n--) {
		for (uint32_t i = 0; i < p->r->n_cells; i++) {
			if (pctl_count_cids(p->r, i, 1) == n)
				contrast_of(p, i);
		}
	}
	for (uint32_t i = 0; i < p->r->n_cells; i++) {
		if (pctl_count_cids(p->r, i, 1) == 1)
			no_contrast(p, i);
	}
}

/* ---- how far ------------------------------------------------------------------------------------ */

static void value_pair(pctl_page *p, const char *name, uint32_t dtype, uint32_t element_bytes,
		       uint64_t at, uint64_t got, uint64_t want)
{
	char decimal[PCTL_SHOWN], bits[PCTL_SHOWN];

	pctl_html_wrap(&p->s, "<tr><th scope=\"row\">", name, "</th>");
	pctl_str_addf(&p->s,
		      "<td class=\"num\">%" PRIu64
		      "</td><td class=\"num\">%s<br/><code>%s</code></td>",
		      at, pctl_show_value(dtype, want, decimal),
		      pctl_show_bits(element_bytes, want, bits));
	pctl_str_addf(&p->s, "<td class=\"num\">%s<br/><code>%s</code></td>",
		      pctl_show_value(dtype, got, decimal),
		      pctl_show_bits(element_bytes, got, bits));
	if (pctl_drift_is_float(dtype))
		pctl_str_addf(&p->s, "<td class=\"num\">%" PRIu64 "</td></tr>\n",
			      pctl_drift_ulp(dtype, got, want));
	else
		pctl_str_add(&p->s, "<td></td></tr>\n");
}

static void numbers(pctl_page *p, const pctl_audit_drift *d, const pctl_audit_cell *c)
{
	const uint32_t bytes = c->type.dtype == 0 ? 0 : pctl_dtype_bytes(c->type.dtype),
		       width = bytes == 0 ? 1 : bytes;
	const int is_float = pctl_drift_is_float(c->type.dtype);
	const uint64_t ppm =
		d->n_elements == 0
			? 0
			: (uint64_t)((double)d->n_different * 1e6 / (double)d->n_elements);

	pctl_str_addf(&p->s,
		      "<p>%" PRIu64 " of %" PRIu64 " elements differ (%" PRIu64 ".%04" PRIu64
		      " %%)",
		      d->n_different, d->n_elements, ppm / 10000, ppm % 10000);
	if (is_float)
		pctl_str_addf(&p->s,
			      "; at most <b>%" PRIu64
			      " ULP</b>, on average %.6g; largest relative difference %.3g",
			      d->max_ulp, d->mean_ulp, d->max_relative);
	if (d->n_nan != 0)
		pctl_str_addf(&p->s, "; in %" PRIu64 " a NaN stands against a number", d->n_nan);
	pctl_str_add(&p->s, ".</p>\n");
	if (d->n_different == 0)
		return;
	pctl_str_addf(
		&p->s,
		"<div "
		"class=\"scroll\"><table><thead><tr><th></th><th>element</th><th>%s</th><th>%s</th>"
		"<th>ULP</th></tr></thead><tbody>\n",
		p->r->natives ? "strict" : "wanted", p->r->natives ? "native" : "got");
	value_pair(p, "first that differs", c->type.dtype, width, d->first, d->first_got,
		   d->first_want);
	if (is_float)
		value_pair(p, "farthest", c->type.dtype, width, d->max_at, d->max_got, d->max_want);
	pctl_str_add(&p->s, "</tbody></table></div>\n");
}

static void drift_card(pctl_page *p, const pctl_audit_drift *d)
{
	const pctl_audit_cell *c = &p->r->cells[d->job];
	char title[300];

	pctl_str_add(&p->s, "<article class=\"card\">\n");
	pctl_html_wrap(&p->s, "<h3><code>", pctl_device_selector(p->r, d->device),
		       "</code>, output ");
	pctl_html_wrap(&p->s, "<code>", c->job, ".");
	pctl_html_wrap(&p->s, "", c->port, "</code></h3>\n");
	numbers(p, d, c);
	snprintf(title, sizeof(title),
		 "Where the buffer differs: %" PRIu64 " of %" PRIu64 " elements, first at %" PRIu64,
		 d->n_different, d->n_elements, d->first);
	pctl_svg_strip(&p->s, d, title);
	if (pctl_drift_is_float(c->type.dtype)) {
		snprintf(title, sizeof(title),
			 "Elements by their distance in ULP: %" PRIu64
			 " equal, the farthest %" PRIu64 " apart",
			 d->histogram[0], d->max_ulp);
		pctl_svg_histogram(&p->s, d->histogram, title);
	}
	pctl_str_add(&p->s, "</article>\n");
}

static void no_drift(pctl_page *p, const pctl_audit_drift *d)
{
	const pctl_audit_cell *c = &p->r->cells[d->job];

	pctl_html_wrap(&p->s, "<p class=\"small\"><code>", pctl_device_selector(p->r, d->device),
		       "</code>");
	pctl_html_wrap(&p->s, ", output <code>", c->job, ".");
	pctl_html_wrap(&p->s, "", c->port, "</code>: ");
	pctl_str_addf(&p->s, "none of %" PRIu64 " elements differs.</p>\n", d->n_elements);
}

void pctl_html_drift(pctl_page *p)
{
	const pctl_audit_result *r = p->r;

	if (r->n_drifts == 0)
		return;
	if (r->natives)
		pctl_html_heading(&p->s, "drift", "How far native goes from strict",
				  "Each device against its own strict run. ULP counts the floats "
				  "between two values: "
				  "neighbours are 1 apart.");
	else
		pctl_html_heading(&p->s, "drift", "How far the differing outputs go",
				  "Each differing output against the outcome that stands. ULP "
				  "counts the floats between "
				  "two values: neighbours are 1 apart.");
	for (uint32_t i = 0; i < r->n_drifts; i++) {
		if (r->drifts[i].job < r->n_cells && r->drifts[i].n_different != 0)
			drift_card(p, &r->drifts[i]);
	}
	for (uint32_t i = 0; i < r->n_drifts; i++) {
		if (r->drifts[i].job < r->n_cells && r->drifts[i].n_different == 0)
			no_drift(p, &r->drifts[i]);
	}
}
