/* A chain with a shader, an account and an executor that is a function of the bytes bound, for the tests of blocks. */
#ifndef PIPECTL_TESTS_CHAIN_BLOCK_H
#define PIPECTL_TESTS_CHAIN_BLOCK_H

#include "main.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "chain/blocks/block.h"
#include "test_chain_author.h"

static uint32_t last_code, first_code;
static char last_text[2048];

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	if (first_code == 0)
		first_code = d->code;
	last_code = d->code;
	snprintf(last_text, sizeof(last_text), "%s", d->message);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

#define OK(what)                                                                         \
	do {                                                                             \
		const pctl_status ok_ = (what);                                          \
		if (ok_ != PCTL_OK)                                                      \
			fprintf(stderr, "%s: PC%04u %s\n", #what, last_code, last_text); \
		assert_int_equal(ok_, PCTL_OK);                                          \
	} while (0)
#define FAILS(what, code_)                                                                   \
	do {                                                                                 \
		last_code = first_code = 0;                                                  \
		assert_int_not_equal(what, PCTL_OK);                                         \
		if (last_code != (code_) && first_code != (code_))                           \
			fprintf(stderr, "PC%04u: PC%04u %s\n", code_, last_code, last_text); \
		assert_true(last_code == (code_) || first_code == (code_));                  \
	} while (0)

/* ---- the executor ------------------------------------------------------------------------- */

typedef struct fake {
	uint32_t n_calls, n_tasks;
	uint32_t tasks[64];  /* of the first calls */
	pctl_status trouble; /* what it returns */
	uint32_t flip;	     /* 1 + number of the task whose output is wrong */
	uint32_t at;	     /* byte that is wrong */
} fake;

static void fake_output(const pctl_task *t, uint8_t *out)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (uint32_t i = 0; i < t->n_bindings; i++) {
		const uint8_t *bytes = t->bindings[i].data;

		h = (h ^ t->bindings[i].group ^ t->bindings[i].binding << 8) * 0x100000001b3u;
		for (uint64_t k = 0; k < t->bindings[i].n_bytes; k++)
			h = (h ^ bytes[k]) * 0x100000001b3u;
	}
	for (uint64_t k = 0; k < t->n_output; k++) {
		h = h * 6364136223846793005u + 1442695040888963407u;
		out[k] = (uint8_t)(h >> 56);
	}
}

static pctl_status fake_run(void *ctx, const pctl_task *tasks, uint32_t n, const pctl_call *c)
{
	fake *f = ctx;

	(void)c;
	if (f->n_calls < 64)
		f->tasks[f->n_calls] = n;
	f->n_calls++;
	for (uint32_t i = 0; i < n; i++) {
		assert_non_null(tasks[i].unit);
		fake_output(&tasks[i], tasks[i].output);
		if (++f->n_tasks == f->flip)
			((uint8_t *)tasks[i].output)[f->at] ^= 1;
	}
	return f->trouble;
}

static const char *fake_describe(void *ctx)
{
	(void)ctx;
	return "fake";
}

/* ---- the chain ---------------------------------------------------------------------------- */

#define SHADER_TEXT                                                        \
	"//# max dispatch = 64, 1, 1\n"                                    \
	"@group(0) @binding(0) var<storage, read> a : array<u32>;\n"       \
	"@group(0) @binding(2) var<storage, read> c : array<u32>;\n"       \
	"@group(1) @binding(0) var<storage, read_write> b : array<u32>;\n" \
	"@compute @workgroup_size(1)\n"                                    \
	"fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = a[g.x] + c[g.x]; }\n"
static const char shader_text[] = SHADER_TEXT;

typedef struct rig {
	char dir[64];
	int in_memory;
	pctl_store *store;
	pctl_kernels *kernels;
	pctl_params genesis;
	pctl_executor executor, reference;
	fake fake, judge; /* judge: of the reference, which is never wrong */
	pctl_chain *chain;
	char shader[PCTL_CID_TEXT_SIZE], input[PCTL_CID_TEXT_SIZE];
} rig;

static void rig_open(rig *r, int with_executor)
{
	const pctl_chain_options o = {.dir = r->in_memory ? NULL : r->dir,
				      .store = r->store,
				      .kernels = r->kernels,
				      .genesis = &r->genesis,
				      .executor = with_executor ? &r->executor : NULL,
				      .reference = r->reference};

	OK(pctl_chain_open(&o, &call, &r->chain));
	if (r->genesis.values[PCTL_PARAM_RULES] != 1)
		author_begin(r->chain, 0, &call);
}

static void rig_close(rig *r)
{
	pctl_chain_close(r->chain);
	r->chain = NULL;
}

static void put(rig *r, const void *data, uint64_t n, char *out)
{
	pctl_cid cid;

	OK(pctl_store_put(r->store, data, n, &call, &cid));
	pctl_cid_format(&cid, out);
}

static void take(rig *r, const pctl_request *q)
{
	OK(pctl_chain_apply(r->chain, q, &call, NULL));
}

static void credit(rig *r, const char *to, uint64_t amount)
{
	const pctl_request q = {
		.kind = PCTL_MSG_LEDGER,
		.as.ledger = {
			.sender = "bank", .op = PCTL_LEDGER_CREDIT, .to = to, .amount = amount}};

	take(r, &q);
}

static inline void ledger(rig *r, const char *sender, uint32_t op, const char *to, uint64_t amount)
{
	const pctl_request q = {
		.kind = PCTL_MSG_LEDGER,
		.as.ledger = {.sender = sender, .op = op, .to = to, .amount = amount}};

	take(r, &q);
}

/* An empty chain with 10^12 gas for alice and one shader, under these parameters. */
static void rig_begin_with(rig *r, const pctl_params *genesis, int in_memory)
{
	static const uint32_t numbers[16] = {1, 2, 3, 4, 5, 6, 7, 8};
	const pctl_request upload = {.kind = PCTL_MSG_UPLOAD,
				     .as.upload = {.sender = "alice",
						   .source = (const uint8_t *)shader_text,
						   .n_source = sizeof(shader_text) - 1,
						   .description = "sum",
						   .implements = ""}};

	memset(r, 0, sizeof(*r));
	r->in_memory = in_memory;
	strcpy(r->dir, "/tmp/pctl-block-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	OK(pctl_store_open_memory(&call, &r->store));
	r->kernels = pctl_kernels_create(NULL);
	assert_non_null(r->kernels);
	r->genesis = *genesis;
	r->executor = (pctl_executor){.run = fake_run, .describe = fake_describe, .ctx = &r->fake};
	r->reference =
		(pctl_executor){.run = fake_run, .describe = fake_describe, .ctx = &r->judge};
	rig_open(r, 1);
	if (genesis->values[PCTL_PARAM_RULES] != 1)
		author_begin(r->chain, 1, &call);
	credit(r, "alice", 1000000000000u);
	take(r, &upload);
	{
		pctl_cid cid;

		OK(pctl_cid_of(shader_text, sizeof(shader_text) - 1, &call, &cid));
		pctl_cid_format(&cid, r->shader);
	}
	put(r, numbers, sizeof(numbers), r->input);
	if (genesis->values[PCTL_PARAM_RULES] != 1) {
		const pctl_request blob = {
			.kind = PCTL_MSG_BLOB,
			.as.blob = {"alice", (const uint8_t *)numbers, sizeof(numbers), 1000}};

		take(r, &blob);
	}
}

/* Under a version of the rules. budget 0: the default. */
static inline pctl_params params_of(uint64_t rules, uint64_t budget)
{
	pctl_params p;

	pctl_params_default(&p);
	p.values[PCTL_PARAM_RULES] = rules;
	p.values[PCTL_PARAM_FEE_PPM] = 0;
	if (budget != 0) {
		p.values[PCTL_PARAM_THROUGHPUT] = budget;
		p.values[PCTL_PARAM_BLOCK_TIME_MS] = 1;
		p.values[PCTL_PARAM_UTILISATION] = 1000000;
	}
	return p;
}

static inline void rig_begin_under(rig *r, uint64_t rules, uint64_t budget, int in_memory)
{
	const pctl_params p = params_of(rules, budget);

	rig_begin_with(r, &p, in_memory);
}

static inline void rig_begin(rig *r, uint64_t budget, int in_memory)
{
	rig_begin_under(r, 1, budget, in_memory);
}

static void rig_end(rig *r)
{
	char command[128];

	rig_close(r);
	pctl_store_close(r->store);
	pctl_kernels_destroy(r->kernels);
	snprintf(command, sizeof(command), "rm -rf %s", r->dir);
	assert_int_equal(system(command), 0);
}

/* A job that binds `input` (NULL: the rig's) and "2": `second` (NULL: the rig's). Its id into `id`. */
typedef struct submit {
	const char *input, *second, *parent, *after;
	uint64_t parent_clock, groups;
} submit;

static inline uint64_t execute(rig *r, const submit *s, char id[PCTL_JOB_TEXT_SIZE])
{
	const pctl_msg_binding binding = {0, 2, s->second == NULL ? r->input : s->second};
	const uint32_t groups = s->groups == 0 ? 8 : (uint32_t)s->groups;
	const pctl_request q = {.kind = PCTL_MSG_EXECUTE,
				.as.execute = {.sender = "alice",
					       .shader_cid = r->shader,
					       .input = s->input == NULL ? r->input : s->input,
					       .dispatch = {groups, 1, 1},
					       .gas_limit = 10000000,
					       .bindings = &binding,
					       .n_bindings = 1,
					       .parent_clock = s->parent_clock,
					       .uniform_cid = "",
					       .output_bytes = 4 * (uint64_t)groups,
					       .parent_jobs = &s->parent,
					       .n_parent_jobs = s->parent != NULL,
					       .after = &s->after,
					       .n_after = s->after != NULL,
					       .entry = ""}};
	pctl_response answer;
	uint64_t clock;

	OK(pctl_chain_apply(r->chain, &q, &call, &answer));
	assert_int_equal(answer.kind, PCTL_MSG_EXECUTE);
	snprintf(id, PCTL_JOB_TEXT_SIZE, "%s", answer.as.execute.job_id);
	clock = answer.as.execute.logical_clock;
	pctl_response_destroy(&answer);
	return clock;
}

static inline const char *reference(const char *id, char buf[80])
{
	snprintf(buf, 80, "job:%s", id);
	return buf;
}

static pctl_status end_as(rig *r, const char *executor)
{
	const pctl_request q = {.kind = PCTL_MSG_BLOCK_END, .as.block = {.executor = executor}};

	return pctl_chain_end_block(r->chain, &q, &call, NULL);
}

static pctl_block_row end(rig *r)
{
	pctl_block_row row;

	OK(end_as(r, "node"));
	OK(pctl_blocks_last(pctl_cursor(r->chain), &call, &row));
	return row;
}

static inline pctl_chain_job job(rig *r, const char *id)
{
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_chain_job j;

	assert_true(pctl_job_id_parse(id, digest));
	OK(pctl_jobs_read(pctl_cursor(r->chain), digest, &call, &j));
	pctl_chain_job_clear(&j);
	return j;
}

static inline void sql(rig *r, const char *text)
{
	assert_int_equal(sqlite3_exec(pctl_chain_db(pctl_cursor(r->chain)), text, NULL, NULL, NULL),
			 SQLITE_OK);
}

static inline void state_root(rig *r, uint8_t out[PCTL_DIGEST_BYTES])
{
	OK(pctl_chain_root(pctl_cursor(r->chain), &call, out));
}

#endif
