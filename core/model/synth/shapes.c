/* Shapes that real models have, from their published configurations. */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "model/synth/synth.h"

/* layers, features, heads, heads of keys, size of a head, feed-forward, vocabulary, context. */
#define SIZES(l, e, h, k, d, f, v, c)                                                       \
	.n_layers = (l), .n_embd = (e), .n_heads = (h), .n_kv_heads = (k), .head_dim = (d), \
	.n_ff = (f), .n_vocab = (v), .n_context = (c)
#define EXPERTS(n, used) .n_experts = (n), .n_used = (used), .norm_used = 1
#define ROPE(b) .base = (b), .factor = 1

static const pctl_synth_shape shapes[] = {
	{"deepseek-moe-16b",
	 "DeepSeekMoE: 6 of 64 experts and two shared ones without a gate, a first layer without "
	 "any",
	 {.family = PCTL_MODEL_DEEPSEEK,
	  SIZES(28, 2048, 16, 16, 128, 1408, 102400, 4096),
	  .rms_eps = 1e-6,
	  .n_experts = 64,
	  .n_used = 6,
	  .n_ff_shared = 2816,
	  .n_dense = 1,
	  .n_ff_dense = 10944,
	  .rope = {ROPE(10000)}}},
	{"gemma-2b",
	 "Gemma: GeGLU, embeddings scaled and tied, one head of keys",
	 {.family = PCTL_MODEL_GEMMA,
	  SIZES(18, 2048, 8, 1, 256, 16384, 256000, 8192),
	  .rms_eps = 1e-6,
	  .tied = 1,
	  .gelu = 1,
	  .rope = {ROPE(10000)}}},
	{"gemma2-2b",
	 "Gemma 2: windows in every other layer, caps, norms behind",
	 {.family = PCTL_MODEL_GEMMA2,
	  SIZES(26, 2304, 8, 4, 256, 9216, 256000, 8192),
	  .rms_eps = 1e-6,
	  .tied = 1,
	  .gelu = 1,
	  .post_norms = 1,
	  .window = 4096,
	  .attn_softcap = 50,
	  .final_softcap = 30,
	  .rope = {ROPE(10000)}}},
	{"llama3-8b",
	 "Llama 3",
	 {.family = PCTL_MODEL_LLAMA,
	  SIZES(32, 4096, 32, 8, 128, 14336, 128256, 8192),
	  .rms_eps = 1e-5,
	  .rope = {ROPE(500000)}}},
	{"llama3.2-1b",
	 "Llama 3.2: rope's scaling, tied embeddings",
	 {.family = PCTL_MODEL_LLAMA,
	  SIZES(16, 2048, 32, 8, 64, 8192, 128256, 131072),
	  .rms_eps = 1e-5,
	  .tied = 1,
	  .rope = {.scaling = PCTL_MODEL_SCALING_LLAMA3,
		   .base = 500000,
		   .factor = 32,
		   .low = 1,
		   .high = 4,
		   .n_original = 8192}}},
	{"mistral-7b",
	 "Mistral: a sliding window",
	 {.family = PCTL_MODEL_MISTRAL,
	  SIZES(32, 4096, 32, 8, 128, 14336, 32000, 32768),
	  .rms_eps = 1e-5,
	  .window = 4096,
	  .rope = {ROPE(10000)}}},
	{"mixtral-8x7b",
	 "Mixtral: 2 of 8 experts",
	 {.family = PCTL_MODEL_MIXTRAL,
	  SIZES(32, 4096, 32, 8, 128, 14336, 32000, 32768),
	  .rms_eps = 1e-5,
	  EXPERTS(8, 2),
	  .rope = {ROPE(1000000)}}},
	{"phi3-mini-4k",
	 "Phi 3: q, k and v of one tensor, gate and up of another, a sliding window",
	 {.family = PCTL_MODEL_PHI3,
	  SIZES(32, 3072, 32, 32, 96, 8192, 32064, 4096),
	  .rms_eps = 1e-5,
	  .window = 2047,
	  .rope = {ROPE(10000)}}},
	{"phi4-mini-4k",
	 "Phi 4 mini in the context before longrope: three quarters of a head are turned, tied",
	 {.family = PCTL_MODEL_PHI3,
	  SIZES(32, 3072, 24, 8, 128, 8192, 200064, 4096),
	  .rms_eps = 1e-5,
	  .tied = 1,
	  .rope = {ROPE(10000), .dims = 96}}},
	{"qwen1.5-moe-a2.7b",
	 "Qwen 1.5 with 4 of 60 experts and a shared one behind a gate",
	 {.family = PCTL_MODEL_QWEN2MOE,
	  SIZES(24, 2048, 16, 16, 128, 1408, 151936, 8192),
	  .rms_eps = 1e-6,
	  .qkv_bias = 1,
	  .n_experts = 60,
	  .n_used = 4,
	  .n_ff_shared = 5632,
	  .rope = {ROPE(1000000)}}},
	{"qwen2.5-0.5b",
	 "Qwen 2.5: biases of q, k and v, tied embeddings",
	 {.family = PCTL_MODEL_QWEN2,
	  SIZES(24, 896, 14, 2, 64, 4864, 151936, 32768),
	  .rms_eps = 1e-6,
	  .tied = 1,
	  .qkv_bias = 1,
	  .rope = {ROPE(1000000)}}},
	{"qwen2.5-1.5b",
	 "Qwen 2.5: biases of q, k and v, tied embeddings",
	 {.family = PCTL_MODEL_QWEN2,
	  SIZES(28, 1536, 12, 2, 128, 8960, 151936, 32768),
	  .rms_eps = 1e-6,
	  .tied = 1,
	  .qkv_bias = 1,
	  .rope = {ROPE(1000000)}}},
	{"qwen2.5-3b",
	 "Qwen 2.5: biases of q, k and v, tied embeddings",
	 {.family = PCTL_MODEL_QWEN2,
	  SIZES(36, 2048, 16, 2, 128, 11008, 151936, 32768),
	  .rms_eps = 1e-6,
	  .tied = 1,
	  .qkv_bias = 1,
	  .rope = {ROPE(1000000)}}},
	{"qwen2.5-7b",
	 "Qwen 2.5: biases of q, k and v",
	 {.family = PCTL_MODEL_QWEN2,
	  SIZES(28, 3584, 28, 4, 128, 18944, 152064, 32768),
	  .rms_eps = 1e-6,
	  .qkv_bias = 1,
	  .rope = {ROPE(1000000)}}},
	{"qwen2.5-7b-yarn",
	 "Qwen 2.5 with its context stretched four times by yarn",
	 {.family = PCTL_MODEL_QWEN2,
	  SIZES(28, 3584, 28, 4, 128, 18944, 152064, 131072),
	  .rms_eps = 1e-6,
	  .qkv_bias = 1,
	  .rope = {.scaling = PCTL_MODEL_SCALING_YARN,
		   .base = 1000000,
		   .factor = 4,
		   .low = 1,
		   .high = 32,
		   .magnitude = 1.1386294364929199,
		   .n_original = 32768}}},
	{"qwen3-0.6b",
	 "Qwen 3: norms of q and k, more of heads than features",
	 {.family = PCTL_MODEL_QWEN3,
	  SIZES(28, 1024, 16, 8, 128, 3072, 151936, 40960),
	  .rms_eps = 1e-6,
	  .tied = 1,
	  .qk_norm = 1,
	  .rope = {ROPE(1000000)}}},
	{"qwen3-30b-a3b",
	 "Qwen 3 with 8 of 128 experts",
	 {.family = PCTL_MODEL_QWEN3MOE,
	  SIZES(48, 2048, 32, 4, 128, 768, 151936, 40960),
	  .rms_eps = 1e-6,
	  .qk_norm = 1,
	  EXPERTS(128, 8),
	  .rope = {ROPE(1000000)}}},
};

static const struct {
	const char *name;
	size_t at;
} sizes[] = {
	{"n_layers", offsetof(pctl_model_shape, n_layers)},
	{"n_embd", offsetof(pctl_model_shape, n_embd)},
	{"n_heads", offsetof(pctl_model_shape, n_heads)},
	{"n_kv_heads", offsetof(pctl_model_shape, n_kv_heads)},
	{"head_dim", offsetof(pctl_model_shape, head_dim)},
	{"n_ff", offsetof(pctl_model_shape, n_ff)},
	{"n_vocab", offsetof(pctl_model_shape, n_vocab)},
	{"n_context", offsetof(pctl_model_shape, n_context)},
	{"n_experts", offsetof(pctl_model_shape, n_experts)},
	{"n_used", offsetof(pctl_model_shape, n_used)},
	{"n_ff_shared", offsetof(pctl_model_shape, n_ff_shared)},
	{"n_dense", offsetof(pctl_model_shape, n_dense)},
	{"n_ff_dense", offsetof(pctl_model_shape, n_ff_dense)},
	{"rope_dims", offsetof(pctl_model_shape, rope.dims)},
	{"window", offsetof(pctl_model_shape, window)},
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const pctl_synth_shape *pctl_synth_shape_at(uint32_t i)
{
	return i < COUNT(shapes) ? &shapes[i] : NULL;
}

const char *pctl_synth_size_name(uint32_t i)
{
	return i < COUNT(sizes) ? sizes[i].name : NULL;
}

int pctl_synth_set(pctl_model_shape *s, const char *name, uint64_t v)
{
	const int is_whole = s->rope.dims == s->head_dim;

	for (size_t i = 0; i < COUNT(sizes); i++)
		if (strcmp(sizes[i].name, name) == 0) {
			memcpy((char *)s + sizes[i].at, &v, sizeof(v));
			if (is_whole && strcmp(name, "head_dim") == 0)
				s->rope.dims = v;
			return 1;
		}
	return 0;
}

pctl_status pctl_synth_shape_named(const char *name, const pctl_call *call, pctl_model_shape *out)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_status status;
	char *hint;

	for (size_t i = 0; i < COUNT(shapes); i++)
		if (strcmp(shapes[i].name, name) == 0) {
			*out = shapes[i].shape;
			if (out->rope.dims == 0)
				out->rope.dims = out->head_dim;
			return PCTL_OK;
		}
	for (size_t i = 0; i < COUNT(shapes); i++)
		pctl_str_addf(&s, "%s%s", i ? ", " : "there are ", shapes[i].name);
	hint = pctl_str_finish(&s);
	status = pctl_refuse_at(call, PC6289_MODEL_SHAPE, NULL, hint,
				"no shape of a model is called \"%.100s\"", name);
	free(hint);
	return status;
}
