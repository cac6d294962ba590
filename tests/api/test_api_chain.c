/* The chain through chain.h, on a home that has none yet: a shader is uploaded and a job submitted, a block ends on the
 * reference and is verified, and its output is what is computed here. Then what is refused, and what is cancelled. */
#include "rig.h"

#include <sqlite3.h>

#include "pipectl/chain.h"

#define N 128u
#define GAS 100000000u

/* Steps of the Collatz map to 1, at most 64, with the group that the chain's outputs are in. */
static const char SHADER[] = "//# max dispatch = 64,1,1\n"
			     "struct U { @size(4) add: u32, }\n"
			     "@group(0) @binding(0) var<storage, read> starts: array<u32>;\n"
			     "@group(0) @binding(1) var<uniform> u: U;\n"
			     "@group(1) @binding(0) var<storage, read_write> steps: array<u32>;\n"
			     "override scale: u32 = 1u;\n"
			     "@compute @workgroup_size(64)\n"
			     "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
			     "  var x = starts[id.x];\n"
			     "  var n = 0u;\n"
			     "  for (var i = 0u; i < 64u; i++) {\n"
			     "    if (x <= 1u) { break; }\n"
			     "    x = select(x >> 1u, 3u * x + 1u, (x & 1u) == 1u);\n"
			     "    n++;\n"
			     "  }\n"
			     "  steps[id.x] = n * scale + u.add;\n"
			     "}\n";

static uint32_t steps(uint32_t x)
{
	uint32_t n = 0;

	for (; n < 64 && x > 1; n++)
		x = x % 2 == 1 ? 3 * x + 1 : x / 2;
	return n;
}

typedef struct story {
	rig r;
	pipectl_chain *c;
	char input[PIPECTL_CID_SIZE], shader[PIPECTL_CID_SIZE];
	uint64_t cost;
} story;

static void open_chain(story *s, const char *account)
{
	static const char *const cpu[] = {"cpu"};
	const pipectl_chain_options o = {.head = PCTL_HEAD(pipectl_chain_options),
					 .account = account,
					 .backends = cpu,
					 .n_backends = 1};

	assert_int_equal(pipectl_chain_open(s->r.p, &o, &s->c), PCTL_OK);
}

/* A home with a chain, an account with gas, a registered shader and data. */
static void begin(story *s)
{
	static const char *const tags[] = {"walk", "demo", "walk"};
	const pipectl_chain_source source = {.head = PCTL_HEAD(pipectl_chain_source),
					     .text = SHADER,
					     .n_bytes = sizeof(SHADER) - 1,
					     .tags = tags,
					     .n_tags = 3};
	pipectl_account account = {.head = PCTL_HEAD(pipectl_account)};
	pipectl_chain_shader shader = {.head = PCTL_HEAD(pipectl_chain_shader)};
	uint32_t starts[N];

	*s = (story){.c = NULL};
	rig_open(&s->r, NULL);
	for (uint32_t i = 0; i < N; i++)
		starts[i] = i;
	assert_int_equal(pipectl_store_put(s->r.p, starts, sizeof(starts), s->input), PCTL_OK);
	open_chain(s, "ann");
	assert_int_equal(pipectl_chain_credit(s->c, NULL, GAS, &account), PCTL_OK);
	assert_string_equal(account.name, "ann");
	assert_int_equal(account.balance, GAS);
	assert_int_equal(pipectl_chain_upload(s->c, &source, &shader), PCTL_OK);
	assert_int_not_equal(shader.cost_per_workgroup, 0);
	assert_int_equal(shader.max_loop_iterations, 64);
	memcpy(s->shader, shader.cid, sizeof(s->shader));
	s->cost = shader.cost_per_workgroup;
}

static void end(story *s)
{
	pipectl_chain_close(s->c);
	rig_close(&s->r, 1);
}

static pipectl_chain_work work_of(const story *s)
{
	static const uint8_t document[] = {0xa1, 0x63, 'a', 'd', 'd', 0x05}; /* {"add": 5} */

	return (pipectl_chain_work){.head = PCTL_HEAD(pipectl_chain_work),
				    .shader = s->shader,
				    .input = s->input,
				    .document = document,
				    .n_document = sizeof(document),
				    .dispatch = {N / 64, 1, 1},
				    .gas_limit = 10000000,
				    .output_bytes = N * 4};
}

static void submit(story *s, const pipectl_chain_work *w, char id[65])
{
	pipectl_chain_job job = {.head = PCTL_HEAD(pipectl_chain_job)};

	assert_int_equal(pipectl_chain_submit(s->c, w, &job), PCTL_OK);
	assert_int_equal(job.state, PIPECTL_JOB_PENDING);
	assert_null(job.output);
	assert_in_range(job.gas, s->cost * (N / 64), w->gas_limit);
	memcpy(id, job.id, 65);
}

/* A row of this home's that the history does not give. */
static void plant(const story *s)
{
	char path[128];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/chain/state.sqlite", s->r.home);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(db, "UPDATE shaders SET description = 'planted'", NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(db);
}

static void write_file(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void api__chain_of_two_jobs(void **state)
{
	const pipectl_setting scale = {"scale", "3"};
	pipectl_chain_job job = {.head = PCTL_HEAD(pipectl_chain_job)};
	pipectl_block block = {.head = PCTL_HEAD(pipectl_block)}, shown = block;
	pipectl_account account = {.head = PCTL_HEAD(pipectl_account)};
	pipectl_verdict verdict = {.head = PCTL_HEAD(pipectl_verdict)};
	pipectl_chain_jobs *jobs;
	pipectl_chain_work w;
	pipectl_blob *blob;
	const uint32_t *got;
	char first[65], second[65], input[72];
	const char *parents[] = {first};
	story s;

	(void)state;
	begin(&s);
	w = work_of(&s);
	submit(&s, &w, first);
	snprintf(input, sizeof(input), "job:%s", first);
	w.input = input;
	w.parents = parents;
	w.n_parents = 1;
	w.overrides = &scale;
	w.n_overrides = 1;
	submit(&s, &w, second);
	assert_int_equal(pipectl_chain_balance(s.c, NULL, &account), PCTL_OK);
	assert_int_equal(account.balance + account.reserved, GAS);
	assert_int_not_equal(account.reserved, 0);

	assert_int_equal(pipectl_chain_block_end(s.c, NULL, &block), PCTL_OK);
	assert_int_equal(block.height, 1);
	assert_int_equal(block.complete, 2);
	assert_string_equal(block.executor, "executor");
	assert_int_equal(pipectl_chain_balance(s.c, "ann", &account), PCTL_OK);
	assert_int_equal(account.reserved, 0);
	assert_int_equal(account.balance, GAS - block.gas);
	assert_int_equal(pipectl_chain_block_end(s.c, "bob", &block), PCTL_OK);
	assert_int_equal(block.height, 2);
	assert_string_equal(block.executor, "bob");
	assert_int_equal(pipectl_chain_block_read(s.c, 0, &shown), PCTL_OK);
	assert_int_equal(shown.height, 2);
	assert_string_equal(shown.commit, block.commit);

	assert_int_equal(pipectl_chain_jobs_of_block(s.c, 1, &jobs), PCTL_OK);
	assert_int_equal(pipectl_chain_jobs_count(jobs), 2);
	assert_int_equal(pipectl_chain_jobs_at(jobs, 1, &job), PCTL_OK);
	assert_string_equal(job.id, second);
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_jobs_at(jobs, 2, &job));
	pipectl_chain_jobs_release(jobs);
	assert_int_equal(pipectl_chain_jobs_list(s.c, "ann", PIPECTL_JOB_COMPLETE, &jobs), PCTL_OK);
	assert_int_equal(pipectl_chain_jobs_count(jobs), 2);
	pipectl_chain_jobs_release(jobs);
	assert_int_equal(pipectl_chain_jobs_list(s.c, NULL, PIPECTL_JOB_PENDING, &jobs), PCTL_OK);
	assert_int_equal(pipectl_chain_jobs_count(jobs), 0);
	pipectl_chain_jobs_release(jobs);

	assert_int_equal(pipectl_chain_job_read(s.c, input, &job), PCTL_OK);
	assert_string_equal(job.id, first);
	assert_int_equal(job.ended, 1);
	assert_int_equal(pipectl_chain_job_read(s.c, second, &job), PCTL_OK);
	assert_int_equal(job.state, PIPECTL_JOB_COMPLETE);
	assert_int_equal(job.output_bytes, N * 4);
	assert_int_not_equal(job.gas_used, 0);
	assert_int_equal(pipectl_store_get(s.r.p, job.output, &blob), PCTL_OK);
	assert_int_equal(pipectl_blob_bytes(blob), N * 4);
	got = pipectl_blob_data(blob);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(got[i], 3 * steps(steps(i) + 5) + 5);
	pipectl_blob_release(blob);

	assert_int_equal(pipectl_chain_verify(s.c, 1, 2, &verdict), PCTL_OK);
	assert_int_equal(verdict.agreed, 1);
	assert_int_equal(verdict.executed, 2);
	assert_null(verdict.difference);
	plant(&s);
	REFUSED(&s.r, PC5857_BLOCK_STATE, pipectl_chain_verify(s.c, 1, 2, &verdict));
	assert_int_equal(verdict.agreed, 0);
	assert_int_equal(verdict.code, PC5857_BLOCK_STATE);
	assert_non_null(strstr(verdict.difference, "planted"));
	REFUSED(&s.r, PC5852_BLOCK_UNKNOWN, pipectl_chain_verify(s.c, 1, 9, &verdict));
	end(&s);
}

static void api__chain_of_a_pipeline(void **state)
{
	static const char text[] =
		"pipeline : { name = \"walk\"; class = \"integer\";\n"
		"  params : { by = 1; };\n"
		"  inputs : { starts : { type = \"u32[n]\"; }; u : { type = \"bytes[4]\"; }; };\n"
		"  jobs = ( { id = \"walk\"; shader = \"walk.wgsl\"; dispatch = ( \"n/64\" );\n"
		"    in : { starts = \"$starts\"; u = \"$u\"; }; out : { steps = \"u32[n]\"; };\n"
		"    override : { scale = \"$by\"; }; } );\n"
		"  outputs : { steps = \"walk.steps\"; }; };\n";
	const pipectl_setting by = {"by", "2"};
	pipectl_setting inputs[2];
	pipectl_chain_job job = {.head = PCTL_HEAD(pipectl_chain_job)};
	pipectl_block block = {.head = PCTL_HEAD(pipectl_block)};
	char path[96], uniform[PIPECTL_CID_SIZE];
	pipectl_chain_jobs *jobs;
	pipectl_pipeline *pl;
	pipectl_blob *blob;
	story s;

	(void)state;
	begin(&s);
	assert_int_equal(pipectl_store_put(s.r.p, "\1\0\0", 4, uniform), PCTL_OK);
	snprintf(path, sizeof(path), "%s/walk.wgsl", s.r.home);
	write_file(path, SHADER, sizeof(SHADER) - 1);
	snprintf(path, sizeof(path), "%s/walk.pipe.cfg", s.r.home);
	write_file(path, text, sizeof(text) - 1);
	assert_int_equal(pipectl_pipeline_load(s.r.p, path, &by, 1, &pl), PCTL_OK);
	inputs[0] = (pipectl_setting){"starts", s.input};
	inputs[1] = (pipectl_setting){"none", uniform};
	REFUSED(&s.r, PC10_USAGE,
		pipectl_chain_submit_pipeline(s.c, pl, inputs, 2, 10000000, &jobs));
	assert_null(jobs);
	inputs[1].name = "u";
	assert_int_equal(pipectl_chain_submit_pipeline(s.c, pl, inputs, 2, 10000000, &jobs),
			 PCTL_OK);
	pipectl_pipeline_release(pl);
	assert_int_equal(pipectl_chain_jobs_count(jobs), 1);
	assert_int_equal(pipectl_chain_jobs_at(jobs, 0, &job), PCTL_OK);
	assert_string_equal(job.name, "walk");
	assert_int_equal(pipectl_chain_block_end(s.c, NULL, &block), PCTL_OK);
	assert_int_equal(pipectl_chain_job_read(s.c, job.id, &job), PCTL_OK);
	pipectl_chain_jobs_release(jobs);
	assert_int_equal(job.state, PIPECTL_JOB_COMPLETE);
	assert_int_equal(pipectl_store_get(s.r.p, job.output, &blob), PCTL_OK);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(((const uint32_t *)pipectl_blob_data(blob))[i], 2 * steps(i) + 1);
	pipectl_blob_release(blob);
	end(&s);
}

static void api__chain_refuses(void **state)
{
	pipectl_chain_job job = {.head = PCTL_HEAD(pipectl_chain_job)};
	pipectl_account account = {.head = PCTL_HEAD(pipectl_account)};
	pipectl_block block = {.head = PCTL_HEAD(pipectl_block)};
	pipectl_chain_options bad = {.head = PCTL_HEAD(pipectl_chain_options), .account = "No!"};
	pipectl_chain_jobs *jobs;
	pipectl_chain_work w;
	pipectl_chain *c;
	story s;

	(void)state;
	begin(&s);
	REFUSED(&s.r, PC5852_BLOCK_UNKNOWN, pipectl_chain_block_read(s.c, 0, &block));
	w = work_of(&s);
	w.shader = s.input;
	REFUSED(&s.r, PC5804_SHADER_UNKNOWN, pipectl_chain_submit(s.c, &w, &job));
	assert_null(job.id);
	w.shader = "no-alias";
	REFUSED(&s.r, PC5822_ALIAS_UNKNOWN, pipectl_chain_submit(s.c, &w, &job));
	w = work_of(&s);
	w.gas_limit = 10;
	REFUSED(&s.r, PC5818_JOB_GAS, pipectl_chain_submit(s.c, &w, &job));
	w.gas_limit = 2ull * GAS;
	REFUSED(&s.r, PC5713_LEDGER_FUNDS, pipectl_chain_submit(s.c, &w, &job));
	w = work_of(&s);
	w.uniform = s.input;
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_submit(s.c, &w, &job));
	REFUSED(&s.r, PC5801_JOB_UNKNOWN, pipectl_chain_job_read(s.c, "abc", &job));
	REFUSED(&s.r, PC5714_LEDGER_ACCOUNT, pipectl_chain_balance(s.c, "nobody", &account));
	REFUSED(&s.r, PC5711_LEDGER_AMOUNT, pipectl_chain_credit(s.c, NULL, 0, &account));
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_jobs_list(s.c, NULL, 5, &jobs));
	assert_null(jobs);
	REFUSED(&s.r, PC5710_LEDGER_NAME, pipectl_chain_open(s.r.p, &bad, &c));
	assert_null(c);
	/* Who has no account reads, and sends nothing. */
	pipectl_chain_close(s.c);
	open_chain(&s, NULL);
	w = work_of(&s);
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_submit(s.c, &w, &job));
	assert_int_equal(pipectl_chain_balance(s.c, "ann", &account), PCTL_OK);
	assert_int_equal(account.name[0], 'a');
	end(&s);
}

static pipectl_graph_page ask(const story *s, pipectl_graph_question q, pipectl_chain_graph **out)
{
	pipectl_graph_page page = {.head = PCTL_HEAD(pipectl_graph_page)};

	q.head = (pctl_head)PCTL_HEAD(pipectl_graph_question);
	if (pipectl_chain_graph_ask(s->c, &q, out) != PCTL_OK)
		fail_msg("PC%u", s->r.last);
	assert_int_equal(pipectl_chain_graph_page(*out, &page), PCTL_OK);
	return page;
}

/* Two jobs, the second of which takes what the first gives: what is asked of them is what is known here. */
static void api__chain_graph(void **state)
{
	static const uint32_t kinds[] = {
		PIPECTL_EDGE_UPLOAD, PIPECTL_EDGE_EXECUTED, PIPECTL_EDGE_INPUT,	 PIPECTL_EDGE_INPUT,
		PIPECTL_EDGE_OUTPUT, PIPECTL_EDGE_EXECUTED, PIPECTL_EDGE_PARENT, PIPECTL_EDGE_INPUT,
		PIPECTL_EDGE_INPUT,  PIPECTL_EDGE_OUTPUT};
	pipectl_graph_edge e = {.head = PCTL_HEAD(pipectl_graph_edge)};
	pipectl_graph_job j = {.head = PCTL_HEAD(pipectl_graph_job)};
	pipectl_graph_input in = {.head = PCTL_HEAD(pipectl_graph_input)};
	pipectl_graph_rank rank = {.head = PCTL_HEAD(pipectl_graph_rank)};
	pipectl_graph_proof proof = {.head = PCTL_HEAD(pipectl_graph_proof)};
	pipectl_block block = {.head = PCTL_HEAD(pipectl_block)};
	pipectl_graph_question q = {.op = PIPECTL_GRAPH_EDGES};
	char first[65], second[65], input[72], next[512], name[72], output[PIPECTL_CID_SIZE];
	pipectl_graph_page page;
	pipectl_chain_graph *g, *rest;
	pipectl_chain_work w;
	story s;

	(void)state;
	begin(&s);
	w = work_of(&s);
	submit(&s, &w, first);
	snprintf(input, sizeof(input), "job:%s", first);
	w.input = input;
	submit(&s, &w, second);
	snprintf(name, sizeof(name), "job:%s", second);
	assert_int_equal(pipectl_chain_block_end(s.c, NULL, &block), PCTL_OK);
	/* All edges, the second page by what the first one ended with. */
	q.limit = 7;
	page = ask(&s, q, &g);
	assert_int_equal(page.n_edges, 7);
	assert_int_equal(page.n_jobs + page.n_ranks + page.n_proofs, 0);
	assert_in_range(page.n_next, 1, sizeof(next));
	memcpy(next, page.next, page.n_next);
	q.next = next;
	q.n_next = page.n_next;
	page = ask(&s, q, &rest);
	assert_int_equal(page.n_edges, 3);
	assert_int_equal(page.n_next, 0);
	assert_null(page.next);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(pipectl_chain_graph_edge(i < 7 ? g : rest, i < 7 ? i : i - 7, &e),
				 PCTL_OK);
		assert_int_equal(e.number, i + 1);
		assert_int_equal(e.kind, kinds[i]);
		assert_int_equal(e.height, 1);
		assert_int_equal(e.is_gone, 0);
		if (i == 0)
			assert_null(e.job);
		else
			assert_string_equal(e.job, i < 5 ? input : name);
		if (e.kind == PIPECTL_EDGE_INPUT || e.kind == PIPECTL_EDGE_OUTPUT)
			assert_string_equal(e.via, s.shader);
		else
			assert_null(e.via);
		if (e.kind == PIPECTL_EDGE_OUTPUT)
			memcpy(output, e.target, sizeof(output));
	}
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_edge(rest, 3, &e));
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_job(rest, 0, &j));
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_input(rest, 0, 0, &in));
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_rank(rest, 0, &rank));
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_proof(rest, 0, &proof));
	pipectl_chain_graph_release(g);
	pipectl_chain_graph_release(rest);
	/* By a role and kinds. */
	page = ask(&s,
		   (pipectl_graph_question){.op = PIPECTL_GRAPH_EDGES,
					    .role = PIPECTL_GRAPH_FROM,
					    .name = s.input,
					    .kinds = 1u << PIPECTL_EDGE_INPUT},
		   &g);
	assert_int_equal(page.n_edges, 1);
	assert_int_equal(pipectl_chain_graph_edge(g, 0, &e), PCTL_OK);
	assert_string_equal(e.source, s.input);
	pipectl_chain_graph_release(g);
	/* What led to the second output. */
	page = ask(&s, (pipectl_graph_question){.op = PIPECTL_GRAPH_HISTORY, .name = output}, &g);
	assert_int_equal(page.n_jobs, 2);
	assert_int_equal(page.cut, 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(pipectl_chain_graph_job(g, i, &j), PCTL_OK);
		assert_int_equal(j.state, PIPECTL_JOB_COMPLETE);
		assert_string_equal(j.shader, s.shader);
		assert_string_equal(j.sender, "ann");
		assert_null(j.error);
		assert_int_equal(j.ended, 1);
		for (uint32_t k = 0; strcmp(j.id, second) == 0 && k < j.n_inputs; k++) {
			assert_int_equal(pipectl_chain_graph_input(g, i, k, &in), PCTL_OK);
			if (in.maker != NULL)
				assert_string_equal(in.maker, first);
		}
		REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_input(g, i, j.n_inputs, &in));
	}
	pipectl_chain_graph_release(g);
	page = ask(&s, (pipectl_graph_question){.op = PIPECTL_GRAPH_DEPENDENTS, .name = s.input},
		   &g);
	assert_int_equal(page.n_jobs, 2);
	pipectl_chain_graph_release(g);
	page = ask(&s,
		   (pipectl_graph_question){
			   .op = PIPECTL_GRAPH_JOBS, .name = "account:ann", .to_clock = j.clock},
		   &g);
	assert_in_range(page.n_jobs, 1, 2);
	pipectl_chain_graph_release(g);
	/* What is none. */
	q = (pipectl_graph_question){.head = PCTL_HEAD(pipectl_graph_question), .op = 6};
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_ask(s.c, &q, &g));
	assert_null(g);
	q.op = PIPECTL_GRAPH_EDGES;
	q.n_next = 3;
	REFUSED(&s.r, PC11_API_USE, pipectl_chain_graph_ask(s.c, &q, &g));
	q.n_next = 0;
	q.op = PIPECTL_GRAPH_RANK;
	q.name = output;
	REFUSED(&s.r, PC6102_EPOCH_NONE, pipectl_chain_graph_ask(s.c, &q, &g));
	q.op = PIPECTL_GRAPH_EDGES;
	q.name = NULL;
	q.height = 99;
	REFUSED(&s.r, PC5852_BLOCK_UNKNOWN, pipectl_chain_graph_ask(s.c, &q, &g));
	q.height = 0;
	q.role = PIPECTL_GRAPH_TO;
	q.name = "job:xyz";
	REFUSED(&s.r, PC5880_EDGE_NAME, pipectl_chain_graph_ask(s.c, &q, &g));
	assert_null(g);
	pipectl_chain_graph_release(NULL);
	end(&s);
}

static void api__chain_cancelled(void **state)
{
	pipectl_chain_job job = {.head = PCTL_HEAD(pipectl_chain_job)};
	pipectl_block block = {.head = PCTL_HEAD(pipectl_block)};
	pipectl_chain_work w;
	char id[65];
	story s;

	(void)state;
	begin(&s);
	w = work_of(&s);
	submit(&s, &w, id);
	s.r.n_asked = 0;
	s.r.cancel_at = 1;
	assert_int_equal(pipectl_chain_block_end(s.c, NULL, &block), PCTL_E_CANCELLED);
	assert_int_not_equal(s.r.n_asked, 0);
	s.r.cancel_at = 0;
	REFUSED(&s.r, PC5852_BLOCK_UNKNOWN, pipectl_chain_block_read(s.c, 0, &block));
	assert_int_equal(pipectl_chain_job_read(s.c, id, &job), PCTL_OK);
	assert_int_equal(job.state, PIPECTL_JOB_PENDING);
	assert_int_equal(pipectl_chain_block_end(s.c, NULL, &block), PCTL_OK);
	assert_int_equal(block.complete, 1);
	end(&s);
}

PCTL_TESTS_MAIN(PCTL_TEST(api__chain_of_two_jobs), PCTL_TEST(api__chain_of_a_pipeline),
		PCTL_TEST(api__chain_refuses), PCTL_TEST(api__chain_cancelled),
		PCTL_TEST(api__chain_graph))
