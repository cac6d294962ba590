/* model.h by the library's own objects: a seeded model in both formats is described, spoken and run on the reference; logits, embeddings and
 * tokens are the same however they are asked for; what cannot be is refused in words. */
#include "models.h"

#include <math.h>

#include "foundation/diag/diag.h"

/* ---- files and words ---------------------------------------------------------------------- */

static void test_api_model__says_what_it_is(void **state)
{
	world *w = *state;
	pipectl_model_facts f = {.head = PCTL_HEAD(pipectl_model_facts)};
	pipectl_model_tensor t = {.head = PCTL_HEAD(pipectl_model_tensor)};
	pipectl_tokenizer_facts words = {.head = PCTL_HEAD(pipectl_tokenizer_facts)};
	char cid[PIPECTL_CID_SIZE];
	uint64_t n = 0;

	assert_int_equal(pipectl_model_describe(w->model, &f), PCTL_OK);
	assert_string_equal(f.family, "qwen3");
	assert_string_equal(f.layout, "gguf");
	assert_string_equal(f.path, w->path);
	assert_string_equal(f.rope_scaling, "none");
	assert_int_equal(f.n_layers, 1);
	assert_int_equal(f.n_vocab, 258);
	assert_int_equal(f.rope_dims, 32);
	assert_int_equal(f.kv_bytes, 2 * 32 * 4);
	assert_int_equal(f.flags, PIPECTL_MODEL_TIED | PIPECTL_MODEL_QK_NORM);
	for (uint64_t i = 0; i < f.n_tensors; i++) {
		assert_int_equal(pipectl_model_tensor_at(w->model, i, &t), PCTL_OK);
		assert_int_equal(pipectl_model_tensor_cid(w->model, i, cid), PCTL_OK);
		assert_int_equal(strlen(cid), PIPECTL_CID_SIZE - 1);
		n += t.n_bytes;
	}
	assert_int_equal(n, f.n_bytes);
	assert_string_equal(t.role, "output_norm");
	assert_int_equal(t.rank, 1);
	assert_int_equal(t.dims[0], 64);
	REFUSED(&w->r, PC11_API_USE, pipectl_model_tensor_at(w->model, f.n_tensors, &t));
	assert_int_equal(pipectl_model_check(w->model), PCTL_OK);
	assert_int_equal(pipectl_model_tokenizer(w->model, &words), PCTL_OK);
	assert_string_equal(words.kind, "byte-level BPE");
	assert_int_equal(words.n_tokens, 258);
	assert_int_equal(words.eos, 257);
	assert_null(words.family);
}

static void test_api_model__is_written_as_a_pipeline(void **state)
{
	world *w = *state;
	pipectl_model_plan plan = {
		.head = PCTL_HEAD(pipectl_model_plan), .batch = 2, .chunk = 3, .context = 64};
	char *text[2];

	assert_int_equal(pipectl_model_pipeline(w->model, &plan, &text[0]), PCTL_OK);
	plan.flags = PIPECTL_MODEL_UNROLLED;
	assert_int_equal(pipectl_model_pipeline(w->model, &plan, &text[1]), PCTL_OK);
	assert_non_null(strstr(text[0], "repeat"));
	assert_null(strstr(text[1], "repeat"));
	assert_non_null(strstr(text[0], "u32[2,3]"));
	pipectl_free(text[0]);
	pipectl_free(text[1]);
	assert_int_equal(pipectl_model_pipeline(w->model, NULL, &text[0]), PCTL_OK);
	pipectl_free(text[0]);
	plan.context = 129;
	REFUSED(&w->r, PC6290_MODEL_PLAN, pipectl_model_pipeline(w->model, &plan, &text[0]));
	assert_null(text[0]);
	plan.flags = 4;
	REFUSED(&w->r, PC11_API_USE, pipectl_model_pipeline(w->model, &plan, &text[0]));
}

static void test_api_model__speaks(void **state)
{
	world *w = *state;
	static const char said[] = "a\xffz <|end|>";
	const pipectl_message messages[] = {{"user", "hello"}};
	const pipectl_model_options chatty = {.head = PCTL_HEAD(pipectl_model_options),
					      .family = "chatml"};
	const uint32_t *ids, bad = 258;
	uint32_t n;
	const char *text;
	uint64_t n_bytes;
	pipectl_model *m;

	assert_int_equal(pipectl_model_encode(w->model, said, sizeof(said) - 1,
					      PIPECTL_ENCODE_BEGIN, &ids, &n),
			 PCTL_OK);
	assert_int_equal(n, sizeof(said) - 1); /* a byte each; nothing becomes special */
	assert_int_equal(pipectl_model_decode(w->model, ids, n, 0, &text, &n_bytes), PCTL_OK);
	assert_int_equal(n_bytes, sizeof(said) - 1);
	assert_memory_equal(text, said, sizeof(said));
	assert_int_equal(
		pipectl_model_encode(w->model, "<|end|>", 7, PIPECTL_ENCODE_SPECIAL, &ids, &n),
		PCTL_OK);
	assert_int_equal(n, 1);
	assert_int_equal(ids[0], 257);
	assert_int_equal(pipectl_model_encode(w->model, NULL, 0, 0, &ids, &n), PCTL_OK);
	assert_int_equal(n, 0);
	assert_non_null(ids);
	REFUSED(&w->r, PC7005_TOKENIZER_TOKEN,
		pipectl_model_decode(w->model, &bad, 1, 0, &text, &n_bytes));
	REFUSED(&w->r, PC11_API_USE, pipectl_model_encode(w->model, "", 0, 16, &ids, &n));
	REFUSED(&w->r, PC7021_TEMPLATE_FAMILY,
		pipectl_model_chat(w->model, messages, 1, PIPECTL_CHAT_PROMPT, &ids, &n));
	/* A family that is named wants tokens that this vocabulary has not. */
	assert_int_equal(pipectl_model_open(w->r.p, w->path, &chatty, &m), PCTL_OK);
	REFUSED(&w->r, PC7023_TEMPLATE_TOKEN,
		pipectl_model_chat(m, messages, 1, PIPECTL_CHAT_PROMPT, &ids, &n));
	pipectl_model_release(m);
	REFUSED(&w->r, 6280, pipectl_model_open(w->r.p, "/nowhere", NULL, &m));
	assert_null(m);
}

/* ---- an engine ---------------------------------------------------------------------------- */

static void test_api_model__logits_do_not_depend_on_chunks(void **state)
{
	world *w = *state;
	static const uint32_t ids[] = {72, 101, 108, 108, 111, 32, 119};
	static float all[7 * VOCAB], last[VOCAB], other[VOCAB], embedding[64];
	pipectl_engine_facts f = {.head = PCTL_HEAD(pipectl_engine_facts)};
	pipectl_engine *whole;

	assert_int_equal(pipectl_engine_logits(w->engine, ids, 7, 1, all, 7 * VOCAB), PCTL_OK);
	assert_int_equal(pipectl_engine_logits(w->engine, ids, 7, 0, last, VOCAB), PCTL_OK);
	assert_memory_equal(last, all + 6 * VOCAB, sizeof(last));
	assert_memory_not_equal(last, all, sizeof(last));
	open_engine(w, 1, 7, &whole);
	assert_int_equal(pipectl_engine_logits(whole, ids, 7, 0, other, VOCAB), PCTL_OK);
	assert_memory_equal(last, other, sizeof(last));
	pipectl_engine_release(whole);
	assert_int_equal(pipectl_engine_embed(w->engine, ids, 7, embedding, 64), PCTL_OK);
	assert_true(isfinite(embedding[0]) && embedding[0] != 0);
	REFUSED(&w->r, PC11_API_USE, pipectl_engine_logits(w->engine, ids, 7, 1, all, VOCAB));
	REFUSED(&w->r, PC11_API_USE, pipectl_engine_embed(w->engine, ids, 7, embedding, 63));
	REFUSED(&w->r, PC6290_MODEL_PLAN, pipectl_engine_logits(w->engine, ids, 0, 0, last, VOCAB));
	REFUSED(&w->r, PC6290_MODEL_PLAN,
		pipectl_engine_embed(w->engine, &(uint32_t){VOCAB}, 1, embedding, 64));
	assert_int_equal(pipectl_engine_describe(w->engine, &f), PCTL_OK);
	assert_string_equal(f.device, "cpu:0");
	assert_true(f.total_bytes > f.constant_bytes && f.constant_bytes > 0 && f.cache_bytes > 0);
	assert_int_equal(f.n_free_slots, 3);
	assert_int_equal(f.n_vocab, VOCAB);
	assert_int_equal(f.chunk, 4);
	assert_int_equal(strlen(f.model), PIPECTL_CID_SIZE - 1);
}

/* From the least budget, which a refusal tells, to all of it: the same logits, within the budget, and what moves is told. */
static void test_api_model__weights_stream_under_a_budget(void **state)
{
	world *w = *state;
	static const uint32_t ids[] = {72, 101, 108, 108, 111};
	static float want[VOCAB], got[VOCAB];
	static const char *const cpu[] = {"cpu"};
	pipectl_engine_options o = {.head = PCTL_HEAD(pipectl_engine_options),
				    .backends = cpu,
				    .n_backends = 1,
				    .chunk = 4,
				    .context = 64};
	pipectl_engine_facts all = {.head = PCTL_HEAD(pipectl_engine_facts)}, f = all;
	pipectl_engine *e;

	assert_int_equal(pipectl_engine_open(w->model, &o, &e), PCTL_OK);
	assert_int_equal(pipectl_engine_logits(e, ids, 5, 0, want, VOCAB), PCTL_OK);
	assert_int_equal(pipectl_engine_describe(e, &all), PCTL_OK);
	pipectl_engine_release(e);
	assert_true(all.peak_bytes == all.total_bytes && all.total_bytes > all.constant_bytes);
	assert_true(all.uploaded_bytes == 0 && all.token_uploaded_bytes == 0);
	assert_int_equal(all.token_submits, 1);
	for (uint64_t part = 1; part <= 8; part++) {
		/* Weights are cut off by eighths. */
		o.memory_budget = all.total_bytes - all.constant_bytes * part / 8;
		f = (pipectl_engine_facts){.head = PCTL_HEAD(pipectl_engine_facts)};
		assert_int_equal(pipectl_engine_open(w->model, &o, &e), PCTL_OK);
		if (pipectl_engine_logits(e, ids, 5, 0, got, VOCAB) != PCTL_OK) {
			/* The last of them has no room for the largest weight of a command. */
			assert_true(part > 2);
			assert_int_equal(w->r.last, PC5204_MEMORY);
			pipectl_engine_release(e);
			return;
		}
		assert_memory_equal(got, want, sizeof(want));
		assert_int_equal(pipectl_engine_describe(e, &f), PCTL_OK);
		assert_true(f.peak_bytes <= o.memory_budget && f.total_bytes <= f.peak_bytes);
		assert_true(f.constant_bytes < all.constant_bytes);
		assert_true(f.token_uploaded_bytes >= all.constant_bytes - f.constant_bytes);
		assert_true(f.uploaded_bytes >= f.token_uploaded_bytes && f.token_submits > 1);
		pipectl_engine_release(e);
	}
	fail_msg("a budget without any weight is enough");
}

static void test_api_model__generates(void **state)
{
	world *w = *state;
	pipectl_sequence s = {.head = PCTL_HEAD(pipectl_sequence)};
	pipectl_generation *g, *more;
	uint32_t first[5], going = 1, steps = 0;
	static float last[VOCAB];
	heard h, other;
	pipectl_generate_options o = question(&h);

	o.flags = PIPECTL_GENERATE_LOGITS;
	assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_OK);
	assert_int_equal(pipectl_generation_sequence(g, 0, &s), PCTL_OK);
	assert_int_equal(s.n_tokens, h.n);
	assert_memory_equal(s.tokens, h.tokens, 4 * h.n);
	assert_memory_equal(s.text, h.text, strlen(h.text));
	assert_non_null(s.ended_by);
	memcpy(first, s.tokens, sizeof(first));
	assert_int_equal(pipectl_engine_logits(w->engine, prompt, 6, 0, last, VOCAB), PCTL_OK);
	assert_memory_equal(last, h.logits, sizeof(last));
	REFUSED(&w->r, PC11_API_USE, pipectl_generation_sequence(g, 1, &s));
	pipectl_generation_release(g);
	/* In company, and beside another generation, the same. */
	o = question(&h);
	o.sequences = 2;
	assert_int_equal(pipectl_generation_begin(w->engine, &o, &g), PCTL_OK);
	o = question(&other);
	o.seed = 4;
	assert_int_equal(pipectl_generation_begin(w->engine, &o, &more), PCTL_OK);
	REFUSED(&w->r, PC6290_MODEL_PLAN,
		pipectl_generate(w->engine, &o, &(pipectl_generation *){0}));
	while (going != 0) {
		assert_int_equal(pipectl_generation_step(more, &going), PCTL_OK);
		assert_int_equal(pipectl_generation_step(g, &going), PCTL_OK);
		steps++;
	}
	assert_int_equal(pipectl_generation_step(g, &going), PCTL_OK);
	assert_int_equal(going, 0);
	assert_int_equal(steps, 2 + 4);
	assert_memory_equal(h.tokens, first, sizeof(first));
	assert_memory_not_equal(other.tokens, first, sizeof(first));
	assert_int_equal(pipectl_generation_sequence(g, 1, &s), PCTL_OK);
	assert_memory_not_equal(s.tokens, first, sizeof(first));
	pipectl_generation_release(more);
	pipectl_generation_release(g);
	/* A sequence ends where the caller says so. */
	o = question(&h);
	h.stop_at = 2;
	assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_OK);
	assert_int_equal(pipectl_generation_sequence(g, 0, &s), PCTL_OK);
	assert_string_equal(s.ended_by, "stopped");
	assert_int_equal(s.n_tokens, 2);
	pipectl_generation_release(g);
}

static void test_api_model__samples_as_asked(void **state)
{
	world *w = *state;
	heard plain, h;
	pipectl_generate_options o = question(&plain);
	pipectl_generation *g;

	o.temperature = 0;
	assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_OK);
	pipectl_generation_release(g);
	for (uint32_t i = 0; i < 6; i++) {
		o = question(&h);
		/* One token is all that is left, so that it is the largest logit's. */
		o.top_k = i == 0;
		o.top_p = i == 1 ? 1e-6f : 0;
		o.min_p = i == 2 ? 1 : 0;
		o.repetition_penalty = i == 3 ? 50 : 0;
		o.presence_penalty = i == 4 ? 50 : 0;
		o.frequency_penalty = i == 5 ? 50 : 0;
		o.temperature = i < 3 ? 1 : 0;
		assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_OK);
		pipectl_generation_release(g);
		if (i < 3)
			assert_memory_equal(h.tokens, plain.tokens, 4 * plain.n);
		for (uint32_t k = 0; i >= 3 && k < h.n; k++)
			for (uint32_t j = 0; j < k; j++)
				assert_int_not_equal(h.tokens[j], h.tokens[k]);
	}
	o = question(&h);
	o.top_p = 1.5f;
	REFUSED(&w->r, PC6290_MODEL_PLAN, pipectl_generate(w->engine, &o, &g));
	o = question(&h);
	o.temperature = -1;
	REFUSED(&w->r, PC6290_MODEL_PLAN, pipectl_generate(w->engine, &o, &g));
	o = question(&h);
	o.flags = 8;
	REFUSED(&w->r, PC11_API_USE, pipectl_generate(w->engine, &o, &g));
	o = question(&h);
	o.n_prompt = 0;
	REFUSED(&w->r, PC6290_MODEL_PLAN, pipectl_generate(w->engine, &o, &g));
	assert_null(g);
}

static void test_api_model__is_cancelled_and_goes_on(void **state)
{
	world *w = *state;
	heard h, again;
	pipectl_generate_options o = question(&h);
	pipectl_generation *g;

	o.n_tokens = 50;
	w->r.n_asked = 0;
	w->r.cancel_at = 3;
	assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_E_CANCELLED);
	w->r.cancel_at = 0;
	assert_null(g);
	o = question(&h);
	assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_OK);
	pipectl_generation_release(g);
	o = question(&again);
	assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_OK);
	pipectl_generation_release(g);
	assert_int_equal(h.n, 5);
	assert_memory_equal(h.tokens, again.tokens, sizeof(h.tokens));
}

/* ---- statements --------------------------------------------------------------------------- */

static void test_api_model__signs_and_replays(void **state)
{
	world *w = *state;
	pipectl_sequence s = {.head = PCTL_HEAD(pipectl_sequence)};
	pipectl_generation *g, *again;
	const char *text;
	char *lie, path[128];
	uint64_t n;
	heard h;
	pipectl_generate_options o = question(&h);
	world other = *w;

	assert_int_equal(pipectl_generate(w->engine, &o, &g), PCTL_OK);
	REFUSED(&w->r, PC11_API_USE, pipectl_generation_receipt(g, &text, &n));
	pipectl_generation_release(g);
	o = question(&h);
	o.flags = PIPECTL_GENERATE_RECEIPT;
	o.sequences = 2;
	assert_int_equal(pipectl_generation_begin(w->engine, &o, &g), PCTL_OK);
	REFUSED(&w->r, PC11_API_USE, pipectl_generation_receipt(g, &text, &n));
	for (uint32_t going = 1; going != 0;)
		assert_int_equal(pipectl_generation_step(g, &going), PCTL_OK);
	assert_int_equal(pipectl_generation_receipt(g, &text, &n), PCTL_OK);
	assert_int_equal(strlen(text), n);
	lie = strdup(text);
	pipectl_generation_release(g);
	assert_int_equal(pipectl_generation_replay(w->engine, "r", lie, n, NULL, &again), PCTL_OK);
	assert_int_equal(pipectl_generation_sequence(again, 0, &s), PCTL_OK);
	assert_memory_equal(s.tokens, h.tokens, 4 * h.n);
	pipectl_generation_release(again);
	assert_int_equal(pipectl_generation_replay(w->engine, "r", lie, n, NULL, NULL), PCTL_OK);
	REFUSED(&w->r, PC5906_RECEIPT_SIGNER,
		pipectl_generation_replay(w->engine, "r", lie, n, "00", NULL));
	REFUSED(&w->r, PC5012_CAS_SIGNATURE,
		pipectl_generation_replay(w->engine, "r", lie, n - 9, NULL, NULL));
	/* Another model's, and this one's in other tensors. */
	snprintf(path, sizeof(path), "%s/other.gguf", w->r.home);
	synth(path, 2);
	assert_int_equal(pipectl_model_open(w->r.p, path, NULL, &other.model), PCTL_OK);
	open_engine(&other, 2, 4, &other.engine);
	REFUSED(&w->r, PC6292_GENERATION_DIFFERS,
		pipectl_generation_replay(other.engine, "r", lie, n, NULL, NULL));
	pipectl_engine_release(other.engine);
	pipectl_model_release(other.model);
	free(lie);
}

static void test_api_model__a_folder_is_the_same_model(void **state)
{
	world *w = *state;
	char path[128];
	static float a[VOCAB], b[VOCAB];
	pipectl_sequence s = {.head = PCTL_HEAD(pipectl_sequence)};
	pipectl_generation *g;
	heard h;
	pipectl_generate_options o = question(&h);
	world other = *w;
	pipectl_model_facts f = {.head = PCTL_HEAD(pipectl_model_facts)};

	snprintf(path, sizeof(path), "%s/folder", w->r.home);
	synth(path, 1);
	assert_int_equal(pipectl_model_open(w->r.p, path, NULL, &other.model), PCTL_OK);
	open_engine(&other, 2, 64, &other.engine);
	assert_int_equal(pipectl_model_describe(other.model, &f), PCTL_OK);
	assert_string_equal(f.layout, "safetensors");
	pipectl_model_release(other.model); /* the engine has its own */
	assert_int_equal(pipectl_generate(other.engine, &o, &g), PCTL_OK);
	assert_int_equal(pipectl_engine_logits(other.engine, prompt, 6, 0, a, VOCAB), PCTL_OK);
	assert_int_equal(pipectl_engine_logits(w->engine, prompt, 6, 0, b, VOCAB), PCTL_OK);
	assert_memory_equal(a, b, sizeof(a));
	pipectl_engine_release(other.engine);
	assert_int_equal(pipectl_generation_sequence(g, 0, &s), PCTL_OK);
	pipectl_generation_release(g); /* with the engine */
}

PCTL_TESTS_MAIN_WITH(world_open, world_close, PCTL_TEST(test_api_model__says_what_it_is),
		     PCTL_TEST(test_api_model__is_written_as_a_pipeline),
		     PCTL_TEST(test_api_model__speaks),
		     PCTL_TEST(test_api_model__logits_do_not_depend_on_chunks),
		     PCTL_TEST(test_api_model__weights_stream_under_a_budget),
		     PCTL_TEST(test_api_model__generates),
		     PCTL_TEST(test_api_model__samples_as_asked),
		     PCTL_TEST(test_api_model__is_cancelled_and_goes_on),
		     PCTL_TEST(test_api_model__signs_and_replays),
		     PCTL_TEST(test_api_model__a_folder_is_the_same_model))
