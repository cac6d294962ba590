/* Adapters by model.h: several of an engine's are chosen by name, for logits and for generations that are under way at once; statements name them; what cannot be is
 * refused. */
#include "models.h"

#include <inttypes.h>
#include <math.h>

#include "model/synth/adapter.h"

/* Adapters of w's model: files of their own, and all four as an engine has them. */
typedef struct adapting {
	char path[2][160];
	pipectl_lora loras[4];
	pipectl_engine_options o;
} adapting;

static void with_adapters(const world *w, adapting *a)
{
	static const char *const cpu[] = {"cpu"};
	static uint32_t n_made;
	pctl_model_shape s;

	shape_of(&s, 1);
	n_made++;
	for (uint32_t i = 0; i < 2; i++) {
		const pctl_synth_adapter how = {.path = a->path[i],
						.dtype = PCTL_SCALAR_F32,
						.rank = 2 + i,
						.seed = 20 + i,
						.alpha = 4};

		snprintf(a->path[i], sizeof(a->path[i]), "%s/%s-%" PRIu32 "%s", w->r.home,
			 i ? "two" : "one", n_made, i ? "" : ".gguf");
		assert_int_equal(pctl_synth_adapter_write(&s, &how, NULL), PCTL_OK);
	}
	a->loras[0] = (pipectl_lora){.path = a->path[0], .name = "one"};
	a->loras[1] = (pipectl_lora){.path = a->path[1], .name = "two", .scale = 0.5f};
	a->loras[2] = (pipectl_lora){.path = a->path[0], .name = "both", .scale = 1};
	a->loras[3] = (pipectl_lora){.path = a->path[1], .name = "both", .scale = 0.5f};
	a->o = (pipectl_engine_options){.head = PCTL_HEAD(pipectl_engine_options),
					.backends = cpu,
					.n_backends = 1,
					.slots = 3,
					.chunk = 4,
					.loras = a->loras,
					.n_loras = 4};
}

static void test_api_lora__has_adapters(void **state)
{
	world *w = *state;
	static const uint32_t ids[] = {72, 101, 108, 108, 111};
	static const char *const names[] = {NULL, "one", "two", "both"};
	static float want[4][VOCAB], got[VOCAB];
	static adapting a;
	pipectl_engine_facts f = {.head = PCTL_HEAD(pipectl_engine_facts)};
	char answers_of[4][PIPECTL_CID_SIZE];
	pipectl_engine *e;

	with_adapters(w, &a);
	assert_int_equal(pipectl_engine_open(w->model, &a.o, &e), PCTL_OK);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(pipectl_engine_adapter(e, names[i]), PCTL_OK);
		assert_int_equal(pipectl_engine_logits(e, ids, 5, 0, want[i], VOCAB), PCTL_OK);
		assert_int_equal(pipectl_engine_describe(e, &f), PCTL_OK);
		assert_int_equal(f.n_adapters, 3);
		assert_true(names[i] == NULL ? f.adapter == NULL
					     : strcmp(f.adapter, names[i]) == 0);
		snprintf(answers_of[i], sizeof(answers_of[i]), "%s", f.answers_of);
		assert_true((strcmp(f.answers_of, f.model) == 0) == (i == 0));
		for (uint32_t k = 0; k < i; k++) {
			assert_string_not_equal(answers_of[k], answers_of[i]);
			assert_true(memcmp(want[k], want[i], sizeof(want[i])) != 0);
		}
	}
	/* Without one it is the model that never had any. */
	assert_int_equal(pipectl_engine_logits(w->engine, ids, 5, 0, got, VOCAB), PCTL_OK);
	assert_memory_equal(got, want[0], sizeof(got));
	REFUSED(&w->r, PC6299_ADAPTER_USE, pipectl_engine_adapter(e, "three"));
	/* Who is refused goes on with the last one. */
	assert_int_equal(pipectl_engine_logits(e, ids, 5, 0, got, VOCAB), PCTL_OK);
	assert_memory_equal(got, want[3], sizeof(got));
	pipectl_engine_release(e);
}

static void test_api_lora__refuses_adapters(void **state)
{
	world *w = *state;
	pipectl_model_plan plan = {.head = PCTL_HEAD(pipectl_model_plan), .context = 64};
	static pipectl_lora many[65];
	static adapting a;
	pipectl_engine *e;
	char *text;

	with_adapters(w, &a);
	plan.loras = a.loras;
	plan.n_loras = 2;
	assert_int_equal(pipectl_model_pipeline(w->model, &plan, &text), PCTL_OK);
	assert_non_null(strstr(text, "q_lora1"));
	assert_non_null(strstr(text, "scale = \"2\""));
	pipectl_free(text);
	plan.n_loras = 65;
	for (uint32_t i = 0; i < 65; i++)
		many[i] = a.loras[0];
	plan.loras = many;
	REFUSED(&w->r, PC6299_ADAPTER_USE, pipectl_model_pipeline(w->model, &plan, &text));
	plan.loras = NULL;
	REFUSED(&w->r, PC11_API_USE, pipectl_model_pipeline(w->model, &plan, &text));
	many[0] = (pipectl_lora){.name = "one"};
	plan = (pipectl_model_plan){
		.head = PCTL_HEAD(pipectl_model_plan), .context = 64, .loras = many, .n_loras = 1};
	REFUSED(&w->r, PC11_API_USE, pipectl_model_pipeline(w->model, &plan, &text));
	many[0] = (pipectl_lora){.path = w->path, .name = "one"};
	REFUSED(&w->r, PC6294_ADAPTER_FILE, pipectl_model_pipeline(w->model, &plan, &text));
	a.loras[1].scale = 2e6f;
	REFUSED(&w->r, PC6299_ADAPTER_USE, pipectl_engine_open(w->model, &a.o, &e));
	a.loras[1].scale = NAN;
	REFUSED(&w->r, PC6299_ADAPTER_USE, pipectl_engine_open(w->model, &a.o, &e));
	a.loras[1].scale = 1;
	a.loras[1].name = "m.gguf";
	REFUSED(&w->r, PC6299_ADAPTER_USE, pipectl_engine_open(w->model, &a.o, &e));
	a.loras[1].name = "with a blank";
	REFUSED(&w->r, PC6299_ADAPTER_USE, pipectl_engine_open(w->model, &a.o, &e));
	a.loras[1].name = "";
	REFUSED(&w->r, PC6299_ADAPTER_USE, pipectl_engine_open(w->model, &a.o, &e));
	a.loras[1].name = NULL;
	REFUSED(&w->r, PC11_API_USE, pipectl_engine_open(w->model, &a.o, &e));
	assert_null(e);
}

static void test_api_lora__generates_with_adapters(void **state)
{
	world *w = *state;
	static const char *const names[] = {NULL, "one", "both"};
	pipectl_generation *g[3], *alone;
	pipectl_sequence s = {.head = PCTL_HEAD(pipectl_sequence)};
	uint32_t going[3] = {1, 1, 1};
	const char *text;
	static adapting a;
	pipectl_engine *e;
	uint64_t n;
	heard h[3], other;

	with_adapters(w, &a);
	assert_int_equal(pipectl_engine_open(w->model, &a.o, &e), PCTL_OK);
	/* Three at once, step by step by turns. */
	for (uint32_t i = 0; i < 3; i++) {
		pipectl_generate_options o = question(&h[i]);

		o.flags = PIPECTL_GENERATE_RECEIPT;
		assert_int_equal(pipectl_engine_adapter(e, names[i]), PCTL_OK);
		assert_int_equal(pipectl_generation_begin(e, &o, &g[i]), PCTL_OK);
	}
	while (going[0] || going[1] || going[2])
		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(pipectl_generation_step(g[i], &going[i]), PCTL_OK);
	/* Each is what it is alone, and its statement names what it was made with. */
	for (uint32_t i = 0; i < 3; i++) {
		const char *with = names[(i + 1) % 3];
		pipectl_generate_options o = question(&other);

		assert_int_equal(pipectl_generation_receipt(g[i], &text, &n), PCTL_OK);
		assert_true((strstr(text, "adapters") != NULL) == (i != 0));
		assert_int_equal(pipectl_engine_adapter(e, with), PCTL_OK);
		REFUSED(&w->r, PC6292_GENERATION_DIFFERS,
			pipectl_generation_replay(e, "g", text, n, NULL, NULL));
		assert_int_equal(pipectl_engine_adapter(e, names[i]), PCTL_OK);
		assert_int_equal(pipectl_generation_sequence(g[i], 0, &s), PCTL_OK);
		assert_int_equal(pipectl_generate(w->engine, &o, &alone), PCTL_OK);
		assert_true((h[i].n == other.n &&
			     memcmp(h[i].tokens, other.tokens, 4 * other.n) == 0) == (i == 0));
		pipectl_generation_release(alone);
		assert_int_equal(pipectl_generation_replay(e, "g", text, n, NULL, NULL), PCTL_OK);
		pipectl_generation_release(g[i]);
	}
	pipectl_engine_release(e);
}

PCTL_TESTS_MAIN_WITH(world_open, world_close, PCTL_TEST(test_api_lora__has_adapters),
		     PCTL_TEST(test_api_lora__refuses_adapters),
		     PCTL_TEST(test_api_lora__generates_with_adapters))
