/* The JSON documents of runs, plans and checks; see document.h. */
#include "host/document.h"

#include <stdio.h>
#include <string.h>

void pctl_document_begin(pctl_json *j, const char *name)
{
	char schema[64];

	pctl_json_init(j, 2);
	pctl_json_object_begin(j);
	snprintf(schema, sizeof(schema), "pipectl.%s/1", name);
	pctl_json_kv_string(j, "schema", schema);
}

char *pctl_document_end(pctl_json *j, pctl_status status, const pctl_diag_list *said)
{
	pctl_json_kv_string(j, "status", pctl_status_name(status));
	pctl_json_key(j, "diagnostics");
	pctl_diag_render_json(said, j);
	pctl_json_object_end(j);
	return pctl_json_finish(j);
}

void pctl_document_place(pctl_json *j, const pctl_repo_place *at)
{
	pctl_json_key(j, "source");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "repository", at->repository);
	pctl_json_kv_string(j, "commit", at->commit);
	pctl_json_kv_string(j, "path", at->path);
	pctl_json_kv_string(j, "state", pctl_repo_state_name(at->state));
	pctl_json_kv_bool(j, "committed", (int)at->committed);
	pctl_json_object_end(j);
}

const char *pctl_check_outcome_name(uint32_t outcome)
{
	return outcome == PCTL_CHECK_PASSED   ? "passed"
	       : outcome == PCTL_CHECK_FAILED ? "failed"
					      : "not run";
}

void pctl_document_checks(pctl_json *j, const char *path, const pctl_loaded_pipeline *p,
			  pctl_status status)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "file", path);
	pctl_json_kv_bool(j, "ok", status == PCTL_OK);
	pctl_json_key(j, "checks");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < p->n_checks; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", p->checks[i].name);
		pctl_json_kv_string(j, "outcome", pctl_check_outcome_name(p->checks[i].outcome));
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

const char *pctl_race_name(uint32_t race)
{
	return race == PCTL_PROOF_PROVEN    ? "proven"
	       : race == PCTL_PROOF_REFUTED ? "refuted"
					    : "unproven";
}

static void json_outputs(pctl_json *j, const pctl_run_result *r)
{
	char cid[PCTL_CID_TEXT_SIZE], text[PCTL_EVIDENCE_TEXT];

	pctl_json_key(j, "outputs");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < r->n_outputs; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", r->outputs[i].name);
		pctl_json_kv_string(j, "cid", pctl_cid_format(&r->outputs[i].cid, cid));
		pctl_json_kv_u64(j, "bytes", r->outputs[i].n_bytes);
		pctl_json_kv_string(j, "type",
				    r->outputs[i].type.dtype == 0
					    ? NULL
					    : pctl_type_text(r->arena, &r->outputs[i].type));
		pctl_json_kv_string(j, "evidence",
				    pctl_evidence_text(r->outputs[i].evidence, text));
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

/* What was remembered of a job, and what that saved. */
static void json_memory(pctl_json *j, const pctl_run_job *job, int telemetry)
{
	pctl_json_kv_bool(j, "remembered", (int)job->remembered);
	if (job->memo_void != NULL)
		pctl_json_kv_string(j, "memo_void", job->memo_void);
	pctl_json_kv_u64(j, "saved_gas", job->remembered ? job->gas + job->size_gas : 0);
	if (telemetry) {
		pctl_json_key(j, "saved_seconds");
		pctl_json_double(j, (double)job->saved_ns * 1e-9);
	}
}

/* Of a plan (ran 0) nothing is known that only running shows. */
static void json_jobs(pctl_json *j, const pctl_run_result *r, int ran, int telemetry)
{
	char text[PCTL_EVIDENCE_TEXT];

	pctl_json_key(j, "jobs");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		const pctl_run_job *job = &r->jobs[i];

		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "id", job->id);
		pctl_json_kv_string(j, "what", job->what);
		pctl_json_kv_string(j, "device", job->device);
		pctl_json_kv_u64(j, "repeat", job->repeat);
		pctl_json_kv_u64(j, "gas", job->gas);
		pctl_json_kv_string(j, "class", pctl_class_name(job->determinism));
		pctl_json_kv_string(j, "race", pctl_race_name(job->race));
		pctl_json_kv_string(j, "race_evidence", pctl_policy_races_word(job->races));
		pctl_json_kv_u64(j, "buffer_bytes", job->buffer_bytes);
		pctl_json_kv_u64(j, "peak_bytes", job->peak_bytes);
		pctl_json_kv_u32(j, "kernels", job->n_kernels);
		pctl_json_kv_string(j, "fused_into",
				    job->fused == 0 ? NULL : r->jobs[job->fused - 1].id);
		pctl_json_key(j, "out");
		pctl_json_array_begin(j);
		for (uint32_t k = 0; k < job->n_out; k++)
			pctl_json_string(j, pctl_type_text(r->arena, &job->out[k]));
		pctl_json_array_end(j);
		pctl_json_kv_bool(j, "verified", (int)job->verified);
		if (ran)
			json_memory(j, job, telemetry);
		if (ran && telemetry) {
			pctl_json_kv_u32(j, "kernels_without_guards", job->stats.fast_kernels);
			pctl_json_kv_u32(j, "kernels_with_guards", job->stats.safe_kernels);
			pctl_json_kv_u32(j, "inputs_looked_at", job->stats.looked);
			pctl_json_kv_u64(j, "dispatches", job->stats.dispatches);
			pctl_json_kv_string(j, "evidence", pctl_evidence_text(job->evidence, text));
			pctl_json_key(j, "seconds");
			pctl_json_double(j, (double)job->stats.wall_ns * 1e-9);
			pctl_json_key(j, "device_seconds");
			pctl_json_double(j, (double)job->stats.device_ns * 1e-9);
		}
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void json_choices(pctl_json *j, const pctl_run_result *r, int telemetry)
{
	pctl_json_key(j, "devices_tried");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < r->n_choices; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "device", r->choices[i].selector);
		if (telemetry)
			pctl_json_kv_string(j, "name", r->choices[i].name);
		pctl_json_kv_bool(j, "taken", (int)r->choices[i].taken);
		pctl_json_kv_string(j, "why", r->choices[i].why);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void json_identity(pctl_json *j, const pctl_run_result *r)
{
	pctl_json_key(j, "device_identity");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < r->n_identity; i++)
		pctl_json_kv_string(j, r->identity[i].name, r->identity[i].value);
	pctl_json_object_end(j);
}

void pctl_document_run(pctl_json *j, const char *title, const pctl_run_result *r,
		       const pctl_policy *policy)
{
	char text[PCTL_EVIDENCE_TEXT];

	pctl_json_kv_string(j, "name", title);
	json_outputs(j, r);
	pctl_json_kv_u64(j, "gas", r->gas);
	pctl_json_kv_u64(j, "actual_gas", r->actual_gas);
	pctl_json_kv_string(j, "evidence", pctl_evidence_text(r->evidence, text));
	pctl_json_kv_bool(j, "memoised", (int)r->memoised);
	pctl_json_kv_u32(j, "remembered_jobs", r->n_remembered);
	pctl_json_kv_u64(j, "saved_gas", r->saved_gas);
	pctl_json_kv_u64(j, "kept_bytes", r->kept_bytes);
	if (r->memo_void != NULL)
		pctl_json_kv_string(j, "memo_void", r->memo_void);
	pctl_json_kv_u64(j, "peak_bytes", r->peak_bytes);
	json_jobs(j, r, 1, (int)policy->telemetry);
	json_choices(j, r, (int)policy->telemetry);
	if (policy->telemetry) {
		json_identity(j, r);
		pctl_json_key(j, "seconds");
		pctl_json_double(j, (double)r->wall_ns * 1e-9);
		pctl_json_key(j, "saved_seconds");
		pctl_json_double(j, (double)r->saved_ns * 1e-9);
	}
}

/* 1: an earlier dimension has the name. */
static int named_before(const pctl_pipeline *p, uint32_t input, uint32_t dim)
{
	const char *name = p->inputs[input].type.dim[dim].name;

	for (uint32_t i = 0; i <= input; i++)
		for (uint32_t d = 0; d < (i == input ? dim : p->inputs[i].type.rank); d++)
			if (p->inputs[i].type.dim[d].name != NULL &&
			    strcmp(p->inputs[i].type.dim[d].name, name) == 0)
				return 1;
	return 0;
}

int pctl_document_symbol(const pctl_graph *g, const pctl_run_result *r, uint32_t i,
			 const char **name, uint64_t *value)
{
	const pctl_pipeline *p = g->pipeline;

	for (uint32_t k = 0; k < p->n_inputs && k < r->n_inputs; k++)
		for (uint32_t d = 0; d < p->inputs[k].type.rank; d++) {
			*name = p->inputs[k].type.dim[d].name;
			if (*name == NULL || r->inputs[k].type.rank != p->inputs[k].type.rank ||
			    named_before(p, k, d) || i-- != 0)
				continue;
			*value = r->inputs[k].type.dim[d];
			return 1;
		}
	return 0;
}

static void json_symbols(pctl_json *j, const pctl_graph *g, const pctl_run_result *r)
{
	const char *name;
	uint64_t value;

	pctl_json_key(j, "symbols");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; pctl_document_symbol(g, r, i, &name, &value); i++)
		pctl_json_kv_u64(j, name, value);
	pctl_json_object_end(j);
}

void pctl_document_plan(pctl_json *j, const pctl_graph *g, const pctl_run_result *r,
			const pctl_policy *policy)
{
	pctl_json_kv_string(j, "name", g->pipeline->name);
	json_symbols(j, g, r);
	json_jobs(j, r, 0, 0);
	json_choices(j, r, (int)policy->telemetry);
	/* What hangs on data has no price yet: no number stands for the whole. */
	if (r->has_gas)
		pctl_json_kv_u64(j, "gas", r->gas);
	else
		pctl_json_kv_string(j, "gas", NULL);
	pctl_json_kv_u64(j, "gas_so_far", r->gas);
	pctl_json_kv_u64(j, "peak_bytes", r->peak_bytes);
	pctl_json_kv_string(j, "stopped_at", r->stopped_at);
	pctl_json_key(j, "policy");
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < pctl_policy_setting_count(policy); i++) {
		const pctl_conf_setting *s = pctl_policy_setting_at(policy, i);

		pctl_json_kv_string(j, s->key, s->value);
	}
	pctl_json_object_end(j);
}

void pctl_document_line(pctl_json *j, uint32_t line, const char *text, const pctl_gas_line *c)
{
	pctl_json_object_begin(j);
	pctl_json_kv_u32(j, "line", line);
	pctl_json_kv_u64(j, "gas", c->gas);
	pctl_json_kv_u64(j, "integer_ops", c->integer);
	pctl_json_kv_u64(j, "division_ops", c->division);
	pctl_json_kv_u64(j, "atomic_ops", c->atomic);
	pctl_json_kv_u64(j, "float_ops", c->floats);
	pctl_json_kv_u64(j, "float_division_ops", c->float_division);
	pctl_json_kv_u64(j, "elementary_ops", c->elementary);
	pctl_json_kv_u64(j, "storage_reads_bytes", c->read);
	pctl_json_kv_u64(j, "storage_writes_bytes", c->write);
	pctl_json_kv_u64(j, "barriers", c->barriers);
	pctl_json_kv_string(j, "text", text);
	pctl_json_object_end(j);
}
