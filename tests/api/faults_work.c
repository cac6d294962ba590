/* What the library is asked while its allocations fail (faults.c): a pipeline, an audit, the chain, a resident run, a model. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"
#include "model/synth/synth.h"
#include "pipectl/chain.h"
#include "pipectl/model.h"
#include "pipectl/resident.h"

#define MODEL_VOCAB 258u
#define MODEL_EMBD 32u

static void hear(void *ctx, const pctl_diag *d)
{
	outcome *o = ctx;

	if (d->severity != PCTL_SEVERITY_ERROR || plant == PLANT_SILENCE)
		return;
	o->n_errors++;
	o->n_memory += d->code == PC2_NOMEM;
	o->n_internal += d->code == PC1_INTERNAL;
	if (o->text[0] == '\0')
		snprintf(o->text, sizeof(o->text), "PC%04" PRIu32 " %s", d->code, d->message);
}

static pctl_status audit(pipectl_pipeline *pl, const pipectl_input *in, const char *second)
{
	const char *devices[] = {"cpu", second};
	const pipectl_audit_options o = {.head = PCTL_HEAD(pipectl_audit_options),
					 .devices = devices,
					 .n_devices = 2,
					 .inputs = in,
					 .n_inputs = 1,
					 .repeat = 1};
	char *json = NULL;
	pctl_status status = pipectl_audit(pl, &o, &json);

	pipectl_free(json);
	return status;
}

/* An index past the end is refused, which is no failure here: what it told is forgotten. */
static pctl_status past_end(pctl_status status, outcome *out)
{
	if (status != PCTL_E_USAGE)
		return status == PCTL_OK ? PCTL_E_INTERNAL : status;
	out->n_errors = 0;
	return PCTL_OK;
}

static pctl_status read_graph(const pipectl_chain_graph *g, outcome *out)
{
	pipectl_graph_page page = {.head = PCTL_HEAD(pipectl_graph_page)};
	pipectl_graph_edge edge = {.head = PCTL_HEAD(pipectl_graph_edge)};
	pipectl_graph_job job = {.head = PCTL_HEAD(pipectl_graph_job)};
	pipectl_graph_input input = {.head = PCTL_HEAD(pipectl_graph_input)};
	pipectl_graph_rank rank = {.head = PCTL_HEAD(pipectl_graph_rank)};
	pipectl_graph_proof proof = {.head = PCTL_HEAD(pipectl_graph_proof)};
	pctl_status status = pipectl_chain_graph_page(g, &page);

	if (status == PCTL_OK && page.n_edges + page.n_jobs == 0)
		return PCTL_E_INTERNAL; /* there is something to read */
	for (uint32_t i = 0; status == PCTL_OK && i < page.n_edges; i++)
		status = pipectl_chain_graph_edge(g, i, &edge);
	for (uint32_t i = 0; status == PCTL_OK && i < page.n_jobs; i++) {
		status = pipectl_chain_graph_job(g, i, &job);
		for (uint32_t k = 0; status == PCTL_OK && k < job.n_inputs; k++)
			status = pipectl_chain_graph_input(g, i, k, &input);
	}
	if (status == PCTL_OK)
		status = past_end(pipectl_chain_graph_rank(g, page.n_ranks, &rank), out);
	if (status == PCTL_OK)
		status = past_end(pipectl_chain_graph_proof(g, page.n_proofs, &proof), out);
	return status;
}

/* What the graph of the chain says of its edges, and of its jobs: few, so that a chain that has grown allocates as often. */
static pctl_status use_graph(pipectl_chain *c, outcome *out)
{
	pipectl_graph_question q = {.head = PCTL_HEAD(pipectl_graph_question), .limit = 2};
	pctl_status status = PCTL_OK;

	for (uint32_t op = PIPECTL_GRAPH_EDGES; status == PCTL_OK && op <= PIPECTL_GRAPH_JOBS;
	     op += PIPECTL_GRAPH_JOBS - PIPECTL_GRAPH_EDGES) {
		pipectl_chain_graph *g = NULL;

		q.op = op;
		status = pipectl_chain_graph_ask(c, &q, &g);
		if (status == PCTL_OK)
			status = read_graph(g, out);
		pipectl_chain_graph_release(g);
	}
	return status;
}

/* A shader, a job, a block that ends and is verified, and what led to what; the output goes to out->cid. */
static pctl_status use_chain(pipectl *p, outcome *out)
{
	static const char text[] = "@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
				   "@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"
				   "@compute @workgroup_size(4)\n"
				   "fn main(@builtin(global_invocation_id) id: vec3<u32>) { "
				   "o[id.x] = 2u * a[id.x]; }\n";
	static const uint32_t data[] = {1, 2, 3, 4};
	static const char *const cpu[] = {"cpu"};
	const pipectl_chain_options o = {.head = PCTL_HEAD(pipectl_chain_options),
					 .account = "ann",
					 .backends = cpu,
					 .n_backends = 1};
	const pipectl_chain_source source = {
		.head = PCTL_HEAD(pipectl_chain_source), .text = text, .n_bytes = sizeof(text) - 1};
	pipectl_account account = {.head = PCTL_HEAD(pipectl_account)};
	pipectl_chain_shader shader = {.head = PCTL_HEAD(pipectl_chain_shader)};
	pipectl_chain_job job = {.head = PCTL_HEAD(pipectl_chain_job)};
	pipectl_block block = {.head = PCTL_HEAD(pipectl_block)};
	pipectl_verdict verdict = {.head = PCTL_HEAD(pipectl_verdict)};
	pipectl_chain_work w = {.head = PCTL_HEAD(pipectl_chain_work),
				.dispatch = {1, 1, 1},
				.gas_limit = 100000,
				.output_bytes = sizeof(data)};
	char input[PIPECTL_CID_SIZE], cid[PIPECTL_CID_SIZE], id[65] = "";
	pipectl_chain *c = NULL;
	pipectl_chain_jobs *jobs = NULL;
	pctl_status status = pipectl_store_put(p, data, sizeof(data), input);

	if (status == PCTL_OK)
		status = pipectl_chain_open(p, &o, &c);
	if (status == PCTL_OK)
		status = pipectl_chain_credit(c, NULL, 1000000, &account);
	if (status == PCTL_OK)
		status = pipectl_chain_upload(c, &source, &shader);
	if (status == PCTL_OK)
		snprintf(cid, sizeof(cid), "%s", shader.cid);
	w.shader = cid;
	w.input = input;
	if (status == PCTL_OK)
		status = pipectl_chain_submit(c, &w, &job);
	if (status == PCTL_OK)
		snprintf(id, sizeof(id), "%s", job.id);
	if (status == PCTL_OK)
		status = pipectl_chain_block_end(c, NULL, &block);
	if (status == PCTL_OK)
		status = use_graph(c, out);
	if (status == PCTL_OK)
		status = pipectl_chain_jobs_of_block(c, 0, &jobs);
	if (status == PCTL_OK)
		status = pipectl_chain_verify(c, block.height, block.height, &verdict);
	if (status == PCTL_OK)
		status = pipectl_chain_job_read(c, id, &job);
	if (status == PCTL_OK)
		snprintf(out->cid, sizeof(out->cid), "%s",
			 job.output == NULL ? "none" : job.output);
	pipectl_chain_jobs_release(jobs);
	pipectl_chain_close(c);
	return status;
}

/* Steps of a pipeline that stays on a device, one that shares it, and a check; the last output goes to out->cid. */
static pctl_status use_resident(pipectl *p, const char *path, outcome *out)
{
	static const char *const cpu[] = {"cpu"}, *const changing[] = {"bytes", "keys"},
				 *const reads[] = {"crc", "log_after"};
	static const pipectl_setting states[] = {{"log", "log_after"}, {"count", "count_after"}};
	static const uint8_t zero[512] = {0}, bytes[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	static const struct {
		const char *name;
		uint64_t n;
	} all[] = {{"bytes", 10}, {"keys", 280}, {"table", 512},
		   {"log", 18},	  {"count", 4},	 {"one", 4}};
	pipectl_input in[6];
	pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
				   .backends = cpu,
				   .n_backends = 1,
				   .inputs = in,
				   .n_inputs = 6};
	pipectl_resident_options o = {.head = PCTL_HEAD(pipectl_resident_options),
				      .changing = changing,
				      .states = states,
				      .reads = reads,
				      .n_changing = 2,
				      .n_states = 2,
				      .n_reads = 2,
				      .history_bytes = 1u << 16};
	const void *from[] = {bytes, zero};
	const uint64_t from_bytes[] = {10, 280}, to_bytes[] = {8, 18};
	uint8_t crc[8], log[18];
	void *to[] = {crc, log};
	char cids[2][PIPECTL_CID_SIZE] = {"", ""};
	pipectl_pipeline *pl = NULL;
	pipectl_resident *r[2] = {NULL, NULL};
	pctl_status status = pipectl_pipeline_load(p, path, NULL, 0, &pl);

	for (uint32_t i = 0; i < 6; i++)
		in[i] = (pipectl_input){.head = PCTL_HEAD(pipectl_input),
					.name = all[i].name,
					.data = zero,
					.n_bytes = all[i].n};
	if (status == PCTL_OK)
		status = pipectl_resident_open(pl, &how, &o, &r[0]);
	how.n_inputs = 2;
	o.sharing = r[0];
	if (status == PCTL_OK)
		status = pipectl_resident_open(pl, &how, &o, &r[1]);
	for (uint32_t i = 0; status == PCTL_OK && i < 4; i++)
		status =
			pipectl_resident_step(r[i % 2], from, from_bytes, to, to_bytes, NULL, cids);
	if (status == PCTL_OK)
		status = pipectl_resident_check(r[1], 2);
	snprintf(out->cid, sizeof(out->cid), "%s", cids[1]);
	pipectl_resident_release(r[0]);
	pipectl_resident_release(r[1]);
	pipectl_pipeline_release(pl);
	return status;
}

/* Logits, an embedding, tokens with their statement and the statement again, by a model on the reference. */
static pctl_status run_model(pipectl_engine *e, pipectl_model *m, outcome *out)
{
	pipectl_generate_options o = {.head = PCTL_HEAD(pipectl_generate_options),
				      .n_tokens = 2,
				      .seed = 5,
				      .temperature = 1,
				      .flags = PIPECTL_GENERATE_RECEIPT | PIPECTL_GENERATE_LOGITS};
	pipectl_sequence s = {.head = PCTL_HEAD(pipectl_sequence)};
	float logits[MODEL_VOCAB], embedding[MODEL_EMBD];
	pipectl_generation *g = NULL;
	const char *text = NULL;
	uint64_t n = 0;
	pctl_status status =
		pipectl_model_encode(m, "some", 4, PIPECTL_ENCODE_BEGIN, &o.prompt, &o.n_prompt);

	if (status == PCTL_OK)
		status = pipectl_engine_logits(e, o.prompt, o.n_prompt, 0, logits, MODEL_VOCAB);
	if (status == PCTL_OK)
		status = pipectl_engine_embed(e, o.prompt, o.n_prompt, embedding, MODEL_EMBD);
	if (status == PCTL_OK)
		status = pipectl_generate(e, &o, &g);
	if (status == PCTL_OK)
		status = pipectl_generation_sequence(g, 0, &s);
	if (status == PCTL_OK)
		snprintf(out->cid, sizeof(out->cid), "%" PRIu32 " %" PRIu32 " %a %a", s.tokens[0],
			 s.tokens[1], (double)logits[0], (double)embedding[0]);
	if (status == PCTL_OK)
		status = pipectl_generation_receipt(g, &text, &n);
	text = text == NULL ? NULL : strdup(text);
	pipectl_generation_release(g);
	if (status == PCTL_OK && text != NULL)
		status = pipectl_generation_replay(e, "r", text, n, NULL, NULL);
	free((char *)(uintptr_t)text);
	return status;
}

static pctl_status use_model(pipectl *p, const char *path, outcome *out)
{
	static const char *const cpu[] = {"cpu"};
	const pipectl_engine_options o = {.head = PCTL_HEAD(pipectl_engine_options),
					  .backends = cpu,
					  .n_backends = 1,
					  .chunk = 2};
	pipectl_model_facts f = {.head = PCTL_HEAD(pipectl_model_facts)};
	pipectl_model *m = NULL;
	pipectl_engine *e = NULL;
	char *text = NULL;
	pctl_status status = pipectl_model_open(p, path, NULL, &m);

	if (status == PCTL_OK)
		status = pipectl_model_describe(m, &f);
	if (status == PCTL_OK)
		status = pipectl_model_check(m);
	if (status == PCTL_OK)
		status = pipectl_model_pipeline(m, NULL, &text);
	pipectl_free(text);
	if (status == PCTL_OK)
		status = pipectl_engine_open(m, &o, &e);
	if (status == PCTL_OK)
		status = run_model(e, m, out);
	pipectl_engine_release(e);
	pipectl_model_release(m);
	return status;
}

/* The model of the sweep, made in the home. */
int make_model(const char *home, char path[256])
{
	static const struct {
		const char *name;
		uint64_t v;
	} sizes[] = {{"n_layers", 1},	       {"n_embd", MODEL_EMBD}, {"n_heads", 1},
		     {"head_dim", 32},	       {"n_kv_heads", 1},      {"n_ff", 32},
		     {"n_vocab", MODEL_VOCAB}, {"n_context", 64}};
	const pctl_progress_sink silent = {NULL, NULL};
	pctl_model_shape s;

	if (pctl_synth_shape_named("qwen3-0.6b", NULL, &s) != PCTL_OK)
		return 0;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		(void)pctl_synth_set(&s, sizes[i].name, sizes[i].v);
	snprintf(path, 256, "%s/model.gguf", home);
	return pctl_synth_write(&s, 3, path, PCTL_SCALAR_F32, 0, NULL, silent, NULL) == PCTL_OK;
}

const char *resident_path, *model_path;

pctl_status work(const char *home, const char *path, const char *second, outcome *out)
{
	static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 2}};
	static const char *const cpu[] = {"cpu"};
	const pipectl_input in = {.head = PCTL_HEAD(pipectl_input),
				  .name = "edges",
				  .data = edges,
				  .n_bytes = sizeof(edges)};
	const pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
					 .backends = cpu,
					 .n_backends = 1,
					 .inputs = &in,
					 .n_inputs = 1,
					 .flags = PIPECTL_RUN_NO_MEMO};
	const pipectl_options options = {
		.head = PCTL_HEAD(pipectl_options), .home = home, .ctx = out, .diagnostic = hear};
	pipectl_output o = {.head = PCTL_HEAD(pipectl_output)};
	pipectl *p = NULL;
	pipectl_pipeline *pl = NULL;
	pipectl_result *r = NULL;
	const void *data;
	uint64_t n;
	const int is_chain = path == NULL;
	pctl_status status = pipectl_open(&options, &p);

	if (is_chain || path == resident_path || path == model_path) {
		if (status == PCTL_OK)
			status = is_chain	      ? use_chain(p, out)
				 : path == model_path ? use_model(p, path, out)
						      : use_resident(p, path, out);
		pipectl_close(p);
		return status;
	}
	if (status == PCTL_OK)
		status = pipectl_pipeline_load(p, path, NULL, 0, &pl);
	if (status == PCTL_OK)
		status = pipectl_pipeline_check(pl, &how, cpu, 1);
	if (status == PCTL_OK)
		status = pipectl_pipeline_run(pl, &how, &r);
	if (status == PCTL_OK)
		status = pipectl_result_output(r, 0, &o);
	if (status == PCTL_OK)
		status = pipectl_result_data(r, 0, &data, &n);
	if (status == PCTL_OK)
		snprintf(out->cid, sizeof(out->cid), "%s", o.cid);
	if (status == PCTL_OK && second != NULL)
		status = audit(pl, &in, second);
	pipectl_result_release(r);
	pipectl_pipeline_release(pl);
	pipectl_close(p);
	return status;
}
