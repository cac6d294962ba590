/* Memory that runs out: the n-th allocation of opening, checking, running and auditing, of the chain, of steps of a resident run, and of a model, fails, for n from
 * 1 densely and then in strides, or each n in turn: the right bytes or an error that says so, never a crash, and all is given back. Each n has a process. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "model/synth/synth.h"
#include "pipectl/chain.h"
#include "pipectl/model.h"
#include "pipectl/resident.h"

#define SLOTS (1u << 20)
#define DENSE 40u
#define MODEL_VOCAB 258u
#define MODEL_EMBD 32u

/* Allocations of the core's own code (the linker sends them here); those of other libraries are theirs. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);

static void *slots[SLOTS];
static uint64_t n_calls, fail_at, n_live;
static uint32_t failed;

/* What is planted after the fault, to see this test fail. */
enum { PLANT_NOTHING, PLANT_LEAK, PLANT_SILENCE, PLANT_CRASH, PLANT_WRONG, PLANTS };
static uint32_t plant;

static uint32_t place_of(const void *p)
{
	return (uint32_t)(((uintptr_t)p >> 4) * 0x9e3779b1u) & (SLOTS - 1);
}

/* What is taken out leaves this behind, so that a search goes on over it. */
static char gone;

static void *keep(void *p)
{
	uint32_t i = place_of(p);

	if (p == NULL)
		return NULL;
	while (slots[i] != NULL && slots[i] != &gone)
		i = (i + 1) & (SLOTS - 1);
	slots[i] = p;
	n_live++;
	return p;
}

static void drop(void *p)
{
	for (uint32_t i = place_of(p); p != NULL && slots[i] != NULL; i = (i + 1) & (SLOTS - 1)) {
		if (slots[i] != p)
			continue;
		slots[i] = slots[(i + 1) & (SLOTS - 1)] == NULL ? NULL : &gone;
		n_live--;
		return;
	}
}

static int refuse(void)
{
	if (++n_calls != fail_at)
		return 0;
	failed = 1;
	errno = ENOMEM;
	return 1;
}

void *__wrap_malloc(size_t n)
{
	return refuse() ? NULL : keep(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return refuse() ? NULL : keep(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	void *grown;

	if (refuse())
		return NULL;
	drop(p);
	grown = __real_realloc(p, n);
	if (grown == NULL)
		(void)keep(p);
	return keep(grown);
}

void __wrap_free(void *p)
{
	if (failed && plant == PLANT_LEAK && p != NULL) {
		plant = PLANT_NOTHING;
		return;
	}
	if (failed && plant == PLANT_CRASH)
		raise(SIGSEGV);
	drop(p);
	__real_free(p);
}

char *__wrap_strdup(const char *s)
{
	return refuse() ? NULL : keep(__real_strdup(s));
}

/* ---- what is done ------------------------------------------------------------------------- */

typedef struct outcome {
	char cid[PIPECTL_CID_SIZE];
	uint32_t n_errors, n_memory, n_internal;
	char text[160];
} outcome;

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

/* A shader, a job, a block that ends and is verified; the output goes to out->cid. */
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
static int make_model(const char *home, char path[256])
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

static const char *resident_path, *model_path;

static pctl_status work(const char *home, const char *path, const char *second, outcome *out)
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

/* ---- the sweep ---------------------------------------------------------------------------- */

/* In a process of its own: 0 for an error in good order, 4 for the right bytes all the same, 3 where the fault was not met. */
static int try_one(uint64_t n, const char *home, const char *path, const char *second,
		   const outcome *want, uint64_t live)
{
	outcome got = {.n_errors = 0};
	const uint32_t planted = plant;
	pctl_status status;
	int bad;

	n_calls = 0;
	fail_at = n;
	status = work(home, path, second, &got);
	if (!failed)
		return 3;
	if (plant == PLANT_WRONG) {
		status = PCTL_OK;
		got.cid[0] = 'x';
	}
	bad = status == PCTL_OK	  ? strcmp(got.cid, want->cid) != 0
	      : got.n_errors == 0 ? 1
				  : got.n_internal != 0;
	if ((bad || n_live > live) && !planted)
		printf("FAILED allocation %" PRIu64 ": %s, %" PRIu32
		       " errors (%s), cid %s, %" PRId64 " blocks more than before\n",
		       n, pipectl_status_name(status), got.n_errors, got.text, got.cid,
		       (int64_t)(n_live - live));
	fflush(stdout);
	return bad || n_live > live ? 1 : status == PCTL_OK ? 4 : 0;
}

static uint32_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

/* Of every allocation in turn this process takes the shard-th of n_shards; 0 shards: strides. */
static uint32_t shard, n_shards;

/* Points: the first DENSE, then strides over the rest as far as `ms` allows; or a shard of all of them, without those that come before
 * a job is audited, which is what the sweep without `second` does. */
static uint32_t sweep(const char *home, const char *path, const char *second, uint32_t ms)
{
	outcome want = {.n_errors = 0};
	uint32_t n_failed = 0, n_tried = 0, n_right = 0, began, one;
	uint64_t total, live, stride, n_before = 0;

	fail_at = 0;
	if (n_shards != 0 && path != NULL && second != NULL && second[0] != '\0') {
		n_calls = 0;
		(void)work(home, path, NULL, &want);
		n_calls = 0;
		(void)work(home, path, NULL, &want);
		n_before = n_calls;
	}
	(void)work(home, path, second,
		   &want); /* libraries of ops stay loaded, drivers are looked at */
	n_calls = 0;
	began = now_ms();
	if (work(home, path, second, &want) != PCTL_OK) {
		printf("FAILED without a fault: %s\n", want.text);
		return 1;
	}
	one = now_ms() - began + 1;
	total = n_calls;
	live = n_live;
	stride = total * one / (ms + 1) + 1;
	for (uint64_t n = n_shards != 0 ? n_before + shard : 1; n <= total;
	     n += n_shards != 0 ? n_shards
		  : n < DENSE	? 1
				: stride) {
		int ended = 0;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0)
			_exit(try_one(n, home, path, second, &want, live));
		if (pid < 0 || waitpid(pid, &ended, 0) != pid)
			return n_failed + 1;
		n_tried++;
		n_right += WIFEXITED(ended) && WEXITSTATUS(ended) == 4;
		if (WIFEXITED(ended) && WEXITSTATUS(ended) != 1)
			continue;
		n_failed++;
		if (WIFSIGNALED(ended))
			printf("FAILED allocation %" PRIu64 ": signal %d\n", n, WTERMSIG(ended));
	}
	for (plant = PLANT_LEAK; second == NULL && plant < PLANTS; plant++) {
		int ended = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(try_one(total / 3, home, path, second, &want, live));
		if (pid < 0 || waitpid(pid, &ended, 0) != pid ||
		    (WIFEXITED(ended) && WEXITSTATUS(ended) != 1)) {
			n_failed++;
			printf("FAILED: planted fault %" PRIu32 " was not seen\n", plant);
		}
	}
	plant = PLANT_NOTHING;
	printf("%s: %" PRIu32 " of %" PRIu64 " allocations failed in turn: %" PRIu32
	       " errors, %" PRIu32 " times the right bytes, %" PRIu32 " wrongly; %" PRIu64
	       " blocks stay\n",
	       path == NULL	       ? "the chain"
	       : path == resident_path ? "a resident run"
	       : path == model_path    ? "a model"
	       : second == NULL	       ? "open, check, run"
				       : "and audit",
	       n_tried, total, n_tried - n_right - n_failed, n_right, n_failed, live);
	return n_failed + (n_tried < (n_shards != 0 ? 1 : DENSE));
}

static int one_alone(const char *home, const char *path, uint64_t n)
{
	outcome want = {.n_errors = 0};

	return work(home, path, NULL, &want) != PCTL_OK ||
	       work(home, path, NULL, &want) != PCTL_OK ||
	       try_one(n, home, path, NULL, &want, n_live) == 1;
}

/* Every allocation of one sweep: run, audit, chain, resident or model; the shard of "I/N", I from 1. */
static int every(char **argv, const char *shards, const char *of)
{
	const char *home = argv[1];
	char *end;

	shard = (uint32_t)strtoul(shards, &end, 10);
	n_shards = *end == '/' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
	if (*end != '\0' || shard == 0 || shard > n_shards)
		return 2;
	if (strcmp(of, "run") == 0)
		return sweep(home, argv[2], NULL, 0) != 0;
	if (strcmp(of, "audit") == 0)
		return sweep(home, argv[2], argv[3], 0) != 0;
	if (strcmp(of, "chain") == 0)
		return sweep(home, NULL, "", 0) != 0;
	if (strcmp(of, "resident") == 0)
		return sweep(home, resident_path, "", 0) != 0;
	return strcmp(of, "model") == 0 ? sweep(home, model_path, "", 0) != 0 : 2;
}

/* faults HOME PIPELINE SECOND-DEVICE RESIDENT [MS-A-SWEEP [N]]: N: that allocation alone, in this process, for a debugger.
 * RESIDENT: the pipeline that stays on a device. PIPELINE "model": the last sweep alone, of a model.
 * faults HOME PIPELINE SECOND-DEVICE RESIDENT every I/N SWEEP: each allocation of a sweep, of which this is a shard. */
int main(int argc, char **argv)
{
	const uint32_t ms = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 22000;
	static char model[256];
	uint32_t n;

	if (argc < 5)
		return 2;
	resident_path = argv[4];
	model_path = model;
	if (argc == 8 && strcmp(argv[5], "every") == 0) {
		if (strcmp(argv[7], "model") == 0 && !make_model(argv[1], model))
			return 1;
		return every(argv, argv[6], argv[7]);
	}
	if (argc > 6)
		return one_alone(argv[1],
				 strcmp(argv[2], resident_path) == 0 ? resident_path
				 : strcmp(argv[2], "model") == 0 && make_model(argv[1], model)
					 ? model_path
					 : argv[2],
				 strtoull(argv[6], NULL, 10));
	if (strcmp(argv[2], "model") == 0)
		return !make_model(argv[1], model) || sweep(argv[1], model_path, "", ms) != 0;
	n = sweep(argv[1], argv[2], NULL, ms);
	n += sweep(argv[1], argv[2], argv[3], ms);
	n += sweep(argv[1], NULL, "", ms);
	n += sweep(argv[1], resident_path, "", ms);
	n += make_model(argv[1], model) ? sweep(argv[1], model_path, "", ms) : 1;
	return n != 0;
}
