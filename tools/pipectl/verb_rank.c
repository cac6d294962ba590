/* The rank of the graph that the chain computed at the end of an epoch: the top names, and how it was made. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "chain/epoch/epoch.h"

#define TOP 20u
#define JOB_PREFIX "job:"

typedef struct place {
	uint64_t rank;
	uint32_t node;
	uint32_t reserved;
} place;

static int by_rank(const void *a, const void *b)
{
	const place *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void print_word(pctl_app *app, const char *name, const char *value)
{
	if (app->json)
		pctl_json_kv_string(&app->document, name, value);
	else
		printf("%-12s %s\n", name, value);
}

static void print_number(pctl_app *app, const char *name, uint64_t value)
{
	if (app->json)
		pctl_json_kv_u64(&app->document, name, value);
	else
		printf("%-12s %" PRIu64 "\n", name, value);
}

/* The job before this one, which gave its input; *more is 0 at the first. */
static pctl_status print_job(pctl_app *app, const pctl_chain_job *job, uint8_t before[], int *more)
{
	char id[PCTL_JOB_TEXT_SIZE];
	pctl_request q;
	pctl_status status = pctl_request_decode(job->message, job->n_message, app->call, &q);

	*more = 0;
	if (status != PCTL_OK)
		return status;
	pctl_job_id_format(job->id, id);
	if (app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "job", id);
		pctl_json_kv_string(&app->document, "shader", q.as.execute.shader_cid);
		pctl_json_kv_u64(&app->document, "clock", job->clock);
		pctl_json_kv_u64(&app->document, "gas", job->gas_used);
		pctl_json_object_end(&app->document);
	} else if (app->verbose) {
		printf("made by      %s clock %" PRIu64 " gas %" PRIu64 " shader %s\n", id,
		       job->clock, job->gas_used, q.as.execute.shader_cid);
	}
	if (strncmp(q.as.execute.input, JOB_PREFIX, strlen(JOB_PREFIX)) == 0)
		*more = pctl_job_id_parse(q.as.execute.input + strlen(JOB_PREFIX), before);
	pctl_request_destroy(&q);
	return PCTL_OK;
}

/* From the last job, whose output is *ranks, to the first; the gas of all of them. */
static pctl_status print_jobs(pctl_app *app, pctl_chain_state *s, const pctl_epoch *e,
			      pctl_cid *ranks, uint64_t *gas)
{
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_chain_job job;
	int more = 1;
	pctl_status status = PCTL_OK;

	memcpy(id, e->last, sizeof(id));
	*gas = 0;
	if (app->json) {
		pctl_json_key(&app->document, "jobs");
		pctl_json_array_begin(&app->document);
	}
	for (uint64_t k = 0; more && k < 2 * e->iterations && status == PCTL_OK; k++) {
		status = pctl_jobs_read(s, id, app->call, &job);
		if (status != PCTL_OK)
			break;
		if (k == 0)
			*ranks = job.output;
		*gas += job.gas_used;
		status = print_job(app, &job, id, &more);
		pctl_chain_job_clear(&job);
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return status;
}

static void print_place(pctl_app *app, uint64_t number, const place *p, const char *name, size_t n)
{
	char *text = pctl_arena_dup_n(app->arena, name, n);

	if (text == NULL)
		return;
	if (!app->json) {
		pctl_table_cell(app->table, "%" PRIu64, number);
		pctl_table_cell(app->table, "%" PRIu64, p->rank);
		pctl_table_cell(app->table, "%s", text);
		return;
	}
	pctl_json_object_begin(&app->document);
	pctl_json_kv_string(&app->document, "name", text);
	pctl_json_kv_u64(&app->document, "rank", p->rank);
	pctl_json_object_end(&app->document);
}

static pctl_status print_top(pctl_app *app, const pctl_epoch *e, const pctl_blob *names,
			     const pctl_blob *ranks, uint64_t top)
{
	static const pctl_column columns[] = {
		{"place", "", -4}, {"rank", " ", -16}, {"name", " ", 0}};
	place *places = pctl_arena_array(app->arena, e->n_nodes, sizeof(*places));
	const char **lines = pctl_arena_array(app->arena, e->n_nodes + 1, sizeof(*lines));
	const char *at = (const char *)names->data, *end = at + names->n_bytes;

	if (places == NULL || lines == NULL)
		return pctl_no_memory(app->call, "ranks");
	for (uint32_t i = 0; i < e->n_nodes; i++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		if (newline == NULL || ranks->n_bytes != 8 * e->n_nodes)
			return pctl_refuse(app->call, PC5701_CHAIN_STATE,
					   "names and ranks of block %" PRIu64 " do not match",
					   e->height);
		lines[i] = at;
		at = newline + 1;
		places[i].node = i;
		for (uint32_t b = 0; b < 8; b++)
			places[i].rank |= (uint64_t)ranks->data[8 * (uint64_t)i + b] << (8 * b);
	}
	lines[e->n_nodes] = at;
	qsort(places, e->n_nodes, sizeof(*places), by_rank);
	pctl_app_list_begin(app, "top", columns, PCTL_COLUMNS(columns));
	for (uint64_t k = 0; k < top && k < e->n_nodes; k++) {
		const char *line = lines[places[k].node];

		print_place(app, k + 1, &places[k], line,
			    (size_t)(lines[places[k].node + 1] - line) - 1);
	}
	return pctl_app_list_end(app, PCTL_OK);
}

static pctl_status show(pctl_app *app, pctl_chain *c, uint64_t height, uint64_t top)
{
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_blob names = {.data = NULL}, values = {.data = NULL};
	pctl_cid ranks;
	pctl_epoch e;
	uint64_t gas;
	pctl_status status = pctl_epoch_read(pctl_cursor(c), height, app->call, &e);

	if (status != PCTL_OK)
		return status;
	print_number(app, "height", e.height);
	print_number(app, "nodes", e.n_nodes);
	print_number(app, "edges", e.n_edges);
	print_number(app, "iterations", e.iterations);
	print_word(app, "graph", pctl_cid_format(&e.graph, cid));
	print_word(app, "names", pctl_cid_format(&e.names, cid));
	status = print_jobs(app, pctl_cursor(c), &e, &ranks, &gas);
	if (status != PCTL_OK)
		return status;
	print_word(app, "ranks", pctl_cid_format(&ranks, cid));
	print_number(app, "gas", gas);
	status = pctl_store_get(app->host.store, &e.names, app->call, &names);
	if (status == PCTL_OK)
		status = pctl_store_get(app->host.store, &ranks, app->call, &values);
	if (status == PCTL_OK)
		status = print_top(app, &e, &names, &values, top);
	pctl_blob_release(&values);
	pctl_blob_release(&names);
	return status;
}

pctl_status pctl_verb_rank_show(pctl_app *app)
{
	pctl_chain *c = NULL;
	uint64_t height, top;
	pctl_status status = pctl_app_number(app, "--height", 0, &height);

	if (status == PCTL_OK)
		status = pctl_app_number(app, "--top", TOP, &top);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = show(app, c, height, top);
	pctl_chain_close(c);
	return status;
}
