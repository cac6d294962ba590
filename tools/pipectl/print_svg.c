/* Pictures: what a plan would run where, with shapes, gas and bytes; and the derivation of a name. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/output.h"
#include "foundation/svg/diagram.h"
#include "provenance.h"

/* Boxes and edges as they are found; texts lie in the arena. */
typedef struct picture {
	pctl_app *app;
	pctl_diagram_box *boxes;
	pctl_diagram_edge *edges;
	uint32_t n_boxes, n_edges;
	int failed;
} picture;

static int begin(picture *p, pctl_app *app, size_t boxes, size_t edges)
{
	*p = (picture){.app = app};
	p->boxes = calloc(boxes + 1, sizeof(*p->boxes));
	p->edges = calloc(edges + 1, sizeof(*p->edges));
	return p->boxes != NULL && p->edges != NULL;
}

static uint32_t add_box(picture *p, uint32_t kind, pctl_str_buf *text)
{
	const char *lines = pctl_arena_dup(p->app->host.arena, text->failed ? NULL : text->data);

	p->failed |= lines == NULL;
	p->boxes[p->n_boxes] = (pctl_diagram_box){lines == NULL ? "" : lines, kind, 0};
	pctl_str_drop(text);
	return p->n_boxes++;
}

static void add_edge(picture *p, uint32_t from, uint32_t to)
{
	p->edges[p->n_edges++] = (pctl_diagram_edge){from, to};
}

/* The whole picture into the file that --svg names. */
static pctl_status finish(picture *p, const char *title, const char *path)
{
	const pctl_diagram d = {title, p->boxes, p->edges, p->n_boxes, p->n_edges};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_output *out = NULL;
	pctl_status status = p->failed ? pctl_no_memory(p->app->call, "a picture")
				       : pctl_diagram_svg(&d, p->app->call, &s);

	if (status == PCTL_OK)
		status = pctl_output_open(path, 1, p->app->call, &out);
	if (status == PCTL_OK)
		status = pctl_output_put(out, s.data, s.n, p->app->call);
	if (status == PCTL_OK)
		status = pctl_output_commit(out, p->app->call);
	else
		pctl_output_discard(out);
	pctl_str_drop(&s);
	return status;
}

static void drop(picture *p)
{
	free(p->boxes);
	free(p->edges);
}

/* ---- of a plan ---------------------------------------------------------------------------- */

static void add_type(pctl_app *app, pctl_str_buf *s, const char *name, const pctl_tensor_type *t)
{
	const char *text = t->dtype == 0 ? NULL : pctl_type_text(app->host.arena, t);

	pctl_str_addf(s, "\n%s %s", name, text == NULL ? "of a size that its data tells" : text);
}

static const pctl_run_job *planned(const pctl_graph *g, const pctl_run_result *r, uint32_t job)
{
	for (uint32_t i = 0; i < r->n_jobs; i++)
		if (g->order[i] == job)
			return &r->jobs[i];
	return NULL;
}

static uint32_t add_job(picture *p, const pctl_graph *g, const pctl_run_result *r, uint32_t i)
{
	const pctl_graph_node *n = &g->nodes[i];
	const pctl_run_job *job = planned(g, r, i);
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "%s\n%s", n->job->id,
		      n->job->kind == PCTL_JOB_OP ? n->job->op : n->job->shader);
	if (job == NULL) {
		pctl_str_add(&s, "\nsizes and gas hang on data");
		return add_box(p, PCTL_DIAGRAM_WORK, &s);
	}
	if (job->device != NULL)
		pctl_str_addf(&s, "\non %s", job->device);
	if (job->repeat != 1)
		pctl_str_addf(&s, "\n%" PRIu64 " rounds", job->repeat);
	pctl_str_addf(&s, "\ngas %" PRIu64 "\n%" PRIu64 " bytes", job->gas, job->peak_bytes);
	for (uint32_t k = 0; k < job->n_out; k++)
		add_type(p->app, &s, pctl_node_out_name(n, k), &job->out[k]);
	return add_box(p, PCTL_DIAGRAM_WORK, &s);
}

pctl_status pctl_app_plan_svg(pctl_app *app, const pctl_graph *g, const pctl_run_result *r,
			      const char *path)
{
	const pctl_pipeline *pl = g->pipeline;
	uint32_t *box = calloc((size_t)g->n_nodes + 1, sizeof(*box));
	size_t n_edges = pl->n_outputs;
	pctl_status status;
	picture p;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		n_edges += g->nodes[i].n_in;
	if (!begin(&p, app, (size_t)pl->n_inputs + g->n_nodes + pl->n_outputs, n_edges) ||
	    box == NULL) {
		status = pctl_no_memory(app->call, "a picture");
		goto out;
	}
	/* Inputs are the first boxes, with their own numbers. */
	for (uint32_t i = 0; i < pl->n_inputs; i++) {
		pctl_str_buf s = PCTL_STR_BUF_INIT;

		pctl_str_addf(&s, "$%s", pl->inputs[i].name);
		if (i < r->n_inputs) {
			add_type(app, &s, "is", &r->inputs[i].type);
			pctl_str_addf(&s, "\n%" PRIu64 " bytes", r->inputs[i].n_bytes);
		}
		add_box(&p, PCTL_DIAGRAM_DATA, &s);
	}
	for (uint32_t i = 0; i < g->n_nodes; i++)
		box[g->order[i]] = add_job(&p, g, r, g->order[i]);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (uint32_t k = 0; k < g->nodes[i].n_in; k++) {
			const pctl_source from = g->nodes[i].in[k];

			add_edge(&p, from.job == PCTL_FROM_INPUT ? from.port : box[from.job],
				 box[i]);
		}
	for (uint32_t i = 0; i < pl->n_outputs; i++) {
		const pctl_source from = g->outputs[i];
		pctl_str_buf s = PCTL_STR_BUF_INIT;

		pctl_str_addf(&s, "> %s", pl->outputs[i].port);
		add_edge(&p, from.job == PCTL_FROM_INPUT ? from.port : box[from.job],
			 add_box(&p, PCTL_DIAGRAM_DATA, &s));
	}
	status = finish(&p, pl->name, path);
out:
	drop(&p);
	free(box);
	return status;
}

/* ---- of a history ------------------------------------------------------------------------- */

static void add_step(picture *p, const pctl_provenance_step *step)
{
	char id[PCTL_JOB_TEXT_SIZE];
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "job:%s\nclock %" PRIu64, pctl_job_id_format(step->job, id), step->clock);
	if (step->height != 0)
		pctl_str_addf(&s, ", block %" PRIu64, step->height);
	if (step->sender[0] != '\0')
		pctl_str_addf(&s, "\nby %s", step->sender);
	if (step->shader[0] != '\0')
		pctl_str_addf(&s, "\nshader %s", step->shader);
	if (step->has_row)
		pctl_str_addf(&s, "\ngas %" PRIu64, step->gas_used);
	if (step->output[0] != '\0')
		pctl_str_addf(&s, "\ngives %s", step->output);
	add_box(p, PCTL_DIAGRAM_WORK, &s);
}

/* What was given from outside has one box, however often it was taken. */
static uint32_t add_given(picture *p, const pctl_provenance *h, const char *name)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	for (uint32_t i = h->n_steps; i < p->n_boxes; i++)
		if (strcmp(p->boxes[i].lines, name) == 0)
			return i;
	pctl_str_add(&s, name);
	return add_box(p, PCTL_DIAGRAM_DATA, &s);
}

pctl_status pctl_app_history_svg(pctl_app *app, const pctl_provenance *h, const char *path)
{
	pctl_status status;
	picture p;

	if (!begin(&p, app, (size_t)h->n_steps + h->n_links + 1, (size_t)h->n_links + h->n_steps)) {
		status = pctl_no_memory(app->call, "a picture");
		goto out;
	}
	for (uint32_t i = 0; i < h->n_steps; i++)
		add_step(&p, &h->steps[i]);
	for (uint32_t i = 0; i < h->n_steps; i++)
		for (uint32_t k = 0; k < h->steps[i].n_links; k++) {
			const pctl_provenance_link *link = &h->links[h->steps[i].first_link + k];

			add_edge(&p,
				 link->step != PCTL_PROVENANCE_NONE ? link->step
								    : add_given(&p, h, link->name),
				 i);
		}
	/* The name itself, at the end of what made it; it stands among what was given where it is followed forward. */
	for (uint32_t i = 0; i < h->n_steps; i++)
		if (strcmp(h->steps[i].output, h->name) == 0)
			add_edge(&p, i, add_given(&p, h, h->name));
	status = finish(&p, h->name, path);
out:
	drop(&p);
	return status;
}
