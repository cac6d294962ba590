/* The memo of runs. Its key is everything an answer depends on, written out and hashed: bytes, programs, shapes, price;
 * device and policy stay out. Whether an answer may be taken is another question (run_evidence.c). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "runtime/exec/run_private.h"

static void add_source(pctl_str_buf *s, const pctl_source *from)
{
	if (from->job == PCTL_FROM_INPUT)
		pctl_str_addf(s, " $%" PRIu32, from->port);
	else
		pctl_str_addf(s, " %" PRIu32 ".%" PRIu32, from->job, from->port);
}

/* Every op library that is loaded: an op may use others, in its plan or by `//# use`. */
static void add_libraries(const pctl_running *r, pctl_str_buf *s)
{
	const pctl_op_source *ops = r->o->ops;
	const char *last = NULL;

	for (uint32_t i = 0; i < ops->count(ops->ctx); i++) {
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		if (last != NULL && strcmp(last, op.plugin) == 0)
			continue;
		last = op.plugin;
		pctl_str_addf(s, "library %s %s\n", op.plugin, op.digest == NULL ? "" : op.digest);
	}
}

static pctl_status add_node(pctl_running *r, pctl_str_buf *s, const pctl_graph_node *n)
{
	pctl_status status = PCTL_OK;
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;

	if (n->job->kind == PCTL_JOB_OP) {
		pctl_str_addf(s, "op %s@%" PRIu32 " %s\n", n->op.desc->name, n->op.desc->version,
			      n->op.digest == NULL ? "" : n->op.digest);
	} else {
		status = pctl_cid_of(n->text, n->n_text, r->call, &cid);
		pctl_str_addf(s, "shader %s %s\n", pctl_cid_format(&cid, text),
			      n->job->entry == NULL ? "" : n->job->entry);
	}
	for (uint32_t i = 0; i < n->n_attr; i++)
		pctl_str_addf(s, "attr %s %zu:%s\n", n->attr[i].name, strlen(n->attr[i].text),
			      n->attr[i].text);
	for (uint32_t i = 0; i < n->n_overrides; i++)
		pctl_str_addf(s, "override %s %" PRIu64 " %s\n", n->overrides[i].name,
			      n->overrides[i].bits,
			      n->overrides[i].text == NULL ? "" : n->overrides[i].text);
	for (uint32_t i = 0; i < n->job->n_groups; i++)
		pctl_str_addf(s, "groups %s%s\n", n->job->groups[i].is_param ? "$" : "",
			      n->job->groups[i].text);
	for (uint32_t i = 0; i < n->n_vars; i++)
		pctl_str_addf(s, "var %s %" PRIu32 " %" PRIu32 "\n", n->vars[i].name, n->vars[i].in,
			      n->vars[i].out);
	for (uint32_t i = 0; n->job->kind == PCTL_JOB_SHADER && i < n->n_out; i++)
		pctl_str_addf(s, "out %s\n",
			      pctl_pattern_text(r->result->arena, &n->job->out[i].type));
	pctl_str_addf(s, "repeat %" PRIu64, n->repeat);
	for (uint32_t i = 0; i < n->n_in; i++) {
		add_source(s, &n->in[i]);
		pctl_str_addf(s, ":%" PRIu32, n->carry[i]);
	}
	pctl_str_add(s, "\n");
	return status;
}

pctl_status pctl_run_memo_key(pctl_running *r, uint8_t out[PCTL_DIGEST_BYTES])
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char text[PCTL_CID_TEXT_SIZE];
	pctl_status status = PCTL_OK;
	pctl_cid key;

	pctl_str_add(&s, "pipectl semantics " PCTL_SEMANTICS_VERSION "\n");
	for (uint32_t i = 0; i < p->n_inputs; i++)
		pctl_str_addf(&s, "input %s %s\n",
			      pctl_cid_format(pctl_source_cid(r->sources[i]), text),
			      pctl_type_text(r->result->arena, &r->input_types[i]));
	/* What a result costs belongs to the question, and the most it may need; whether it may be taken under the policy
	 * in force is asked of the record. */
	pctl_str_addf(&s, "class %" PRIu32 "\nschedule %s\n", p->max_class,
		      r->o->schedule_id == NULL ? pctl_gas_schedule_name(r->o->schedule)
						: r->o->schedule_id);
	add_libraries(r, &s);
	/* Parameters may name dimensions of outputs and dispatches, so their values belong to the
	 * question. */
	for (uint32_t i = 0; i < p->n_params; i++)
		pctl_str_addf(&s, "param %s %zu:%s\n", p->params[i].name,
			      strlen(r->graph->param_text[i]), r->graph->param_text[i]);
	for (uint32_t i = 0; i < p->n_inputs; i++)
		pctl_str_addf(&s, "pattern %s\n",
			      pctl_pattern_text(r->result->arena, &p->inputs[i].type));
	for (uint32_t i = 0; status == PCTL_OK && i < r->graph->n_nodes; i++)
		status = add_node(r, &s, &r->graph->nodes[i]);
	for (uint32_t i = 0; i < p->n_outputs; i++) {
		pctl_str_addf(&s, "output %s", p->outputs[i].port);
		add_source(&s, &r->graph->outputs[i]);
		pctl_str_add(&s, "\n");
	}
	if (status == PCTL_OK && s.failed)
		status = pctl_refuse(r->call, PC2_NOMEM, "no memory for a key");
	if (status == PCTL_OK)
		status = pctl_cid_of(s.data, s.n, r->call, &key);
	if (status == PCTL_OK)
		memcpy(out, key.digest, PCTL_DIGEST_BYTES);
	pctl_str_drop(&s);
	return status;
}

/* A job that names where it runs is like a named backend: nobody else's answer will do. */
static int is_placed(const pctl_running *r)
{
	for (uint32_t i = 0; i < r->graph->n_nodes; i++)
		if (r->graph->nodes[i].job->placement != NULL)
			return 1;
	return 0;
}

int pctl_run_memo_allowed(const pctl_running *r)
{
	return r->o->memo != NULL && r->o->observe == NULL && r->o->policy->memo != PCTL_MEMO_OFF &&
	       r->o->n_backends == 0 && !is_placed(r) && r->o->verify_ppm == 0 &&
	       !(r->o->flags & (PCTL_RUN_FRESH | PCTL_RUN_SANITIZE)) &&
	       r->graph->pipeline->n_outputs <= PCTL_MEMO_OUTPUTS_MAX;
}

static int names_match(const pctl_running *r, const pctl_memo_record *record)
{
	const pctl_pipeline *p = r->graph->pipeline;

	if (record->n_outputs != p->n_outputs)
		return 0;
	for (uint32_t i = 0; i < p->n_outputs; i++)
		if (strcmp(record->outputs[i].name, p->outputs[i].port) != 0)
			return 0;
	return 1;
}

/* A type that was written out when it was remembered. */
static int read_type(pctl_running *r, const char *text, pctl_tensor_type *out)
{
	pctl_type_pattern p;

	return pctl_type_parse(text, r->result->arena, NULL, NULL, &p) == PCTL_OK &&
	       pctl_pattern_concrete(&p, out);
}

int pctl_run_from_memo(pctl_running *r)
{
	const pctl_pipeline *p = r->graph->pipeline;
	pctl_tensor_type types[PCTL_MEMO_OUTPUTS_MAX];
	pctl_memo_record *record = calloc(1, sizeof(*record));
	int hit = record != NULL && pctl_memo_get(r->o->memo, r->result->memo_key, record) &&
		  names_match(r, record);

	if (hit) {
		r->result->memo_void = pctl_run_void_reason(r, record);
		hit = r->result->memo_void == NULL;
	}
	r->result->evidence = hit ? record->evidence : r->result->evidence;
	for (uint32_t i = 0; hit && i < p->n_inputs; i++)
		r->result->evidence =
			pctl_evidence_weaker(r->result->evidence, r->input_evidence[i]);
	for (uint32_t i = 0; hit && i < p->n_outputs; i++)
		hit = read_type(r, record->outputs[i].type, &types[i]);
	for (uint32_t i = 0; hit && i < p->n_outputs; i++)
		r->result->outputs[i] = (pctl_run_output){.type = types[i],
							  .name = p->outputs[i].port,
							  .cid = record->outputs[i].cid,
							  .n_bytes = record->outputs[i].n_bytes,
							  .evidence = r->result->evidence};
	if (hit) {
		r->gas = record->gas;
		hit = pctl_run_check_gas(r) ==
		      PCTL_OK; /* reported: a limit holds for remembered results too */
		r->result->memoised = 1;
		r->result->n_outputs = p->n_outputs;
	}
	free(record);
	return hit;
}

/* What the kernels of the run needed and were; 0 when a race was only trusted not to be, which is never remembered. */
static int describe_kernels(const pctl_running *r, pctl_memo_record *record)
{
	record->proven = 1;
	for (uint32_t i = 0; i < r->graph->n_nodes; i++) {
		const pctl_run_node *n = &r->nodes[i];
		uint64_t bytes;

		if (n->canonical->determinism > record->determinism)
			record->determinism = n->canonical->determinism;
		if (n->canonical->race != PCTL_PROOF_PROVEN)
			record->proven = 0;
		(void)pctl_num_add(n->canonical->buffer_bytes,
				   pctl_run_second_bytes(n, n->canonical), &bytes);
		if (bytes > record->memory)
			record->memory = bytes;
	}
	return record->proven || r->o->policy->race != PCTL_RACE_TRUSTED;
}

/* A stronger answer that still holds is not given up for a weaker one. */
static int is_weaker(pctl_running *r, const pctl_memo_record *record)
{
	pctl_memo_record *old = calloc(1, sizeof(*old));
	const int weaker = old != NULL && pctl_memo_get(r->o->memo, r->result->memo_key, old) &&
			   pctl_evidence_compare(record->evidence, old->evidence) < 0 &&
			   pctl_run_void_reason(r, old) == NULL;

	free(old);
	return weaker;
}

void pctl_run_to_memo(pctl_running *r)
{
	pctl_memo_record *record = calloc(1, sizeof(*record));
	int good =
		record != NULL && describe_kernels(r, record) && pctl_run_name_plugins(r, record);

	if (good) {
		record->gas = r->gas;
		record->evidence = r->result->evidence;
		record->n_outputs = r->result->n_outputs;
	}
	for (uint32_t i = 0; good && i < record->n_outputs; i++) {
		const pctl_run_output *out = &r->result->outputs[i];

		const char *type = pctl_type_text(r->result->arena, &out->type);

		good = type != NULL && strlen(out->name) < sizeof(record->outputs[i].name) &&
		       strlen(type) < sizeof(record->outputs[i].type);
		if (good) {
			memcpy(record->outputs[i].name, out->name, strlen(out->name));
			memcpy(record->outputs[i].type, type, strlen(type));
		}
		record->outputs[i].cid = out->cid;
		record->outputs[i].n_bytes = out->n_bytes;
	}
	if (good && !is_weaker(r, record))
		(void)pctl_memo_put(r->o->memo, r->result->memo_key, record,
				    NULL); /* a lost record only costs time */
	free(record);
}
