/* The page as a whole: the verdict in one sentence, what was run on what, and the order of the sections. */
#include "evidence/audit/html.h"
#include "evidence/audit/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TAG_CHARACTERS 8u

char pctl_html_letter(uint32_t group)
{
	return group < 26 ? (char)('A' + group) : '?';
}

void pctl_html_cid(pctl_page *p, const pctl_cid *cid, uint32_t group)
{
	char text[PCTL_CID_TEXT_SIZE];

	if (!pctl_has_cid(cid)) {
		pctl_str_add(&p->s, "<span class=\"tag gx\"><b>-</b>no result</span>");
		return;
	}
	pctl_cid_format(cid, text);
	pctl_str_addf(&p->s, "<span class=\"tag g%c\" title=\"%s\"><b>%c</b><code>%s</code></span>",
		      group < 8 ? (char)('0' + group) : 'x', text, pctl_html_letter(group),
		      text + strlen(text) - TAG_CHARACTERS);
}

static uint32_t count_outcome(const pctl_audit_result *r, uint32_t outcome)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_devices; i++)
		n += r->devices[i].outcome == outcome;
	return n;
}

static uint32_t count_jobs(const pctl_audit_result *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_cells; i++)
		n += i == 0 || strcmp(r->cells[i].job, r->cells[i - 1].job) != 0;
	return n;
}

static void say_divergence(pctl_page *p, const pctl_audit_divergence *d)
{
	pctl_html_wrap(&p->s, "<code>", pctl_device_selector(p->r, d->device), "</code>");
	pctl_html_wrap(&p->s, " differs in job <code>", d->job, "</code>");
	if (d->known) {
		pctl_str_addf(&p->s, ", round %" PRIu32, d->round);
		pctl_html_wrap(&p->s, ", kernel <code>", d->kernel, "</code>");
	}
	pctl_html_wrap(&p->s, ", output <code>", d->port, "</code>");
	pctl_str_addf(&p->s, ", first at element %" PRIu64 ", in %" PRIu32 " bit%s", d->element,
		      d->flipped_bits, d->flipped_bits == 1 ? "" : "s");
}

static void say_natives(pctl_page *p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->r->n_cells; i++) {
		const uint32_t n = pctl_count_cids(p->r, i, 1);

		most = n > most ? n : most;
	}
	pctl_str_addf(&p->s,
		      "Strict: one CID on all %" PRIu32 " devices, for each of %" PRIu32
		      " output%s. Native: up to %" PRIu32
		      " different CIDs for the same output of the same job.",
		      p->r->n_devices, p->r->n_cells, p->r->n_cells == 1 ? "" : "s", most);
}

static void say_outcomes(pctl_page *p)
{
	static const uint32_t told[] = {PCTL_AUDIT_OUTVOTED, PCTL_AUDIT_UNSTEADY, PCTL_AUDIT_FAILED,
					PCTL_AUDIT_UNDECIDED};

	pctl_str_addf(&p->s, "%" PRIu32 " of %" PRIu32 " devices agree",
		      count_outcome(p->r, PCTL_AUDIT_AGREES), p->r->n_devices);
	for (uint32_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		if (count_outcome(p->r, told[i]) != 0)
			pctl_str_addf(&p->s, ", %" PRIu32 " %s", count_outcome(p->r, told[i]),
				      pctl_show_outcome(told[i]));
	pctl_str_add(&p->s, ".");
}

static void say_disagreement(pctl_page *p)
{
	if (p->r->n_divergences != 0) {
		say_divergence(p, &p->r->divergences[0]);
		pctl_str_add(&p->s, p->r->race != NULL ? "; nobody is blamed: "
				    : p->r->decided    ? "; "
						       : "; nothing decided who is right; ");
	}
	if (p->r->race != NULL)
		pctl_html_wrap(&p->s, "", p->r->race, "; ");
	say_outcomes(p);
}

static void say_failed(pctl_page *p)
{
	if (p->r->natives)
		pctl_str_add(&p->s, "Nothing differs among the strict runs that came to an end; ");
	else
		pctl_str_add(&p->s, "Nothing differs among the runs that came to an end; ");
	say_outcomes(p);
}

static void say_verdict(pctl_page *p)
{
	const pctl_audit_result *r = p->r;
	const uint32_t verdict = pctl_audit_verdict(r);
	char bytes[PCTL_SHOWN];

	if (verdict == PCTL_AUDIT_WEAK)
		pctl_str_add(
			&p->s,
			"Nothing was shown: every output is all zero, all NaN or all the same, "
			"so that equality proves nothing.");
	else if (verdict == PCTL_AUDIT_SOME_FAILED)
		say_failed(p);
	else if (verdict != PCTL_AUDIT_AGREED)
		say_disagreement(p);
	else if (r->natives)
		say_natives(p);
	else
		pctl_str_addf(&p->s,
			      "All %" PRIu32 " devices gave the same bytes: %" PRIu32
			      " output%s of %" PRIu32 " job%s, %" PRIu32
			      " run%s a device, %s compared.",
			      r->n_devices, r->n_cells, r->n_cells == 1 ? "" : "s", count_jobs(r),
			      count_jobs(r) == 1 ? "" : "s", r->repeat, r->repeat == 1 ? "" : "s",
			      pctl_show_bytes(r->compared_bytes, bytes));
}

static void fact(pctl_page *p, const char *name, const char *value)
{
	pctl_html_wrap(&p->s, "<div><dt>", name, "</dt><dd>");
	pctl_html_wrap(&p->s, "", value, "</dd></div>\n");
}

static void fact_number(pctl_page *p, const char *name, uint32_t value)
{
	char text[PCTL_SHOWN];

	snprintf(text, sizeof(text), "%" PRIu32, value);
	fact(p, name, text);
}

static void verdict(pctl_page *p)
{
	const pctl_audit_result *r = p->r;
	const uint32_t word = pctl_audit_verdict(r);
	const int good = word == PCTL_AUDIT_AGREED, doubt = word == PCTL_AUDIT_WEAK || !r->decided;
	char text[PCTL_SHOWN];

	pctl_str_addf(&p->s,
		      "<header class=\"verdict%s\">\n<div class=\"mark-word\">%s %s</div>\n<h1>",
		      good    ? ""
		      : doubt ? " warn"
			      : " bad",
		      good			? "\xe2\x9c\x93"
		      : word == PCTL_AUDIT_WEAK ? "!"
						: "\xe2\x9c\x97",
		      pctl_show_verdict(word));
	say_verdict(p);
	pctl_str_add(&p->s, "</h1>\n<dl class=\"facts\">\n");
	fact(p, "pipeline", r->pipeline);
	fact(p, "class", r->pipeline_class);
	fact_number(p, "devices", r->n_devices);
	if (r->natives)
		fact(p, "runs a device", "1 strict, 1 native");
	else
		fact_number(p, "runs a device", r->repeat);
	fact_number(p, "quorum", r->quorum);
	fact(p, "compared", pctl_show_bytes(r->compared_bytes, text));
	fact(p, "took", pctl_show_ns(r->wall_ns, text));
	pctl_str_add(&p->s, "</dl>\n</header>\n");
}

static void run_input(pctl_page *p, const pctl_run_output *in)
{
	char type[PCTL_SHOWN_TYPE], bytes[PCTL_SHOWN], cid[PCTL_CID_TEXT_SIZE];

	pctl_html_wrap(&p->s, "<tr><th scope=\"row\">input ", in->name, "</th><td>");
	pctl_html_wrap(&p->s, "", pctl_show_type(&in->type, type), "</td>");
	pctl_str_addf(&p->s, "<td class=\"num\">%s</td><td><code>%s</code></td></tr>\n",
		      pctl_show_bytes(in->n_bytes, bytes), pctl_cid_format(&in->cid, cid));
}

static void what_ran(pctl_page *p)
{
	const pctl_audit_result *r = p->r;
	char cid[PCTL_CID_TEXT_SIZE];

	pctl_html_heading(&p->s, "run", "What was run", NULL);
	pctl_str_add(&p->s, "<div class=\"scroll\"><table><thead><tr><th>what</th><th>type</th>"
			    "<th>size</th><th>CID</th></tr></thead><tbody>\n");
	pctl_html_wrap(&p->s, "<tr><th scope=\"row\">pipeline ", r->pipeline, "</th><td>class ");
	pctl_html_wrap(&p->s, "", r->pipeline_class, "</td><td></td>");
	pctl_str_addf(&p->s, "<td><code>%s</code></td></tr>\n",
		      pctl_has_cid(&r->pipeline_cid) ? pctl_cid_format(&r->pipeline_cid, cid) : "");
	for (uint32_t i = 0; i < r->n_inputs; i++)
		run_input(p, &r->inputs[i]);
	pctl_str_add(&p->s, "</tbody></table></div>\n");
	if (p->command != NULL)
		pctl_html_wrap(&p->s, "<p class=\"small muted\">Made by</p>\n<pre>", p->command,
			       "</pre>\n");
}

static const char *kind_name(uint32_t kind)
{
	static const char *const names[] = {"other", "reference", "cpu", "integrated", "discrete"};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "?";
}

static void identity(pctl_page *p, const pctl_audit_device *d)
{
	pctl_html_wrap(
		&p->s,
		"<details><summary>identity</summary><dl class=\"small\"><dt>plugin</dt><dd>",
		d->plugin, "</dd>");
	pctl_html_wrap(&p->s, "<dt>driver key</dt><dd><code>", d->driver_key, "</code></dd>");
	pctl_html_wrap(&p->s, "<dt>profile</dt><dd><code>", d->profile, "</code></dd>");
	for (uint32_t i = 0; i < d->n_identity; i++) {
		pctl_html_wrap(&p->s, "<dt>", d->identity[i].name, "</dt>");
		pctl_html_wrap(&p->s, "<dd><code>", d->identity[i].value, "</code></dd>");
	}
	pctl_str_add(&p->s, "</dl></details>");
}

static void device_row(pctl_page *p, const pctl_audit_device *d)
{
	char text[PCTL_SHOWN];

	pctl_html_wrap(&p->s, "<tr><th scope=\"row\"><code>", d->selector, "</code></th><td>");
	pctl_html_wrap(&p->s, "", d->name, "<br/><span class=\"muted small\">");
	pctl_html_wrap(&p->s, "", d->driver, "</span>");
	identity(p, d);
	pctl_str_addf(&p->s, "</td><td>%s</td><td class=\"num\">%" PRIu32 "</td>",
		      kind_name(d->kind), d->n_runs);
	pctl_str_addf(&p->s, "<td class=\"num\">%s</td>", pctl_show_ns(d->wall_ns, text));
	pctl_str_addf(&p->s, "<td><span class=\"outcome %s\">%s</span>",
		      pctl_show_outcome(d->outcome), pctl_show_outcome(d->outcome));
	if (d->cause != NULL)
		pctl_html_wrap(&p->s, "<br/><span class=\"small\">", d->cause, "</span>");
	pctl_str_add(&p->s, "</td></tr>\n");
}

static void devices(pctl_page *p)
{
	pctl_html_heading(
		&p->s, "devices", "Devices",
		"A device that differs or is not reproducible is taken out of use with its cause, "
		"unless the audit was asked not to. One that failed gave nothing to compare.");
	pctl_str_add(&p->s,
		     "<div class=\"scroll\"><table><thead><tr><th>selector</th><th>device and "
		     "driver</th><th>kind</th><th>runs</th><th>time</th><th>outcome</th></tr>"
		     "</thead><tbody>\n");
	for (uint32_t i = 0; i < p->r->n_devices; i++)
		device_row(p, &p->r->devices[i]);
	pctl_str_add(&p->s, "</tbody></table></div>\n");
}

static void foot(pctl_page *p)
{
	pctl_str_add(
		&p->s,
		"<footer>\n<p>Equality is of bytes; no tolerance is applied anywhere. The numbers "
		"on "
		"this page stand in <code>report.json</code> too, and <code>manifest.cfg</code> "
		"names "
		"the SHA-256 of every file beside it under a signature: <code>pipectl audit verify "
		"DIRECTORY</code> checks both.</p>\n</footer>\n</main>\n</body>\n</html>\n");
}

void pctl_html_page(pctl_str_buf *s, const pctl_audit_result *r, const char *command)
{
	pctl_page p = {.s = *s, .r = r, .command = command};

	pctl_html_head(&p.s, "pipectl audit", "Audit of ", r->pipeline, NULL);
	verdict(&p);
	pctl_html_contrast(&p);
	pctl_html_divergences(&p);
	pctl_html_matrix(&p);
	pctl_html_drift(&p);
	pctl_html_forms(&p);
	pctl_html_times(&p);
	devices(&p);
	what_ran(&p);
	foot(&p);
	*s = p.s;
}
