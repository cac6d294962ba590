/* A seeded model and an engine over it, for tests of model.h, and what is asked of it. */
#ifndef PIPECTL_TESTS_API_MODELS_H
#define PIPECTL_TESTS_API_MODELS_H

#include "rig.h"

#include "model/synth/synth.h"
#include "pipectl/model.h"

#define VOCAB 258u

typedef struct world {
	rig r;
	pipectl_model *model;
	pipectl_engine *engine;
	char path[128];
} world;

static inline void shape_of(pctl_model_shape *s, uint64_t n_layers)
{
	static const struct {
		const char *name;
		uint64_t v;
	} sizes[] = {{"n_embd", 64}, {"n_heads", 2},   {"n_kv_heads", 1}, {"head_dim", 32},
		     {"n_ff", 64},   {"n_vocab", 258}, {"n_context", 128}};

	assert_int_equal(pctl_synth_shape_named("qwen3-0.6b", NULL, s), PCTL_OK);
	assert_true(pctl_synth_set(s, "n_layers", n_layers));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_true(pctl_synth_set(s, sizes[i].name, sizes[i].v));
}

static inline void synth(const char *path, uint64_t n_layers)
{
	const pctl_progress_sink silent = {NULL, NULL};
	pctl_model_shape s;

	shape_of(&s, n_layers);
	assert_int_equal(pctl_synth_write(&s, 7, path, PCTL_SCALAR_F32, 0, NULL, silent, NULL),
			 PCTL_OK);
}

static inline void open_engine(world *w, uint32_t slots, uint32_t chunk, pipectl_engine **out)
{
	static const char *const cpu[] = {"cpu"};
	const pipectl_engine_options o = {.head = PCTL_HEAD(pipectl_engine_options),
					  .backends = cpu,
					  .n_backends = 1,
					  .slots = slots,
					  .chunk = chunk};

	assert_int_equal(pipectl_engine_open(w->model, &o, out), PCTL_OK);
}

static inline int world_open(void **state)
{
	static world w;

	rig_open(&w.r, NULL);
	snprintf(w.path, sizeof(w.path), "%s/m.gguf", w.r.home);
	synth(w.path, 1);
	assert_int_equal(pipectl_model_open(w.r.p, w.path, NULL, &w.model), PCTL_OK);
	open_engine(&w, 3, 4, &w.engine);
	*state = &w;
	return 0;
}

static inline int world_close(void **state)
{
	world *w = *state;

	pipectl_engine_release(w->engine);
	pipectl_model_release(w->model);
	rig_close(&w->r, 1);
	return 0;
}

typedef struct heard {
	uint32_t tokens[64], n, stop_at;
	char text[256];
	float logits[VOCAB];
} heard;

static inline uint32_t hear_token(void *ctx, const pipectl_generated_token *t)
{
	heard *h = ctx;

	if (t->sequence != 0)
		return 1;
	h->tokens[h->n++] = t->token;
	strncat(h->text, t->text, t->n_bytes);
	if (t->logits != NULL && h->n == 1)
		memcpy(h->logits, t->logits, t->n_logits * sizeof(float));
	return h->stop_at == 0 || h->n < h->stop_at;
}

static const uint32_t prompt[] = {79, 110, 99, 101, 32, 117};

static inline pipectl_generate_options question(heard *h)
{
	memset(h, 0, sizeof(*h));
	return (pipectl_generate_options){.head = PCTL_HEAD(pipectl_generate_options),
					  .prompt = prompt,
					  .n_prompt = 6,
					  .n_tokens = 5,
					  .seed = 3,
					  .temperature = 1,
					  .top_k = 40,
					  .ctx = h,
					  .token = hear_token};
}

#endif
