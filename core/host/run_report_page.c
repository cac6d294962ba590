/* The page of a run's report: what came out, and how it stands; the sections. */
#include <inttypes.h>
#include <stdio.h>

#include "foundation/svg/amount.h"
#include "foundation/svg/page.h"
#include "host/document.h"
#include "host/run_report.h"

/* Stages by colour, on top of the style of all pages; each has its name beside it. */
static const char style[] =
	"svg.timeline{min-width:640px}svg.timeline rect{shape-rendering:crispEdges}"
	".key{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:5px}"
	"dl.small{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px}"
	"dl.small dd{margin:0}\n"
	".s-inputs,.s-recall{fill:#6f7780;background:#6f7780}"
	".s-choose{fill:#8c2f6b;background:#8c2f6b}.s-build{fill:#6b3fa0;background:#6b3fa0}"
	".s-races,.s-measure{fill:#a07a00;background:#a07a00}"
	".s-upload{fill:#1f5fa8;background:#1f5fa8}.s-dispatch{fill:#0b6e4f;background:#0b6e4f}"
	".s-check{fill:#5f9a3c;background:#5f9a3c}.s-run{fill:#3c7f74;background:#3c7f74}"
	".s-read{fill:#3a8fd0;background:#3a8fd0}.s-verify{fill:#c25a00;background:#c25a00}"
	".s-hash,.s-store,.s-remember{fill:#b3261e;background:#b3261e}\n";

static void fact(pctl_str_buf *s, const char *name, const char *text)
{
	pctl_str_addf(s, "<div><dt>%s</dt>", name);
	pctl_html_wrap(s, "<dd>", text, "</dd></div>\n");
}

static void fact_number(pctl_str_buf *s, const char *name, uint64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, n);
	fact(s, name, text);
}

static void summary(const pctl_run_report *report, pctl_str_buf *s)
{
	const pctl_run_result *r = report->run;
	char text[PCTL_EVIDENCE_TEXT], shown[PCTL_SHOWN];

	pctl_html_wrap(s, "<header class=\"verdict\">\n<p class=\"mark-word\">run</p>\n<h1>",
		       report->graph->pipeline->name, "</h1>\n");
	pctl_str_addf(s, "<p>%" PRIu32 " job%s came to an end", r->n_jobs,
		      r->n_jobs == 1 ? "" : "s");
	if (r->n_remembered != 0)
		pctl_str_addf(s,
			      "; %" PRIu32 " of them %s remembered and did not run again, which "
			      "saved %" PRIu64 " gas%s%s",
			      r->n_remembered, r->n_remembered == 1 ? "was" : "were", r->saved_gas,
			      report->policy->telemetry ? " and " : "",
			      report->policy->telemetry ? pctl_show_ns(r->saved_ns, shown) : "");
	pctl_html_wrap(s, ". The outputs are: ", pctl_evidence_text(r->evidence, text),
		       ".</p>\n<dl class=\"facts\">\n");
	fact_number(s, "gas", r->gas);
	if (r->actual_gas != 0)
		fact_number(s, "gas really used", r->actual_gas);
	fact(s, "peak memory of buffers", pctl_show_bytes(r->peak_bytes, shown));
	fact(s, "kept of intermediate results", pctl_show_bytes(r->kept_bytes, shown));
	if (report->policy->telemetry)
		fact(s, "took", pctl_show_ns(r->wall_ns, shown));
	pctl_str_add(s, "</dl>\n</header>\n");
}

static void data_row(pctl_str_buf *s, const char *what, const pctl_run_output *o, pctl_arena *arena)
{
	char cid[PCTL_CID_TEXT_SIZE], text[PCTL_EVIDENCE_TEXT], shown[PCTL_SHOWN];

	pctl_str_addf(s, "<tr><th scope=\"row\">%s <code>", what);
	pctl_html_wrap(s, "", o->name, "</code></th>");
	pctl_html_wrap(s, "<td><code>",
		       o->type.dtype == 0 ? "bytes" : pctl_type_text(arena, &o->type),
		       "</code></td>");
	pctl_str_addf(s, "<td class=\"num\">%s</td>", pctl_show_bytes(o->n_bytes, shown));
	pctl_html_wrap(s, "<td>", pctl_evidence_text(o->evidence, text), "</td>");
	pctl_html_wrap(s, "<td><code>", pctl_cid_format(&o->cid, cid), "</code></td></tr>\n");
}

static void data(const pctl_run_report *report, pctl_str_buf *s)
{
	const pctl_run_result *r = report->run;

	pctl_html_heading(s, "data", "Outputs and inputs",
			  "A CID names bytes. The evidence says why these bytes are believed to be "
			  "the answer; of an input it says how its bytes came to be.");
	pctl_str_add(s, "<div class=\"scroll\"><table><thead><tr><th>data</th><th>type</th>"
			"<th>size</th><th>evidence</th><th>CID</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < r->n_outputs; i++)
		data_row(s, "output", &r->outputs[i], r->arena);
	for (uint32_t i = 0; i < r->n_inputs; i++)
		data_row(s, "input", &r->inputs[i], r->arena);
	pctl_str_add(s, "</tbody></table></div>\n");
}

static void job_row(const pctl_run_report *report, pctl_str_buf *s, const pctl_run_job *job)
{
	char text[PCTL_EVIDENCE_TEXT], shown[PCTL_SHOWN];

	pctl_html_wrap(s, "<tr><th scope=\"row\"><code>", job->id, "</code></th>");
	pctl_html_wrap(s, "<td><code>", job->what, "</code></td><td>");
	if (job->remembered)
		pctl_str_addf(s, "remembered%s%s", report->policy->telemetry ? ", took " : "",
			      report->policy->telemetry ? pctl_show_ns(job->saved_ns, shown) : "");
	else
		pctl_html_wrap(s, "<code>", job->device, "</code>");
	if (job->memo_void != NULL)
		pctl_html_wrap(s, "<br/><span class=\"small\">a remembered result was not taken: ",
			       job->memo_void, "</span>");
	pctl_str_addf(
		s,
		"</td><td class=\"num\">%" PRIu64 "</td><td class=\"num\">%" PRIu64
		"</td><td class=\"num\">%s</td><td>%s</td><td>%s</td>",
		job->repeat, job->gas + job->size_gas,
		pctl_show_bytes(job->peak_bytes != 0 ? job->peak_bytes : job->buffer_bytes, shown),
		pctl_class_name(job->determinism), pctl_policy_races_word(job->races));
	pctl_html_wrap(s, "<td>", pctl_evidence_text(job->evidence, text), "</td></tr>\n");
}

static void jobs(const pctl_run_report *report, pctl_str_buf *s)
{
	pctl_html_heading(s, "jobs", "Jobs", "In the order in which they ran.");
	pctl_str_add(s, "<div class=\"scroll\"><table><thead><tr><th>job</th><th>what</th>"
			"<th>where</th><th>rounds</th><th>gas</th><th>buffers</th><th>class</th>"
			"<th>races</th><th>evidence</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < report->run->n_jobs; i++)
		job_row(report, s, &report->run->jobs[i]);
	pctl_str_add(s, "</tbody></table></div>\n");
}

static void decisions(const pctl_run_report *report, pctl_str_buf *s)
{
	const pctl_run_result *r = report->run;

	pctl_html_heading(s, "decisions", "Decisions",
			  r->n_choices == 0 ? "Everything was remembered: no device was looked at."
					    : "Devices in the order in which they were looked at.");
	if (r->n_choices == 0)
		return;
	pctl_str_add(s, "<div class=\"scroll\"><table><thead><tr><th>device</th><th></th>"
			"<th>why</th></tr></thead><tbody>\n");
	for (uint32_t i = 0; i < r->n_choices; i++) {
		const pctl_run_choice *c = &r->choices[i];

		pctl_html_wrap(s, "<tr><th scope=\"row\"><code>", c->selector, "</code>");
		if (report->policy->telemetry)
			pctl_html_wrap(s, "<br/><span class=\"small\">", c->name, "</span>");
		pctl_str_addf(s, "</th><td>%s</td>", c->taken ? "taken" : "not taken");
		pctl_html_wrap(s, "<td>", c->why, "</td></tr>\n");
	}
	pctl_str_add(s, "</tbody></table></div>\n");
	if (!report->policy->telemetry || r->n_identity == 0)
		return;
	pctl_str_add(s, "<details><summary>identity of the device</summary><dl class=\"small\">\n");
	for (uint32_t i = 0; i < r->n_identity; i++) {
		pctl_html_wrap(s, "<dt>", r->identity[i].name, "</dt>");
		pctl_html_wrap(s, "<dd><code>", r->identity[i].value, "</code></dd>\n");
	}
	pctl_str_add(s, "</dl></details>\n");
}

void pctl_run_report_page(const pctl_run_report *report, pctl_str_buf *s)
{
	pctl_html_head(s, "pipectl run", "Run of ", report->graph->pipeline->name, style);
	summary(report, s);
	data(report, s);
	pctl_run_report_timeline(report, s);
	jobs(report, s);
	pctl_run_report_lines(report, s);
	decisions(report, s);
	pctl_html_wrap(s, "<p class=\"small muted\">Made by</p>\n<pre>", report->command,
		       "</pre>\n");
	pctl_str_add(s, "<footer>\n<p><code>run.json</code> has what <code>--json</code> prints, "
			"<code>gas.json</code> gas by job and line, <code>trace.json</code> the "
			"stages. This page shows what happened; what "
			"proves it to others is a receipt (<code>--receipt</code>).</p>\n"
			"</footer>\n</main>\n</body>\n</html>\n");
}
