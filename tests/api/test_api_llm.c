/* Language models of llm.h: logits of the model's pipeline to the bit, a submission a token, contexts that end, layers passed by, a regulator that
 * acts, what is refused. The reference runs them; tests/integration/model/machine.py has families and devices. */
#include "rig.h"

#define PIPECTL_VM_NAMES
#include "pipectl/llm.h"

#include "foundation/diag/diag.h"
#include "model/pipeline/pipeline.h"
#include "model/synth/synth.h"
#include "planted/planted.h"

#define VOCAB 280u
#define EMBD 32u
#define CONTEXT 8u

static const uint32_t tokens[CONTEXT] = {72, 105, 33, 200, 3, 3, 250, 17};

typedef struct bench {
	rig r;
	char model[96], pipe[96];
	pipectl_llm *llm;
	pipectl_vm_program *program;
} bench;

/* A model of so many layers with seeded weights, and its pipeline of `chunk` tokens. */
static void write_model(bench *b, uint64_t layers, uint64_t chunk)
{
	static const struct {
		const char *name;
		uint64_t v;
	} sizes[] = {{"n_embd", EMBD},	 {"n_heads", 2},     {"n_kv_heads", 1}, {"head_dim", 16},
		     {"n_ff", 2 * EMBD}, {"n_vocab", VOCAB}, {"n_context", 64}};
	const pctl_model_plan plan = {.batch = 1, .chunk = chunk, .context = CONTEXT};
	pctl_diag_list *list = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(list);
	pctl_model_shape s;
	pctl_model *m;
	char *text;
	FILE *f;

	assert_int_equal(pctl_synth_shape_named("qwen2.5-0.5b", call, &s), PCTL_OK);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_true(pctl_synth_set(&s, sizes[i].name, sizes[i].v));
	assert_true(pctl_synth_set(&s, "n_layers", layers));
	s.attn_scale = 0;
	pctl_model_complete(&s);
	snprintf(b->model, sizeof(b->model), "%s/m.gguf", b->r.home);
	snprintf(b->pipe, sizeof(b->pipe), "%s/m.pipe.cfg", b->r.home);
	assert_int_equal(pctl_synth_write(&s, 5, b->model, PCTL_SCALAR_F32, 0, NULL,
					  (pctl_progress_sink){0}, call),
			 PCTL_OK);
	assert_int_equal(pctl_model_open(b->model, call, &m), PCTL_OK);
	assert_int_equal(pctl_model_pipeline(m, &plan, call, &text), PCTL_OK);
	f = fopen(b->pipe, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
	free(text);
	pctl_model_close(m);
	pctl_diag_list_destroy(list);
}

static void boot(bench *b, pipectl_llm_options o, uint32_t flags)
{
	const pipectl_llm_program_options p = {.head = PCTL_HEAD(pipectl_llm_program_options),
					       .flags = flags};

	o.head = (pctl_head)PCTL_HEAD(pipectl_llm_options);
	o.device = "cpu";
	if (o.context == 0)
		o.context = CONTEXT;
	assert_int_equal(llm_boot(b->r.p, b->model, &o, &b->llm), PCTL_OK);
	assert_int_equal(llm_program(b->llm, &p, &b->program), PCTL_OK);
}

static void shut(bench *b)
{
	pipectl_vm_program_release(b->program);
	pipectl_llm_shutdown(b->llm);
	b->program = NULL;
	b->llm = NULL;
}

static void forward(bench *b, uint32_t token, float *logits)
{
	float embedding[EMBD];

	assert_int_equal(pipectl_llm_embed(b->llm, token, embedding), PCTL_OK);
	assert_int_equal(llm_forward(b->llm, b->program, embedding, logits), PCTL_OK);
}

/* The logits of the last of n tokens by a run of the pipeline. */
static void by_pipeline(bench *b, uint32_t n, float out[VOCAB])
{
	static const char *const cpu[] = {"cpu"};
	const uint32_t zero = 0;
	const pipectl_input in[] = {
		{.head = PCTL_HEAD(pipectl_input),
		 .name = "tokens",
		 .data = tokens,
		 .n_bytes = sizeof(tokens)},
		{.head = PCTL_HEAD(pipectl_input), .name = "start", .data = &zero, .n_bytes = 4},
		{.head = PCTL_HEAD(pipectl_input), .name = "count", .data = &n, .n_bytes = 4}};
	const pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
					 .backends = cpu,
					 .n_backends = 1,
					 .inputs = in,
					 .n_inputs = 3,
					 .flags = PIPECTL_RUN_NO_MEMO};
	pipectl_pipeline *pl;
	pipectl_result *result;
	const void *data;
	uint64_t n_bytes;

	assert_int_equal(pipectl_pipeline_load(b->r.p, b->pipe, NULL, 0, &pl), PCTL_OK);
	assert_int_equal(pipectl_pipeline_run(pl, &how, &result), PCTL_OK);
	assert_int_equal(pipectl_result_data(result, 0, &data, &n_bytes), PCTL_OK);
	assert_int_equal(n_bytes, 4u * VOCAB);
	memcpy(out, data, n_bytes);
	pipectl_result_release(result);
	pipectl_pipeline_release(pl);
}

static void llm__logits(void **state)
{
	float got[CONTEXT][VOCAB], want[VOCAB], again[VOCAB], embedding[EMBD], m[6];
	pipectl_llm_layout layout = {.head = PCTL_HEAD(pipectl_llm_layout)};
	pipectl_vm_layout where = {.head = PCTL_HEAD(pipectl_vm_layout)};
	pipectl_vm_stats stats = {.head = PCTL_HEAD(pipectl_vm_stats)};
	uint32_t position;
	bench b = {0};

	(void)state;
	rig_open(&b.r, NULL);
	write_model(&b, 3, CONTEXT);
	boot(&b, (pipectl_llm_options){0}, 0);
	assert_int_equal(pipectl_llm_look(b.llm, &layout), PCTL_OK);
	assert_int_equal(layout.context, CONTEXT);
	assert_int_equal(layout.n_embd, EMBD);
	assert_int_equal(layout.n_vocab, VOCAB);
	/* Three layers of twelve, the last norm, and the table that is the head's too. */
	assert_int_equal(layout.weights, 3u * 12u + 2u);
	assert_int_equal(strncmp(layout.name, "baf", 3), 0);
	assert_int_equal(pipectl_vm_look(pipectl_llm_vm(b.llm), &where), PCTL_OK);
	assert_int_equal(where.instances, 3);
	assert_int_equal(where.n_embd, EMBD);
	assert_true(layout.logits >= where.own && layout.logits % 256 == 0);
	assert_int_equal(layout.kv_bytes, 3u * where.kv_stride);
	for (uint32_t i = 0; i < CONTEXT; i++)
		forward(&b, tokens[i], got[i]);
	for (uint32_t n = 1; n <= CONTEXT; n += 3) {
		by_pipeline(&b, n, want);
		assert_memory_equal(got[n - 1], want, sizeof(want));
	}
	assert_int_equal(pipectl_vm_program_stats(b.program, &stats), PCTL_OK);
	assert_int_equal(stats.submits, CONTEXT);
	assert_int_equal(stats.rounds, CONTEXT);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(pipectl_vm_read_metrics(pipectl_llm_vm(b.llm), i, m), PCTL_OK);
		assert_true(m[0] > 0 && m[1] > 0 && m[4] == (float)i && m[5] == 0);
	}
	/* The context ends: the op that has no such position says so, once, and what stood there stands. */
	assert_int_equal(pipectl_llm_embed(b.llm, 1, embedding), PCTL_OK);
	REFUSED(&b.r, 5205, llm_forward(b.llm, b.program, embedding, NULL));
	planted("a token beyond the context of a machine", "llm_forward", "PC5205", b.r.words);
	assert_int_equal(pipectl_llm_seek(b.llm, CONTEXT - 1), PCTL_OK);
	forward(&b, tokens[CONTEXT - 1], again);
	assert_memory_equal(again, got[CONTEXT - 1], sizeof(again));
	assert_int_equal(pipectl_vm_read_globals(pipectl_llm_vm(b.llm), 0, &position, 4), PCTL_OK);
	assert_int_equal(position, CONTEXT);
	/* Another text, in the same places. */
	assert_int_equal(pipectl_llm_seek(b.llm, 0), PCTL_OK);
	forward(&b, tokens[0], again);
	assert_memory_equal(again, got[0], sizeof(again));
	/* Logits stay where they lie. */
	forward(&b, tokens[1], NULL);
	assert_int_equal(
		pipectl_vm_read_globals(pipectl_llm_vm(b.llm), layout.logits, again, sizeof(again)),
		PCTL_OK);
	assert_memory_equal(again, got[1], sizeof(again));
	shut(&b);
	rig_close(&b.r, 1);
}

static void llm__layers(void **state)
{
	const float passed_by[4] = {1, 0, 0, 0}, runs[4] = {1, 0, 0, 1};
	float whole[VOCAB], fewer[VOCAB], loud[EMBD], calm[VOCAB], acts[VOCAB], control[4];
	bench b = {0};

	(void)state;
	rig_open(&b.r, NULL);
	write_model(&b, 3, CONTEXT);
	boot(&b, (pipectl_llm_options){.flags = PIPECTL_LLM_VERIFY}, PIPECTL_VM_SKIPPING);
	forward(&b, tokens[0], whole);
	assert_int_equal(pipectl_vm_write_control(pipectl_llm_vm(b.llm), 2, passed_by), PCTL_OK);
	REFUSED(&b.r, 4408, llm_forward(b.llm, b.program, loud, NULL));
	planted("the layer with the head is not active", "llm_forward", "PC4408", b.r.words);
	assert_int_equal(pipectl_vm_write_control(pipectl_llm_vm(b.llm), 2, runs), PCTL_OK);
	assert_int_equal(pipectl_vm_write_control(pipectl_llm_vm(b.llm), 1, passed_by), PCTL_OK);
	assert_int_equal(pipectl_llm_seek(b.llm, 0), PCTL_OK);
	forward(&b, tokens[0], fewer);
	assert_int_not_equal(memcmp(whole, fewer, sizeof(whole)), 0);
	shut(&b);
	/* An embedding that explodes is damped by a regulator that acts. */
	for (uint32_t act = 0; act < 2; act++) {
		boot(&b, (pipectl_llm_options){0}, act ? PIPECTL_VM_ACT : 0);
		forward(&b, tokens[0], NULL);
		forward(&b, tokens[1], NULL);
		assert_int_equal(pipectl_llm_embed(b.llm, tokens[2], loud), PCTL_OK);
		for (uint32_t i = 0; i < EMBD; i++)
			loud[i] *= 4096.0f;
		assert_int_equal(llm_forward(b.llm, b.program, loud, act ? acts : calm), PCTL_OK);
		assert_int_equal(pipectl_vm_read_control(pipectl_llm_vm(b.llm), 1, control),
				 PCTL_OK);
		assert_true(act ? control[0] < 0.1f : control[0] == 1.0f);
		shut(&b);
	}
	assert_int_not_equal(memcmp(calm, acts, sizeof(calm)), 0);
	rig_close(&b.r, 1);
}

static void llm__refused(void **state)
{
	pipectl_llm_options o = {.head = PCTL_HEAD(pipectl_llm_options), .device = "cpu"};
	pipectl_llm_program_options po = {.head = PCTL_HEAD(pipectl_llm_program_options)};
	float embedding[EMBD] = {0};
	pipectl_vm_program *program;
	pipectl_llm *llm, *second;
	bench b = {0};

	(void)state;
	rig_open(&b.r, NULL);
	write_model(&b, 1, CONTEXT);
	o.context = CONTEXT;
	REFUSED(&b.r, 11, llm_boot(b.r.p, NULL, &o, &llm));
	REFUSED(&b.r, 6280, llm_boot(b.r.p, "/nothing/here.gguf", &o, &llm));
	o.flags = 2;
	REFUSED(&b.r, 11, llm_boot(b.r.p, b.model, &o, &llm));
	o.flags = 0;
	o.heap_bytes = 1024;
	REFUSED(&b.r, 4403, llm_boot(b.r.p, b.model, &o, &llm));
	assert_int_equal(b.r.n_errors, 1);
	assert_null(llm);
	o.heap_bytes = 0;
	o.context = 1u << 20;
	REFUSED(&b.r, 6290, llm_boot(b.r.p, b.model, &o, &llm));
	boot(&b, (pipectl_llm_options){0}, 0);
	REFUSED(&b.r, 6290, pipectl_llm_embed(b.llm, VOCAB, embedding));
	REFUSED(&b.r, 11, pipectl_llm_embed(b.llm, 0, NULL));
	REFUSED(&b.r, 11, llm_forward(b.llm, b.program, NULL, NULL));
	/* Each execution is looked behind. */
	REFUSED(&b.r, 4409, pipectl_vm_execute(b.program, 2));
	planted("two tokens in one submission", "vm_execute", "PC4409", b.r.words);
	po.flags = 64;
	REFUSED(&b.r, 11, llm_program(b.llm, &po, &program));
	assert_null(program);
	o.context = CONTEXT;
	assert_int_equal(llm_boot(b.r.p, b.model, &o, &second), PCTL_OK);
	REFUSED(&b.r, 11, llm_forward(second, b.program, embedding, NULL));
	pipectl_llm_shutdown(second);
	pipectl_llm_shutdown(NULL);
	shut(&b);
	rig_close(&b.r, 1);
}

PCTL_TESTS_MAIN(PCTL_TEST(llm__logits), PCTL_TEST(llm__layers), PCTL_TEST(llm__refused))
