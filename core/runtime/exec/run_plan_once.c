/* What an op gives and its plan, also with jobs before and behind it, asked for once a run: a network has the same op with the same types and
 * attributes in each of its layers. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "runtime/exec/run_fuse.h"
#include "runtime/graph/broadcast.h"

/* plan NULL: of a question about types, or of a group that has none. */
struct known {
	pctl_op_result result;
	pctl_job_plan *plan;
	pctl_status status; /* of a group's plan */
};

static void add_number(pctl_str_buf *s, uint64_t v)
{
	pctl_str_addf(s, "%" PRIx64 " ", v);
}

static void add_type(pctl_str_buf *s, const pctl_tensor_type *t)
{
	add_number(s, t->dtype);
	for (uint32_t i = 0; i < t->rank; i++)
		add_number(s, t->dim[i]);
	pctl_str_add(s, ";");
}

static void add_attrs(pctl_str_buf *s, const pctl_attr *attr, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		/* With its length: a text may have any character in it. */
		add_number(s, strlen(attr[i].text == NULL ? "" : attr[i].text));
		pctl_str_add(s, attr[i].text == NULL ? "" : attr[i].text);
		add_number(s, attr[i].u64);
	}
	pctl_str_add(s, ";");
}

static void add_question(pctl_str_buf *s, const pctl_op_ref *op, const pctl_op_query *q,
			 const pctl_plan_caps *caps)
{
	pctl_str_addf(s, "%s@%" PRIu32 ";", op->desc->name, op->desc->version);
	for (uint32_t i = 0; i < q->n_in; i++)
		add_type(s, &q->in[i]);
	add_attrs(s, q->attr, q->n_attr);
	add_attrs(s, q->measured, q->n_measured);
	for (size_t i = 0; caps != NULL && i < sizeof(*caps); i++)
		pctl_str_addf(s, "%02x", ((const uint8_t *)caps)[i]);
}

/* The question as a text; caps NULL: about types alone. NULL: no memory. */
static char *key_of(const pctl_op_ref *op, const pctl_op_query *q, const pctl_plan_caps *caps)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	add_question(&s, op, q, caps);
	return pctl_str_finish(&s);
}

static struct known *find(const pctl_running *r, const char *key)
{
	return r->known == NULL || key == NULL ? NULL : pctl_map_get(r->known, key);
}

/* Without memory it is asked again. */
static void note(pctl_running *r, const char *key, const pctl_op_result *result,
		 pctl_job_plan *plan, pctl_status answer)
{
	struct known *k = calloc(1, sizeof(*k));

	if (r->known == NULL)
		r->known = pctl_map_create();
	if (k != NULL && result != NULL)
		k->result = *result;
	if (k != NULL)
		k->status = answer;
	if (k == NULL || key == NULL || r->known == NULL || !pctl_map_put(r->known, key, k)) {
		free(k);
		return;
	}
	if (plan != NULL && pctl_job_plan_share(plan, plan->name, NULL, &k->plan) != PCTL_OK)
		k->plan = NULL;
}

void pctl_run_forget(pctl_running *r)
{
	for (uint32_t i = 0; r->known != NULL && i < pctl_map_count(r->known); i++) {
		struct known *k = pctl_map_value_at(r->known, i);

		pctl_job_plan_destroy(k->plan);
		free(k);
	}
	pctl_map_destroy(r->known);
	r->known = NULL;
}

pctl_status pctl_run_infer_once(pctl_running *r, const pctl_run_node *n, const pctl_op_query *q,
				pctl_op_result *out)
{
	const pctl_pipe_job *job = n->node->job;
	char *key = key_of(&n->node->op, q, NULL);
	const struct known *k = find(r, key);
	pctl_status status = PCTL_OK;

	if (k != NULL) {
		*out = k->result;
	} else {
		status = pctl_op_infer(&n->node->op, q, job->id, &job->pos, r->call, out);
		/* A size is found in the data of each job. */
		if (status == PCTL_OK && out->measure == NULL)
			note(r, key, out, NULL, PCTL_OK);
	}
	free(key);
	return status;
}

pctl_status pctl_run_plan_once(pctl_running *r, const pctl_run_node *n, const pctl_plan_caps *caps,
			       const pctl_op_query *q, const pctl_call *call, pctl_job_plan **out)
{
	const pctl_planner planner = {r->o->ops, r->graph->kernels, *caps, 0};
	const char *job = n->node->job->id;
	char *key = key_of(&n->node->op, q, caps);
	const struct known *k = find(r, key);
	pctl_status status;

	if (k != NULL && k->plan != NULL) {
		status = pctl_job_plan_share(k->plan, job, call, out);
	} else {
		status = pctl_job_plan_op(&planner, job, &n->node->op, q, n->out, PCTL_PLAN_RUN,
					  call, out);
		if (status == PCTL_OK && k == NULL)
			note(r, key, NULL, *out, PCTL_OK);
	}
	free(key);
	return status;
}

/* ---- groups with a middle ----------------------------------------------------------------------- */

static void add_map(pctl_str_buf *s, const pctl_index_map *m)
{
	add_number(s, m->rank);
	add_number(s, m->simple);
	add_number(s, m->offset);
	for (uint32_t i = 0; i < m->rank; i++) {
		add_number(s, m->dim[i]);
		add_number(s, m->stride[i]);
	}
}

/* An op's function is told by name, version and type: a name is in one library alone. */
static void add_node(pctl_str_buf *s, const pctl_element_node *n, const pctl_op_ref *op)
{
	add_number(s, n->kind);
	add_number(s, n->buffer);
	add_number(s, n->offset);
	add_number(s, n->n_bytes);
	add_type(s, &n->type);
	pctl_str_addf(s, "%s@%" PRIu32 ";", n->op == NULL ? "" : n->op,
		      op == NULL ? 0 : op->desc->version);
	add_number(s, n->operand);
	add_number(s, n->n_in);
	for (uint32_t i = 0; i < n->n_in; i++) {
		add_number(s, n->in[i]);
		add_map(s, &n->map[i]);
	}
}

static char *through_key(const pctl_through *t, const pctl_op_ref *const *ops,
			 const pctl_plan_caps *caps)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, "through;");
	add_question(&s, t->op, t->q, caps);
	add_number(&s, t->flags);
	add_number(&s, t->n_functions);
	add_number(&s, t->n_in);
	add_number(&s, t->out_bytes);
	for (uint32_t i = 0; i < t->n_functions; i++) {
		add_number(&s, t->functions[i].flag);
		add_number(&s, t->functions[i].last);
	}
	for (uint32_t i = 0; i < t->n_in; i++)
		add_number(&s, t->in_bytes[i]);
	for (uint32_t i = 0; i < t->q->n_in; i++)
		add_number(&s, t->in[i]);
	for (uint32_t i = 0; i < t->n_nodes; i++)
		add_node(&s, &t->nodes[i], ops[i]);
	return pctl_str_finish(&s);
}

pctl_status pctl_run_through_once(pctl_running *r, const char *job, const pctl_through *t,
				  const pctl_op_ref *const *ops, const pctl_plan_caps *caps,
				  const pctl_call *call, pctl_job_plan **out)
{
	const pctl_planner planner = {r->o->ops, r->graph->kernels, *caps, 0};
	char *key = through_key(t, ops, caps);
	const struct known *k = find(r, key);
	pctl_status status;

	*out = NULL;
	if (k != NULL && k->plan != NULL) {
		status = pctl_job_plan_share(k->plan, job, call, out);
	} else if (k != NULL && k->status != PCTL_OK) {
		status = k->status;
	} else {
		status = pctl_job_plan_through(&planner, job, t, call, out);
		/* Nothing else is an answer of the library's. */
		if (k == NULL && (status == PCTL_OK || status == PCTL_E_UNSUPPORTED))
			note(r, key, NULL, *out, status);
	}
	free(key);
	return status;
}
