/* Gas by job, and by line of the shaders that were run: what a line costs one invocation, once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/svg/page.h"
#include "foundation/svg/plot.h"
#include "host/document.h"
#include "host/run_report.h"
#include "runtime/gas/gas.h"

#define MOST_BARS 200u

static void bars(const pctl_run_report *report, pctl_str_buf *s)
{
	const pctl_run_result *r = report->run;
	const uint32_t n = r->n_jobs < MOST_BARS ? r->n_jobs : MOST_BARS;
	pctl_svg_bar *list = calloc((size_t)n + 1, sizeof(*list));
	char(*shown)[24] = calloc((size_t)n + 1, sizeof(*shown));

	if (list == NULL || shown == NULL) {
		s->failed = 1;
	} else {
		for (uint32_t i = 0; i < n; i++) {
			snprintf(shown[i], sizeof(shown[i]), "%" PRIu64,
				 r->jobs[i].gas + r->jobs[i].size_gas);
			list[i] = (pctl_svg_bar){.label = r->jobs[i].id,
						 .shown = shown[i],
						 .style = r->jobs[i].remembered ? "far" : "time",
						 .value = (double)r->jobs[i].gas +
							  (double)r->jobs[i].size_gas};
		}
		pctl_svg_bars(s, list, n, "Gas of each job");
	}
	free(shown);
	free(list);
	if (n < r->n_jobs)
		pctl_str_addf(s,
			      "<p class=\"small muted\">The first %" PRIu32 " of %" PRIu32
			      " jobs are drawn; the table of jobs has all.</p>\n",
			      n, r->n_jobs);
}

/* ---- lines ---------------------------------------------------------------------------------------- */

/* Of a job whose shader has a text of its own; ops have none of the user's. */
static int has_lines(const pctl_graph_node *node)
{
	return node->unit != NULL && node->text != NULL;
}

/* Told every line that costs anything, with its text. 0: no memory. */
static int each_line(const pctl_run_report *report, const pctl_graph_node *node,
		     void (*told)(void *ctx, uint32_t line, const char *text,
				  const pctl_gas_line *c),
		     void *ctx)
{
	const char *at = node->text, *end = at + node->n_text;
	uint32_t n_lines = 1;
	pctl_gas_line *lines;
	int complete = 1;

	for (uint64_t i = 0; i < node->n_text; i++)
		n_lines += node->text[i] == '\n';
	lines = calloc(n_lines, sizeof(*lines));
	if (lines == NULL)
		return 0;
	pctl_gas_lines(report->schedule, node->unit->program, lines, n_lines);
	for (uint32_t line = 1; at < end && complete; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		char *text;

		stop = stop == NULL ? end : stop;
		if (lines[line - 1].gas != 0) {
			text = strndup(at, (size_t)(stop - at));
			complete = text != NULL;
			if (complete)
				told(ctx, line, text, &lines[line - 1]);
			free(text);
		}
		at = stop + (stop < end);
	}
	free(lines);
	return complete;
}

static void line_row(void *ctx, uint32_t line, const char *text, const pctl_gas_line *c)
{
	pctl_str_buf *s = ctx;

	pctl_str_addf(s,
		      "<tr><th scope=\"row\">%" PRIu32 "</th><td class=\"num\">%" PRIu64
		      "</td><td class=\"num\">%" PRIu64 "</td><td class=\"num\">%" PRIu64
		      "</td><td class=\"num\">%" PRIu64 "</td>",
		      line, c->gas, c->read, c->write, c->barriers);
	pctl_html_wrap(s, "<td><code>", text, "</code></td></tr>\n");
}

static void shader(const pctl_run_report *report, pctl_str_buf *s, const pctl_graph_node *node)
{
	pctl_html_wrap(s, "<details open=\"open\"><summary>job <code>", node->job->id, "</code>, ");
	pctl_html_wrap(s, "<code>", node->job->shader == NULL ? node->job->id : node->job->shader,
		       "</code></summary>\n");
	pctl_str_add(s, "<div class=\"scroll\"><table><thead><tr><th>line</th><th>gas</th>"
			"<th>bytes read</th><th>bytes written</th><th>barriers</th><th>text</th>"
			"</tr></thead><tbody>\n");
	if (!each_line(report, node, line_row, s))
		s->failed = 1;
	pctl_str_add(s, "</tbody></table></div></details>\n");
}

void pctl_run_report_lines(const pctl_run_report *report, pctl_str_buf *s)
{
	const pctl_graph *g = report->graph;
	uint32_t told = 0;

	pctl_html_heading(
		s, "gas", "Gas by job",
		"The price of the work by the schedule in force, the same on every device. "
		"What was remembered has its price too, which was not spent again.");
	bars(report, s);
	for (uint32_t i = 0; i < report->run->n_jobs; i++) {
		const pctl_graph_node *node = &g->nodes[g->order[i]];

		if (!has_lines(node))
			continue;
		if (told++ == 0)
			pctl_html_heading(
				s, "lines", "Gas by line of the shaders",
				"Of one invocation, each instruction once, before loops multiply: "
				"where the work lies, and no sum of the job's gas. Ops have no "
				"text "
				"of the user's and stand with their jobs alone.");
		shader(report, s, node);
	}
}

static void line_object(void *ctx, uint32_t line, const char *text, const pctl_gas_line *c)
{
	pctl_document_line(ctx, line, text, c);
}

char *pctl_run_report_gas(const pctl_run_report *report)
{
	const pctl_graph *g = report->graph;
	int complete = 1;
	char *text;
	pctl_json j;

	pctl_document_begin(&j, "run.gas");
	pctl_json_kv_string(&j, "name", g->pipeline->name);
	pctl_json_kv_string(&j, "schedule", pctl_gas_schedule_name(report->schedule));
	pctl_json_kv_u64(&j, "gas", report->run->gas);
	pctl_json_key(&j, "jobs");
	pctl_json_array_begin(&j);
	for (uint32_t i = 0; i < report->run->n_jobs; i++) {
		const pctl_run_job *job = &report->run->jobs[i];
		const pctl_graph_node *node = &g->nodes[g->order[i]];

		pctl_json_object_begin(&j);
		pctl_json_kv_string(&j, "id", job->id);
		pctl_json_kv_u64(&j, "gas", job->gas);
		pctl_json_kv_u64(&j, "size_gas", job->size_gas);
		pctl_json_key(&j, "lines");
		pctl_json_array_begin(&j);
		if (has_lines(node))
			complete &= each_line(report, node, line_object, &j);
		pctl_json_array_end(&j);
		pctl_json_object_end(&j);
	}
	pctl_json_array_end(&j);
	pctl_json_object_end(&j);
	text = pctl_json_finish(&j);
	if (complete)
		return text;
	free(text);
	return NULL;
}
