/* Receipts of runs as text, in the one form that a reader accepts. */
#include <inttypes.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/form.h"
#include "evidence/receipt/receipt.h"

#define OPENING                                                                                \
	"// What a run did. `pipectl receipt verify FILE` checks it, `pipectl receipt replay " \
	"FILE` runs it again.\nreceipt : {\n"

pctl_status pctl_receipt_create(const pctl_call *call, pctl_receipt **out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_receipt *r = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*r));

	*out = NULL;
	if (r == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a receipt");
	}
	r->arena = arena;
	r->semantics = r->pipeline = r->max_class = r->schedule = r->schedule_id = "";
	r->version = r->made = r->policy = r->policy_id = "";
	r->repository = r->commit = r->path = r->state = r->name = "";
	pctl_run_trace_begin(&r->trace, arena);
	*out = r;
	return PCTL_OK;
}

void pctl_receipt_destroy(pctl_receipt *r)
{
	if (r != NULL)
		pctl_arena_destroy(r->arena); /* which holds r itself */
}

static void add_pairs(pctl_str_buf *s, const char *indent, const char *key,
		      const pctl_receipt_pair *pairs, uint32_t n)
{
	pctl_str_addf(s, "%s%s : (", indent, key);
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_addf(s, "%s\n%s  [ ", i == 0 ? "" : ",", indent);
		pctl_form_quote(s, pairs[i].key);
		pctl_str_add(s, ", ");
		pctl_form_quote(s, pairs[i].value);
		pctl_str_add(s, " ]");
	}
	pctl_str_add(s, " );\n");
}

static void add_data(pctl_str_buf *s, const char *key, const pctl_receipt_data *data, uint32_t n)
{
	char cid[PCTL_CID_TEXT_SIZE];

	pctl_str_addf(s, "    %s : (", key);
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_add(s, i == 0 ? "\n      { name = " : ",\n      { name = ");
		pctl_form_quote(s, data[i].name);
		pctl_str_add(s, "; type = ");
		pctl_form_quote(s, data[i].type);
		pctl_str_addf(s, "; bytes = \"%" PRIu64 "\"; cid = \"%s\"; }", data[i].n_bytes,
			      pctl_cid_format(&data[i].cid, cid));
	}
	pctl_str_add(s, " );\n");
}

static void add_question(pctl_str_buf *s, const pctl_receipt *r)
{
	pctl_str_add(s, "  question : {\n");
	pctl_form_string(s, "    ", "semantics", r->semantics);
	pctl_form_string(s, "    ", "pipeline", r->pipeline);
	pctl_form_string(s, "    ", "class", r->max_class);
	pctl_str_addf(s, "    native = %s;\n", r->native ? "true" : "false");
	add_data(s, "texts", r->texts, r->n_texts);
	add_pairs(s, "    ", "params", r->params, r->n_params);
	add_data(s, "inputs", r->inputs, r->n_inputs);
	pctl_str_add(s, "    jobs : (");
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		pctl_str_add(s, i == 0 ? "\n      [ " : ",\n      [ ");
		pctl_form_quote(s, r->jobs[i].id);
		pctl_str_add(s, ", ");
		pctl_form_quote(s, r->jobs[i].what);
		pctl_str_add(s, " ]");
	}
	pctl_str_add(s, " );\n");
	pctl_form_string(s, "    ", "schedule", r->schedule);
	pctl_form_string(s, "    ", "schedule_id", r->schedule_id);
	pctl_str_add(s, "  };\n");
}

static void add_answer(pctl_str_buf *s, const pctl_receipt *r)
{
	char cid[PCTL_CID_TEXT_SIZE];

	pctl_str_addf(s, "  answer : {\n    executed = %s;\n", r->executed ? "true" : "false");
	pctl_form_u64(s, "    ", "gas", r->gas);
	add_data(s, "outputs", r->outputs, r->n_outputs);
	pctl_str_add(s, "    jobs : (");
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		const pctl_receipt_job *j = &r->jobs[i];

		pctl_str_addf(s,
			      "%s\n      { repeat = \"%" PRIu64 "\"; gas = \"%" PRIu64
			      "\"; kernels = (",
			      i == 0 ? "" : ",", j->repeat, j->gas);
		for (uint32_t k = 0; k < j->n_kernels; k++)
			pctl_str_addf(s, "%s\n        \"%s\"", k == 0 ? "" : ",",
				      pctl_cid_format(&j->kernels[k], cid));
		pctl_str_add(s, " ); }");
	}
	pctl_str_add(s, " );\n");
	pctl_form_string(s, "    ", "trace", pctl_trace_level_name(r->level));
	pctl_form_u64(s, "    ", "leaves", r->trace.n);
	pctl_form_digest(s, "    ", "root", r->trace.root);
	pctl_str_add(s, "  };\n");
}

static void add_where(pctl_str_buf *s, const pctl_receipt *r)
{
	char text[PCTL_EVIDENCE_TEXT];

	pctl_str_add(s, "  where : {\n");
	pctl_form_string(s, "    ", "evidence", pctl_evidence_text(r->evidence, text));
	pctl_form_string(s, "    ", "pipectl", r->version);
	pctl_form_string(s, "    ", "made", r->made);
	pctl_form_string(s, "    ", "policy", r->policy);
	pctl_form_string(s, "    ", "policy_id", r->policy_id);
	pctl_form_string(s, "    ", "repository", r->repository);
	pctl_form_string(s, "    ", "commit", r->commit);
	pctl_form_string(s, "    ", "path", r->path);
	pctl_form_string(s, "    ", "state", r->state);
	pctl_form_digest(s, "    ", "memo", r->memo);
	add_pairs(s, "    ", "libraries", r->libraries, r->n_libraries);
	pctl_str_add(s, "    devices : (");
	for (uint32_t i = 0; i < r->n_devices; i++) {
		const pctl_receipt_device *d = &r->devices[i];

		pctl_str_add(s, i == 0 ? "\n      {\n" : ",\n      {\n");
		pctl_form_string(s, "        ", "selector", d->selector);
		pctl_form_string(s, "        ", "name", d->name);
		pctl_form_string(s, "        ", "plugin", d->plugin);
		pctl_form_string(s, "        ", "version", d->version);
		pctl_form_string(s, "        ", "sha256", d->sha256);
		pctl_form_string(s, "        ", "profile", d->profile);
		add_pairs(s, "        ", "identity", d->facts, d->n_facts);
		pctl_str_add(s, "      }");
	}
	pctl_str_add(s, " );\n    jobs : (");
	for (uint32_t i = 0; i < r->n_jobs; i++) {
		pctl_str_add(s, i == 0 ? "\n      { device = " : ",\n      { device = ");
		if (r->jobs[i].device == PCTL_RECEIPT_NO_DEVICE)
			pctl_str_add(s, "\"none\"");
		else
			pctl_str_addf(s, "\"%" PRIu32 "\"", r->jobs[i].device);
		pctl_str_addf(s, "; evidence = \"%s\"; races = \"%s\"; }",
			      pctl_evidence_text(r->jobs[i].evidence, text),
			      pctl_policy_races_word(r->jobs[i].races));
	}
	pctl_str_add(s, " );\n  };\n");
}

void pctl_receipt_head(const pctl_receipt *r, pctl_str_buf *s)
{
	pctl_str_add(s, OPENING);
	pctl_form_string(s, "  ", "schema", PCTL_RECEIPT_SCHEMA);
	pctl_form_string(s, "  ", "kind", "run");
	add_question(s, r);
	add_answer(s, r);
	add_where(s, r);
	pctl_str_add(s, "};\n");
}

pctl_status pctl_receipt_question(const pctl_receipt *r, const pctl_call *call, pctl_str_buf *out)
{
	add_question(out, r);
	return out->failed ? pctl_no_memory(call, "a receipt") : PCTL_OK;
}

pctl_status pctl_receipt_text(pctl_receipt *r, const pctl_signer *signer, const pctl_call *call,
			      pctl_str_buf *out)
{
	const char **lines = pctl_arena_array(r->arena, r->trace.n + (size_t)1, sizeof(*lines));
	pctl_status status = lines == NULL ? pctl_no_memory(call, "a receipt")
					   : pctl_run_trace_finish(&r->trace, call);

	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 0; i < r->trace.n; i++)
		lines[i] = r->trace.leaves[i].line;
	pctl_receipt_head(r, out);
	status = pctl_signer_seal(signer, out, call);
	if (status != PCTL_OK)
		return status;
	pctl_form_lines(out, "trace", lines, r->trace.n);
	memcpy(r->signer, pctl_signer_public(signer), sizeof(r->signer));
	return out->failed ? pctl_no_memory(call, "a receipt") : PCTL_OK;
}
