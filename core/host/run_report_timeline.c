/* The timeline of a run's report: a row for the run and one for each job, and the same as numbers. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "foundation/svg/amount.h"
#include "foundation/svg/page.h"
#include "foundation/svg/plot.h"
#include "host/run_report.h"

#define MOST_ROWS 200u /* that are drawn; the table and the trace have all */
#define LABEL 170u
#define LENGTH 700u
#define SHOWN 110u
#define ROW 22u

/* What is a part of a stage is drawn in its place. */
static int is_drawn(const pctl_run_stage *stage)
{
	return stage->kind != PCTL_STAGE_RUN;
}

static uint32_t length_of(uint64_t ns, uint64_t wall_ns)
{
	return wall_ns == 0 ? 0 : (uint32_t)((double)ns / (double)wall_ns * LENGTH);
}

static void draw_stage(pctl_str_buf *s, const pctl_run_stage *stage, uint64_t wall_ns, uint32_t y)
{
	const uint32_t x = LABEL + length_of(stage->began_ns, wall_ns);
	uint32_t width = length_of(stage->ns, wall_ns);
	char took[PCTL_SHOWN];

	width = width == 0 ? 1 : width;
	pctl_str_addf(s,
		      "<rect x=\"%" PRIu32 "\" y=\"%" PRIu32 "\" width=\"%" PRIu32
		      "\" height=\"%u\" class=\"s-%s\"><title>%s: %s</title></rect>\n",
		      x, y + 3, width, ROW - 7, pctl_run_stage_name(stage->kind),
		      pctl_run_stage_name(stage->kind), pctl_show_ns(stage->ns, took));
}

/* ns: what the stages of each row took together, the run first. */
static void draw(const pctl_run_report *report, pctl_str_buf *s, const uint64_t *ns)
{
	const pctl_run_result *r = report->run;
	const uint32_t jobs = r->n_jobs < MOST_ROWS ? r->n_jobs : MOST_ROWS;
	char took[PCTL_SHOWN];

	pctl_svg_open(s, "timeline", LABEL + LENGTH + SHOWN, (jobs + 1) * ROW + 4,
		      "Stages of the run and of its jobs, from its begin to its end");
	for (uint32_t row = 0; row <= jobs; row++) {
		const pctl_run_job *job = row == 0 ? NULL : &r->jobs[row - 1];
		const uint32_t y = row * ROW + 2;

		pctl_svg_label(s, LABEL - 8, y + 15, "end", "axis", job == NULL ? "run" : job->id);
		pctl_str_addf(s,
			      "<rect x=\"%u\" y=\"%" PRIu32
			      "\" width=\"%u\" height=\"%u\" class=\"frame\"/>\n",
			      LABEL, y + 3, LENGTH, ROW - 7);
		pctl_svg_label(s, LABEL + LENGTH + 6, y + 15, "start", "value",
			       job == NULL	 ? pctl_show_ns(r->wall_ns, took)
			       : job->remembered ? "remembered"
						 : pctl_show_ns(ns[row], took));
	}
	for (uint32_t i = 0; i < r->n_stages; i++) {
		const pctl_run_stage *stage = &r->stages[i];
		const uint32_t row = stage->job == PCTL_STAGE_OF_RUN ? 0 : stage->job + 1;

		if (is_drawn(stage) && row <= jobs)
			draw_stage(s, stage, r->wall_ns, row * ROW + 2);
	}
	pctl_svg_close(s);
	if (jobs < r->n_jobs)
		pctl_str_addf(s,
			      "<p class=\"small muted\">The first %" PRIu32 " of %" PRIu32
			      " jobs are drawn; the table has all.</p>\n",
			      jobs, r->n_jobs);
}

/* sums: PCTL_STAGES for the run, then as many for each job. */
static void table(const pctl_run_report *report, pctl_str_buf *s, const uint64_t *sums,
		  const uint8_t *used)
{
	const pctl_run_result *r = report->run;
	char took[PCTL_SHOWN];

	pctl_str_add(s, "<div class=\"scroll\"><table class=\"stages\"><thead><tr><th></th>");
	for (uint32_t k = 0; k < PCTL_STAGES; k++)
		if (used[k])
			pctl_str_addf(s, "<th title=\"%s\"><i class=\"key s-%s\"></i>%s</th>",
				      pctl_run_stage_about(k), pctl_run_stage_name(k),
				      pctl_run_stage_name(k));
	pctl_str_add(s, "<th>by the device</th></tr></thead><tbody>\n");
	for (uint32_t row = 0; row <= r->n_jobs; row++) {
		const pctl_run_job *job = row == 0 ? NULL : &r->jobs[row - 1];

		pctl_html_wrap(s, "<tr><th scope=\"row\">", job == NULL ? "run" : job->id, "</th>");
		for (uint32_t k = 0; k < PCTL_STAGES; k++) {
			const uint64_t ns = sums[(size_t)row * PCTL_STAGES + k];

			if (used[k])
				pctl_str_addf(s, "<td class=\"num\">%s</td>",
					      ns == 0 ? "" : pctl_show_ns(ns, took));
		}
		pctl_str_addf(s, "<td class=\"num\">%s</td></tr>\n",
			      job == NULL || job->stats.device_ns == 0
				      ? ""
				      : pctl_show_ns(job->stats.device_ns, took));
	}
	pctl_str_add(s, "</tbody></table></div>\n<dl class=\"small\">\n");
	for (uint32_t k = 0; k < PCTL_STAGES; k++)
		if (used[k])
			pctl_str_addf(s, "<dt><i class=\"key s-%s\"></i>%s</dt><dd>%s</dd>\n",
				      pctl_run_stage_name(k), pctl_run_stage_name(k),
				      pctl_run_stage_about(k));
	pctl_str_add(s, "</dl>\n");
}

void pctl_run_report_timeline(const pctl_run_report *report, pctl_str_buf *s)
{
	const pctl_run_result *r = report->run;
	uint64_t *sums, *ns;
	uint8_t used[PCTL_STAGES] = {0};

	pctl_html_heading(
		s, "timeline", "Timeline",
		report->policy->telemetry
			? "By the host's clock. trace.json has the same for Perfetto and for "
			  "Chrome's "
			  "tracing. What a device says of its own time is a claim."
			: "The policy in force keeps times for itself: none is shown here and none "
			  "stands in trace.json.");
	if (!report->policy->telemetry)
		return;
	sums = calloc(((size_t)r->n_jobs + 1) * PCTL_STAGES, sizeof(*sums));
	ns = calloc((size_t)r->n_jobs + 1, sizeof(*ns));
	if (sums == NULL || ns == NULL) {
		s->failed = 1;
		goto out;
	}
	for (uint32_t i = 0; i < r->n_stages; i++) {
		const pctl_run_stage *stage = &r->stages[i];
		const size_t row = stage->job == PCTL_STAGE_OF_RUN ? 0 : (size_t)stage->job + 1;

		if (row > r->n_jobs)
			continue;
		used[stage->kind] = 1;
		sums[row * PCTL_STAGES + stage->kind] += stage->ns;
		ns[row] += is_drawn(stage) ? stage->ns : 0;
	}
	draw(report, s, ns);
	table(report, s, sums, used);
out:
	free(sums);
	free(ns);
}
