/* One step of a history: a job's edges and its row put together, and what it took with who made that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/cursor.h"
#include "foundation/base/vec.h"
#include "chain/provenance/provenance_private.h"

#define JOB_PREFIX "job:"
#define ACCOUNT_PREFIX "account:"

typedef struct maker {
	uint8_t id[PCTL_DIGEST_BYTES];
	uint64_t clock;
	uint32_t has, reserved;
} maker;

char *pctl_provenance_job_name(const uint8_t id[PCTL_DIGEST_BYTES],
			       char buf[PCTL_PROVENANCE_JOB_SIZE])
{
	memcpy(buf, JOB_PREFIX, 4);
	pctl_job_id_format(id, buf + 4);
	return buf;
}

int pctl_provenance_job_id(const char *name, uint8_t out[PCTL_DIGEST_BYTES])
{
	return strncmp(name, JOB_PREFIX, 4) == 0 && pctl_job_id_parse(name + 4, out);
}

static void copy_account(const char *name, char out[PCTL_ACCOUNT_SIZE])
{
	const size_t n = strlen(ACCOUNT_PREFIX);

	snprintf(out, PCTL_ACCOUNT_SIZE, "%.64s",
		 strncmp(name, ACCOUNT_PREFIX, n) == 0 ? name + n : name);
}

/* ---- makers ------------------------------------------------------------------------------- */

int pctl_provenance_is_later(const pctl_provenance_walk *w, uint64_t height)
{
	return w->o->height != 0 && height > w->o->height;
}

static pctl_status find_maker(pctl_provenance_walk *w, const char *name, maker *m)
{
	const uint64_t height = w->o->height == 0 ? PCTL_CHAIN_HEIGHT_MAX : w->o->height;
	const uint64_t most = w->o->max_makers == 0 ? PCTL_CHAIN_HEIGHT_MAX : w->o->max_makers;
	pctl_edges_first first;
	const pctl_status status =
		pctl_edges_first_to(w->s, name, PCTL_EDGE_OUTPUT, height, most, w->call, &first);

	m->has = (uint32_t)pctl_provenance_job_id(first.source, m->id);
	m->clock = first.clock;
	w->n_looked += first.n;
	w->n_unfollowed += first.n > most;
	return status;
}

pctl_status pctl_provenance_maker(pctl_provenance_walk *w, const char *name, uint64_t clock,
				  uint8_t out[PCTL_DIGEST_BYTES], uint32_t *has)
{
	maker *m = pctl_map_get(w->makers, name);
	pctl_status status = PCTL_OK;

	*has = 0;
	if (m == NULL) {
		m = calloc(1, sizeof(*m));
		if (m == NULL || !pctl_map_put(w->makers, name, m)) {
			free(m);
			return pctl_no_memory(w->call, "a history");
		}
		status = find_maker(w, name, m);
	}
	if (status == PCTL_OK && m->has && m->clock < clock) {
		memcpy(out, m->id, PCTL_DIGEST_BYTES);
		*has = 1;
	}
	return status;
}

/* ---- links -------------------------------------------------------------------------------- */

/* What a visitor over one step's edges works on. parents: outputs of the jobs it waited for. */
typedef struct taking {
	pctl_provenance_walk *w;
	uint64_t clock;
	uint32_t first_parent, n_parents;
	const char *name;
	pctl_status status;
} taking;

static pctl_provenance_link *push_link(taking *t, uint32_t kind, const char *name)
{
	pctl_provenance *p = t->w->p;
	pctl_provenance_link *link;

	if (!pctl_vec_reserve((void **)&p->links, p->n_links, &p->cap_links, sizeof(*p->links))) {
		t->status = pctl_no_memory(t->w->call, "a history");
		return NULL;
	}
	link = &p->links[p->n_links++];
	memset(link, 0, sizeof(*link));
	link->kind = kind;
	link->step = PCTL_PROVENANCE_NONE;
	snprintf(link->name, sizeof(link->name), "%s", name);
	return link;
}

static int take_parent(void *ctx, const pctl_edge *e)
{
	taking *t = ctx;
	pctl_provenance_link *link;

	if (pctl_provenance_is_later(t->w, e->height))
		return 0;
	link = push_link(t, PCTL_EDGE_PARENT, e->source);
	if (link != NULL)
		link->has_maker = (uint32_t)pctl_provenance_job_id(e->source, link->maker);
	return link == NULL;
}

static int take_every_maker(void *ctx, const pctl_edge *e)
{
	taking *t = ctx;
	pctl_provenance_link *link;

	if (e->clock >= t->clock)
		return 1;
	if (pctl_provenance_is_later(t->w, e->height))
		return 0;
	if (t->w->p->n_links > 64u * (uint64_t)t->w->o->max_steps + 1024u) {
		t->w->p->cut_steps++;
		return 1;
	}
	link = push_link(t, PCTL_EDGE_INPUT, t->name);
	if (link != NULL)
		link->has_maker = (uint32_t)pctl_provenance_job_id(e->source, link->maker);
	return link == NULL;
}

/* Bytes, and whether they are the output of a job. */
typedef struct comparing {
	const pctl_provenance_walk *w;
	const char *name;
	int is_output;
} comparing;

static int compare_output(void *ctx, const pctl_edge *e)
{
	comparing *c = ctx;

	c->is_output =
		strcmp(c->name, e->target) == 0 && !pctl_provenance_is_later(c->w, e->height);
	return 1;
}

/* The parent, if one is, whose output these bytes are: then it is that job and no earlier one that made the same. */
static const pctl_provenance_link *parent_of(taking *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_parents && t->status == PCTL_OK; i++) {
		comparing c = {t->w, name, 0};

		t->status = pctl_edges_from(t->w->s, t->w->p->links[t->first_parent + i].name,
					    PCTL_EDGE_OUTPUT, compare_output, &c, t->w->call);
		if (c.is_output)
			return &t->w->p->links[t->first_parent + i];
	}
	return NULL;
}

static void take_name(taking *t, const char *name)
{
	const pctl_provenance_link *parent = parent_of(t, name);
	const uint32_t before = t->w->p->n_links;
	pctl_provenance_link *link;
	uint8_t id[PCTL_DIGEST_BYTES] = {0};
	uint32_t has = parent != NULL || pctl_provenance_job_id(name, id);

	if (parent != NULL)
		memcpy(id, parent->maker, sizeof(id));
	t->name = name;
	if (t->status == PCTL_OK && !has && (t->w->o->flags & PCTL_PROVENANCE_ALL) != 0) {
		t->status = pctl_edges_to(t->w->s, name, PCTL_EDGE_OUTPUT, take_every_maker, t,
					  t->w->call);
		if (t->w->p->n_links != before)
			return;
	} else if (t->status == PCTL_OK && !has) {
		t->status = pctl_provenance_maker(t->w, name, t->clock, id, &has);
	}
	link = t->status == PCTL_OK ? push_link(t, PCTL_EDGE_INPUT, name) : NULL;
	if (link == NULL)
		return;
	link->has_maker = has;
	memcpy(link->maker, id, sizeof(id));
}

static int take_input(void *ctx, const pctl_edge *e)
{
	taking *t = ctx;

	take_name(t, e->source);
	return t->status != PCTL_OK;
}

/* A job that made nothing (failed, pending) has no edges to an output: what it names stands in its message. */
static void take_message(taking *t, const pctl_msg_execute *m)
{
	take_name(t, m->input);
	for (uint32_t i = 0; i < m->n_bindings && t->status == PCTL_OK; i++)
		take_name(t, m->bindings[i].cid);
	if (t->status == PCTL_OK && m->uniform_cid[0] != '\0')
		take_name(t, m->uniform_cid);
}

/* ---- the step ----------------------------------------------------------------------------- */

/* The step that is being filled, and of which walk. */
typedef struct filling {
	const pctl_provenance_walk *w;
	pctl_provenance_step *step;
} filling;

static int take_executed(void *ctx, const pctl_edge *e)
{
	const filling *f = ctx;
	pctl_provenance_step *step = f->step;

	if (pctl_provenance_is_later(f->w, e->height))
		return 1;
	copy_account(e->source, step->sender);
	step->clock = e->clock;
	step->height = e->height;
	return 1;
}

static int take_output(void *ctx, const pctl_edge *e)
{
	const filling *f = ctx;
	pctl_provenance_step *step = f->step;

	if (pctl_provenance_is_later(f->w, e->height))
		return 1;
	snprintf(step->output, sizeof(step->output), "%.59s", e->target);
	snprintf(step->shader, sizeof(step->shader), "%.59s", e->via);
	step->clock = e->clock;
	step->height = e->height;
	return 1;
}

static int take_author(void *ctx, const pctl_edge *e)
{
	pctl_provenance_step *step = ctx;

	copy_account(e->source, step->author);
	return 1;
}

static void take_row(const filling *f, const pctl_chain_job *job)
{
	pctl_provenance_step *step = f->step;
	const int is_later = pctl_provenance_is_later(f->w, job->ended);

	step->has_row = 1;
	step->status = is_later ? (uint32_t)PCTL_JOB_PENDING : job->status;
	step->gas_used = is_later ? 0 : job->gas_used;
	step->clock = job->clock;
	step->height = is_later ? 0 : job->ended;
	memcpy(step->sender, job->sender, sizeof(step->sender));
}

static pctl_status take_links(pctl_provenance_walk *w, const pctl_provenance_step *step,
			      const char *name, const pctl_msg_execute *m)
{
	taking t = {.w = w, .clock = step->clock, .first_parent = w->p->n_links};
	pctl_status status = pctl_edges_to(w->s, name, PCTL_EDGE_PARENT, take_parent, &t, w->call);

	t.n_parents = w->p->n_links - t.first_parent;
	if (status == PCTL_OK && t.status == PCTL_OK && step->output[0] != '\0')
		status = pctl_edges_of_job(w->s, step->output, PCTL_EDGE_INPUT, name, take_input,
					   &t, w->call);
	else if (status == PCTL_OK && t.status == PCTL_OK && m != NULL)
		take_message(&t, m);
	return status == PCTL_OK ? t.status : status;
}

pctl_status pctl_provenance_fill(pctl_provenance_walk *w, uint32_t at)
{
	char name[PCTL_PROVENANCE_JOB_SIZE];
	pctl_provenance_step step = w->p->steps[at];
	pctl_chain_job job = {.n_message = 0};
	pctl_request request = {.kind = 0};
	filling f = {w, &step};
	pctl_status status;

	pctl_provenance_job_name(step.job, name);
	status = pctl_edges_to(w->s, name, PCTL_EDGE_EXECUTED, take_executed, &f, w->call);
	if (status == PCTL_OK)
		status = pctl_edges_from(w->s, name, PCTL_EDGE_OUTPUT, take_output, &f, w->call);
	/* Without a row there is less to tell; that alone is no trouble. */
	if (status == PCTL_OK && pctl_jobs_read(w->s, step.job, NULL, &job) == PCTL_OK) {
		take_row(&f, &job);
		status = pctl_request_decode(job.message, job.n_message, w->call, &request);
	}
	if (status == PCTL_OK && request.kind == PCTL_MSG_EXECUTE && step.shader[0] == '\0')
		snprintf(step.shader, sizeof(step.shader), "%.59s", request.as.execute.shader_cid);
	if (status == PCTL_OK && step.shader[0] != '\0')
		status = pctl_edges_to(w->s, step.shader, PCTL_EDGE_UPLOAD, take_author, &step,
				       w->call);
	step.first_link = w->p->n_links;
	if (status == PCTL_OK)
		status = take_links(w, &step, name,
				    request.kind == PCTL_MSG_EXECUTE ? &request.as.execute : NULL);
	step.n_links = w->p->n_links - step.first_link;
	w->p->steps[at] = step;
	pctl_request_destroy(&request);
	pctl_chain_job_clear(&job);
	return status;
}
