/* A causal history as text, one line a job or input; as a graph in Graphviz's language; as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "provenance.h"

static const char *status_name(const pctl_provenance_step *step)
{
	if (!step->has_row)
		return "unknown";
	return step->status == PCTL_JOB_COMPLETE ? "complete"
	       : step->status == PCTL_JOB_FAILED ? "failed"
						 : "pending";
}

/* ---- text --------------------------------------------------------------------------------- */

static void indent(uint32_t depth)
{
	for (uint32_t i = 0; i < depth; i++)
		printf("  ");
}

static void print_step(const pctl_provenance *p, uint32_t at, const uint32_t *verdicts)
{
	char id[PCTL_JOB_TEXT_SIZE];
	const pctl_provenance_step *step = &p->steps[at];

	printf("job:%s", pctl_job_id_format(step->job, id));
	if (step->height != 0)
		printf(" block %" PRIu64, step->height);
	printf(" clock %" PRIu64, step->clock);
	if (step->sender[0] != '\0')
		printf(" by %s", step->sender);
	if (step->has_row)
		printf(" gas %" PRIu64, step->gas_used);
	if (step->shader[0] != '\0')
		printf(" shader %s", step->shader);
	if (step->author[0] != '\0')
		printf(" of %s", step->author);
	if (step->output[0] == '\0')
		printf(" %s", status_name(step));
	if (verdicts != NULL)
		printf(" verified: %s", pctl_provenance_verdict_name(verdicts[at]));
	printf("\n");
}

/* One that waited for a job whose output it also took says so once. */
static int is_said(const pctl_provenance *p, const pctl_provenance_step *step,
		   const pctl_provenance_link *link)
{
	for (uint32_t i = 0; link->kind == PCTL_EDGE_PARENT && i < step->n_links; i++) {
		const pctl_provenance_link *other = &p->links[step->first_link + i];

		if (other->kind == PCTL_EDGE_INPUT && other->has_maker &&
		    memcmp(other->maker, link->maker, PCTL_DIGEST_BYTES) == 0)
			return 1;
	}
	return 0;
}

/* A place in the tree: a step, and which of its links (forward: steps it led to) comes next. */
struct place {
	uint32_t step, next;
};

typedef struct printing {
	const pctl_provenance *p;
	const uint32_t *verdicts;
	struct place *stack;
	uint8_t *shown;
	uint32_t n;
} printing;

static void enter(printing *t, uint32_t step)
{
	t->shown[step] = 1;
	t->stack[t->n++] = (struct place){step, 0};
	print_step(t->p, step, t->verdicts);
}

static void print_link(printing *t, uint32_t at, const pctl_provenance_link *link)
{
	char id[PCTL_JOB_TEXT_SIZE];

	indent(t->n);
	if (link->kind == PCTL_EDGE_PARENT)
		printf("after ");
	else
		printf("%s%s", link->name, link->has_maker ? " <- " : " given\n");
	if (!link->has_maker)
		return;
	if (link->step == PCTL_PROVENANCE_NONE)
		printf("job:%s (cut)\n", pctl_job_id_format(link->maker, id));
	else if (t->shown[link->step] || t->p->steps[link->step].from != at)
		printf("job:%s (has its own line)\n", pctl_job_id_format(link->maker, id));
	else
		enter(t, link->step);
}

static void print_back(printing *t, uint32_t from)
{
	enter(t, from);
	while (t->n != 0) {
		struct place *top = &t->stack[t->n - 1];
		const pctl_provenance_step *step = &t->p->steps[top->step];

		if (top->next == step->n_links) {
			t->n--;
		} else {
			const pctl_provenance_link *link =
				&t->p->links[step->first_link + top->next++];

			if (!is_said(t->p, step, link))
				print_link(t, top->step, link);
		}
	}
}

static void print_made(const pctl_provenance_step *step)
{
	printf("%s <- ", step->output[0] != '\0' ? step->output : "nothing");
}

/* Steps that one led to lie behind each other: breadth first. `next` is the place to look on from. */
static void print_forward(printing *t, uint32_t from, const uint32_t *first)
{
	print_made(&t->p->steps[from]);
	enter(t, from);
	while (t->n != 0) {
		struct place *top = &t->stack[t->n - 1];
		const uint32_t at = first[top->step] + top->next++;

		if (first[top->step] == PCTL_PROVENANCE_NONE || at >= t->p->n_steps ||
		    t->p->steps[at].from != top->step) {
			t->n--;
			continue;
		}
		indent(t->n);
		print_made(&t->p->steps[at]);
		enter(t, at);
	}
}

static void print_roots(printing *t, const uint32_t *first)
{
	const int forward = (t->p->flags & PCTL_PROVENANCE_FORWARD) != 0;

	for (uint32_t i = 0; i < t->p->n_steps; i++) {
		if (t->p->steps[i].from != PCTL_PROVENANCE_NONE)
			break;
		if (forward) {
			print_forward(t, i, first);
			continue;
		}
		if (strncmp(t->p->name, "job:", 4) != 0)
			printf("%s <- ", t->p->name);
		print_back(t, i);
	}
}

/* What no job made: bytes somebody gave, or a name that is none of bytes. What was decided about it follows. */
static void print_unmade(const char *name)
{
	if (strncmp(name, "account:", 8) == 0)
		printf("%s is an account\n", name);
	else if (strncmp(name, "alias:", 6) == 0)
		printf("%s is a name of a shader\n", name);
	else
		printf("%s given: no job made it\n", name);
}

static void print_ends(const pctl_provenance *p)
{
	if (p->n_steps == 0 && (p->flags & PCTL_PROVENANCE_FORWARD) != 0)
		printf("%s: no job took it\n", p->name);
	else if (p->n_steps == 0 && p->n_makers == 0)
		print_unmade(p->name);
	if (p->n_makers > 1 && (p->flags & PCTL_PROVENANCE_ALL) == 0)
		printf("made by %" PRIu64
		       " jobs, of which the first is shown; --all shows every one\n",
		       p->n_makers);
	if (p->cut_depth != 0)
		printf("cut at this depth: at least %" PRIu64 " more; --depth N goes further\n",
		       p->cut_depth);
	if (p->cut_steps != 0)
		printf("cut at this many jobs: at least %" PRIu64 " more; --limit N shows more\n",
		       p->cut_steps);
}

pctl_status pctl_app_print_history(pctl_app *app, const pctl_provenance *p,
				   const uint32_t *verdicts)
{
	printing t = {p, verdicts, calloc(p->n_steps + 1u, sizeof(*t.stack)),
		      calloc(p->n_steps + 1u, 1), 0};
	uint32_t *first = malloc((p->n_steps + 1u) * sizeof(*first));
	pctl_status status = PCTL_OK;

	if (t.stack == NULL || t.shown == NULL || first == NULL) {
		status = pctl_refuse(app->call, PC2_NOMEM, "no memory to print a history");
		goto out;
	}
	for (uint32_t i = 0; i < p->n_steps; i++)
		first[i] = PCTL_PROVENANCE_NONE;
	for (uint32_t i = p->n_steps; i-- > 0;)
		if (p->steps[i].from != PCTL_PROVENANCE_NONE)
			first[p->steps[i].from] = i;
	print_roots(&t, first);
	print_ends(p);
out:
	free(t.stack);
	free(t.shown);
	free(first);
	return status;
}

/* ---- Graphviz ----------------------------------------------------------------------------- */

void pctl_app_print_history_dot(const pctl_provenance *p)
{
	char id[PCTL_JOB_TEXT_SIZE];

	printf("digraph provenance {\n\trankdir=LR;\n\tnode [shape=box];\n");
	printf("\t\"%s\" [style=bold];\n", p->name);
	for (uint32_t i = 0; i < p->n_steps; i++) {
		const pctl_provenance_step *step = &p->steps[i];

		pctl_job_id_format(step->job, id);
		printf("\t\"job:%s\" [shape=ellipse, label=\"job %.8s\\nblock %" PRIu64
		       ", clock %" PRIu64 "\\n%s\"];\n",
		       id, id, step->height, step->clock, step->sender);
		if (step->output[0] != '\0')
			printf("\t\"job:%s\" -> \"%s\";\n", id, step->output);
		for (uint32_t k = 0; k < step->n_links; k++) {
			const pctl_provenance_link *link = &p->links[step->first_link + k];

			if (!is_said(p, step, link))
				printf("\t\"%s\" -> \"job:%s\"%s;\n", link->name, id,
				       link->kind == PCTL_EDGE_PARENT ? " [style=dashed]" : "");
		}
	}
	printf("}\n");
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void json_link(pctl_json *j, const pctl_provenance_link *link)
{
	char id[PCTL_JOB_TEXT_SIZE];

	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "kind", pctl_edge_name(link->kind));
	pctl_json_kv_string(j, "name", link->name);
	pctl_json_kv_string(j, "job", link->has_maker ? pctl_job_id_format(link->maker, id) : NULL);
	pctl_json_kv_bool(j, "followed", link->step != PCTL_PROVENANCE_NONE);
	pctl_json_object_end(j);
}

static void json_step(pctl_json *j, const pctl_provenance *p, uint32_t at, const uint32_t *verdicts)
{
	const pctl_provenance_step *step = &p->steps[at];
	char id[PCTL_JOB_TEXT_SIZE];

	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "job", pctl_job_id_format(step->job, id));
	pctl_json_kv_u32(j, "depth", step->depth);
	pctl_json_kv_u64(j, "block", step->height);
	pctl_json_kv_u64(j, "clock", step->clock);
	pctl_json_kv_string(j, "status", status_name(step));
	pctl_json_kv_string(j, "sender", step->sender);
	pctl_json_kv_u64(j, "gas", step->gas_used);
	pctl_json_kv_string(j, "shader", step->shader);
	pctl_json_kv_string(j, "author", step->author[0] == '\0' ? NULL : step->author);
	pctl_json_kv_string(j, "output", step->output[0] == '\0' ? NULL : step->output);
	if (verdicts != NULL)
		pctl_json_kv_string(j, "verified", pctl_provenance_verdict_name(verdicts[at]));
	pctl_json_key(j, "inputs");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < step->n_links; i++)
		json_link(j, &p->links[step->first_link + i]);
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

pctl_status pctl_app_print_history_json(pctl_app *app, const pctl_provenance *p,
					const uint32_t *verdicts)
{
	uint32_t *order = pctl_provenance_order(p);
	pctl_json *j = &app->document;

	if (order == NULL)
		return pctl_refuse(app->call, PC2_NOMEM, "no memory to print a history");
	pctl_json_kv_string(j, "name", p->name);
	pctl_json_kv_bool(j, "forward", (p->flags & PCTL_PROVENANCE_FORWARD) != 0);
	pctl_json_kv_u64(j, "makers", p->n_makers);
	pctl_json_kv_bool(j, "whole", p->cut_depth == 0 && p->cut_steps == 0);
	pctl_json_kv_u64(j, "cut_depth", p->cut_depth);
	pctl_json_kv_u64(j, "cut_limit", p->cut_steps);
	pctl_json_key(j, "steps");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < p->n_steps; i++)
		json_step(j, p, order[i], verdicts);
	pctl_json_array_end(j);
	free(order);
	return PCTL_OK;
}
