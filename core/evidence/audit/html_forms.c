/* Section of the page on forms: what a strict operation becomes on each device, and what that costs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/audit/html.h"

#define MINI_LENGTH 100u

static int same_row(const pctl_audit_form *a, const pctl_audit_form *b)
{
	return strcmp(a->op, b->op) == 0 && strcmp(a->type, b->type) == 0;
}

static const pctl_audit_form *find(const pctl_audit_result *r, const pctl_audit_form *row,
				   uint32_t device)
{
	for (uint32_t i = 0; i < r->n_forms; i++) {
		if (r->forms[i].device == device && same_row(&r->forms[i], row))
			return &r->forms[i];
	}
	return NULL;
}

/* 1 when no form before it is of the same operation and type. */
static int is_first(const pctl_audit_result *r, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++) {
		if (same_row(&r->forms[k], &r->forms[i]))
			return 0;
	}
	return 1;
}

static uint32_t length_of(double ns, double most)
{
	const uint32_t n = (uint32_t)(ns / most * MINI_LENGTH + 0.5);

	return n == 0 ? 1 : n;
}

static void cost(pctl_page *p, const pctl_audit_form *f)
{
	const double most = f->strict_ns > f->native_ns ? f->strict_ns : f->native_ns;
	char strict[PCTL_SHOWN], native[PCTL_SHOWN];

	if (f->strict_ns <= 0)
		return;
	pctl_show_ns((uint64_t)f->strict_ns, strict);
	if (f->native_ns <= 0) {
		pctl_str_addf(&p->s, "<div class=\"small\">%s</div>", strict);
		return;
	}
	pctl_show_ns((uint64_t)f->native_ns, native);
	pctl_str_addf(
		&p->s,
		"<svg class=\"mini\" viewBox=\"0 0 %u 16\" role=\"img\" aria-label=\"strict %s, "
		"native "
		"%s\"><title>strict %s, native %s</title><rect x=\"0\" y=\"2\" width=\"%" PRIu32
		"\" height=\"5\" class=\"strict\"/><rect x=\"0\" y=\"9\" width=\"%" PRIu32
		"\" height=\"5\" class=\"native\"/></svg>",
		MINI_LENGTH, strict, native, strict, native, length_of(f->strict_ns, most),
		length_of(f->native_ns, most));
	pctl_str_addf(&p->s, "<div class=\"small\">%s / %s, <b>%.2fx</b></div>", strict, native,
		      f->strict_ns / f->native_ns);
}

static void cell(pctl_page *p, const pctl_audit_form *f)
{
	static const char *const known[] = {"native", "guarded", "f64", "int"};
	const char *style = "none";

	if (f == NULL) {
		pctl_str_add(&p->s, "<td class=\"muted\">as written</td>");
		return;
	}
	for (uint32_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i], f->form) == 0)
			style = known[i];
	}
	pctl_str_addf(&p->s, "<td><span class=\"tag form-%s\">", style);
	pctl_html_wrap(&p->s, "", f->form, "</span>");
	cost(p, f);
	pctl_str_add(&p->s, "</td>");
}

void pctl_html_forms(pctl_page *p)
{
	const pctl_audit_result *r = p->r;

	if (r->n_forms == 0)
		return;
	pctl_html_heading(&p->s, "forms", "What strictness costs",
			  "The strict float operations of this pipeline, and which form each "
			  "device's profile admits: the "
			  "device's own (native), its own between guards (guarded), in 64-bit "
			  "floats (f64), or in integers "
			  "(int). Times are of one elementwise kernel, a million elements: strict "
			  "above, native below, and "
			  "their ratio.");
	pctl_str_add(&p->s, "<div class=\"scroll\"><table><thead><tr><th>operation</th>");
	for (uint32_t d = 0; d < r->n_devices; d++)
		pctl_html_wrap(&p->s, "<th><code>", r->devices[d].selector, "</code></th>");
	pctl_str_add(&p->s, "</tr></thead><tbody>\n");
	for (uint32_t i = 0; i < r->n_forms; i++) {
		if (!is_first(r, i))
			continue;
		pctl_html_wrap(&p->s, "<tr><th scope=\"row\"><code>", r->forms[i].op, "</code> ");
		pctl_html_wrap(&p->s, "", r->forms[i].type, "</th>");
		for (uint32_t d = 0; d < r->n_devices; d++)
			cell(p, find(r, &r->forms[i], d));
		pctl_str_add(&p->s, "</tr>\n");
	}
	pctl_str_add(&p->s, "</tbody></table></div>\n");
}
