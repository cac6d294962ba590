/* A description in the words of a format: keys of GGUF, config.json. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/json.h"
#include "model/file/write.h"

/* Their GGUF files have rows of q and k in the order of neighbours. */
static int has_neighbours(pctl_model_family f)
{
	return f == PCTL_MODEL_LLAMA || f == PCTL_MODEL_MISTRAL || f == PCTL_MODEL_MIXTRAL ||
	       f == PCTL_MODEL_DEEPSEEK;
}

static int as_llama(pctl_model_family f)
{
	return f == PCTL_MODEL_LLAMA || f == PCTL_MODEL_MISTRAL || f == PCTL_MODEL_MIXTRAL;
}

/* What GGUF says of yarn's magnitude, whose part by the factor is computed by the reader: NAN where no f32 gives it. */
static double attn_factor(const pctl_model_rope *r)
{
	const double part = pctl_model_yarn_magnitude(r->factor);
	const float near = (float)(r->magnitude / part);
	const float all[] = {near, nextafterf(near, 0), nextafterf(near, INFINITY)};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if ((float)((double)all[i] * part) == (float)r->magnitude)
			return (double)all[i];
	return (double)NAN;
}

/* Of a head, so that the whole part of its product with head_dim is what is turned. */
static double turned_part(const pctl_model_shape *s)
{
	const double d = (double)s->head_dim, near = (double)s->rope.dims / d;

	return near * d < (double)s->rope.dims ? nextafter(near, 1) : near;
}

pctl_status pctl_model_shape_for(const pctl_model_shape *s, pctl_model_layout layout,
				 const char *path, const pctl_call *call, pctl_model_shape *out)
{
	const int gguf = layout == PCTL_MODEL_LAYOUT_GGUF;
	const char *cannot = NULL;

	*out = *s;
	out->rope.pairing =
		gguf && has_neighbours(s->family) ? PCTL_MODEL_NEIGHBOURS : PCTL_MODEL_HALVES;
	out->norm_offset = !gguf && s->gelu ? 1 : 0;
	/* Llama has no window in config.json, Mistral is Llama with one. */
	if (!gguf && s->family == PCTL_MODEL_LLAMA && s->window != 0)
		out->family = PCTL_MODEL_MISTRAL;
	if (gguf && s->window != 0 && s->window_first != 0)
		cannot = "a sliding window of some layers";
	else if (gguf && s->rope.scaling == PCTL_MODEL_SCALING_LLAMA3 &&
		 (s->rope.low != 1 || s->rope.high != 4 || s->rope.n_original != 8192))
		cannot = "other numbers of Llama 3's scaling than 1, 4 and 8192";
	else if (gguf && s->rope.scaling == PCTL_MODEL_SCALING_DYNAMIC)
		cannot = "dynamic scaling of rope";
	else if (gguf && s->rope.scaling == PCTL_MODEL_SCALING_YARN && isnan(attn_factor(&s->rope)))
		cannot = "yarn with this factor of attention";
	else if (!gguf && s->rope.dims != s->head_dim && s->family != PCTL_MODEL_PHI3)
		cannot = "a part of a head that is turned, of this family";
	else if (!gguf && s->qkv_bias != s->o_bias && s->family != PCTL_MODEL_QWEN2 &&
		 s->family != PCTL_MODEL_QWEN2MOE)
		cannot = "biases of q, k and v alone";
	else if (!gguf && (s->family == PCTL_MODEL_QWEN2 || s->family == PCTL_MODEL_QWEN2MOE) &&
		 s->o_bias)
		cannot = "a bias of this family's attention output";
	else if (!gguf && out->family != PCTL_MODEL_LLAMA && as_llama(out->family) && s->qkv_bias)
		cannot = "biases of this family";
	else if (s->family == PCTL_MODEL_DEEPSEEK && s->n_ff_shared % s->n_ff != 0)
		cannot = "shared experts of other sizes than the others";
	else if (gguf && s->family == PCTL_MODEL_GEMMA2 && s->n_layers != 46 &&
		 s->attn_scale != (double)(float)(1 / sqrt((double)s->head_dim)))
		cannot = "another scale of attention than the head's";
	return cannot == NULL ? PCTL_OK
			      : pctl_refuse(call, PC6290_MODEL_PLAN, "%s: %s cannot say %s", path,
					    gguf ? "GGUF" : "config.json", cannot);
}

static const char *key(char out[96], const char *arch, const char *name)
{
	snprintf(out, 96, "%s.%s", arch, name);
	return out;
}

void pctl_model_gguf_keys(const pctl_model_shape *s, pctl_gguf_keys *out)
{
	const char *arch = as_llama(s->family) ? "llama" : pctl_model_family_name(s->family);
	char k[96];

	pctl_gguf_put_string(out, "general.architecture", arch, strlen(arch));
	pctl_gguf_put_u32(out, key(k, arch, "block_count"), (uint32_t)s->n_layers);
	pctl_gguf_put_u32(out, key(k, arch, "context_length"), (uint32_t)s->n_context);
	pctl_gguf_put_u32(out, key(k, arch, "embedding_length"), (uint32_t)s->n_embd);
	pctl_gguf_put_u32(out, key(k, arch, "feed_forward_length"),
			  (uint32_t)(s->n_dense != 0 ? s->n_ff_dense : s->n_ff));
	pctl_gguf_put_u32(out, key(k, arch, "attention.head_count"), (uint32_t)s->n_heads);
	pctl_gguf_put_u32(out, key(k, arch, "attention.head_count_kv"), (uint32_t)s->n_kv_heads);
	pctl_gguf_put_u32(out, key(k, arch, "attention.key_length"), (uint32_t)s->head_dim);
	pctl_gguf_put_u32(out, key(k, arch, "attention.value_length"), (uint32_t)s->head_dim);
	pctl_gguf_put_f32(out, key(k, arch, "attention.layer_norm_rms_epsilon"), (float)s->rms_eps);
	pctl_gguf_put_u32(out, key(k, arch, "vocab_size"), (uint32_t)s->n_vocab);
	pctl_gguf_put_u32(out, key(k, arch, "rope.dimension_count"), (uint32_t)s->rope.dims);
	pctl_gguf_put_f32(out, key(k, arch, "rope.freq_base"), (float)s->rope.base);
	if (s->rope.scaling == PCTL_MODEL_SCALING_LINEAR) {
		pctl_gguf_put_string(out, key(k, arch, "rope.scaling.type"), "linear", 6);
		pctl_gguf_put_f32(out, key(k, arch, "rope.scaling.factor"), (float)s->rope.factor);
	}
	if (s->rope.scaling == PCTL_MODEL_SCALING_YARN) {
		pctl_gguf_put_string(out, key(k, arch, "rope.scaling.type"), "yarn", 4);
		pctl_gguf_put_f32(out, key(k, arch, "rope.scaling.factor"), (float)s->rope.factor);
		pctl_gguf_put_u32(out, key(k, arch, "rope.scaling.original_context_length"),
				  (uint32_t)s->rope.n_original);
		pctl_gguf_put_f32(out, key(k, arch, "rope.scaling.yarn_beta_fast"),
				  (float)s->rope.high);
		pctl_gguf_put_f32(out, key(k, arch, "rope.scaling.yarn_beta_slow"),
				  (float)s->rope.low);
		if (attn_factor(&s->rope) != 1)
			pctl_gguf_put_f32(out, key(k, arch, "rope.scaling.yarn_attn_factor"),
					  (float)attn_factor(&s->rope));
	}
	if (s->rope.scaling == PCTL_MODEL_SCALING_LONGROPE) {
		pctl_gguf_put_string(out, key(k, arch, "rope.scaling.type"), "longrope", 8);
		pctl_gguf_put_u32(out, key(k, arch, "rope.scaling.original_context_length"),
				  (uint32_t)s->rope.n_original);
		pctl_gguf_put_f32(out, key(k, arch, "rope.scaling.attn_factor"),
				  (float)s->rope.magnitude);
	}
	if (s->window != 0)
		pctl_gguf_put_u32(out, key(k, arch, "attention.sliding_window"),
				  (uint32_t)s->window);
	if (s->family == PCTL_MODEL_GEMMA2) {
		pctl_gguf_put_f32(out, key(k, arch, "attn_logit_softcapping"),
				  (float)s->attn_softcap);
		pctl_gguf_put_f32(out, key(k, arch, "final_logit_softcapping"),
				  (float)s->final_softcap);
	}
	if (s->n_experts != 0) {
		pctl_gguf_put_u32(out, key(k, arch, "expert_count"), (uint32_t)s->n_experts);
		pctl_gguf_put_u32(out, key(k, arch, "expert_used_count"), (uint32_t)s->n_used);
		pctl_gguf_put_u32(out, key(k, arch, "expert_feed_forward_length"),
				  (uint32_t)s->n_ff);
		pctl_gguf_put_bool(out, key(k, arch, "expert_weights_norm"), s->norm_used);
		if (s->family == PCTL_MODEL_DEEPSEEK) {
			pctl_gguf_put_u32(out, key(k, arch, "expert_shared_count"),
					  (uint32_t)(s->n_ff_shared / s->n_ff));
			pctl_gguf_put_u32(out, key(k, arch, "leading_dense_block_count"),
					  (uint32_t)s->n_dense);
		} else if (s->n_ff_shared != 0)
			pctl_gguf_put_u32(out, key(k, arch, "expert_shared_feed_forward_length"),
					  (uint32_t)s->n_ff_shared);
	}
}

static void number(pctl_json *j, const char *name, uint64_t v)
{
	pctl_json_key(j, name);
	pctl_json_number(j, v);
}

static void real(pctl_json *j, const char *name, double v)
{
	pctl_json_key(j, name);
	pctl_json_double(j, v);
}

static void factors(pctl_json *j, const char *name, const float *v, uint64_t n)
{
	pctl_json_key(j, name);
	pctl_json_array_begin(j);
	for (uint64_t i = 0; i < n; i++)
		pctl_json_double(j, (double)v[i]);
	pctl_json_array_end(j);
}

static void longrope(pctl_json *j, const pctl_model_shape *s)
{
	factors(j, "long_factor", s->rope.far_factors, s->rope.dims / 2);
	factors(j, "short_factor", s->rope.near_factors, s->rope.dims / 2);
	real(j, "attention_factor", s->rope.magnitude);
	number(j, "original_max_position_embeddings", s->rope.n_original);
}

static void rope(pctl_json *j, const pctl_model_shape *s)
{
	const pctl_model_rope *r = &s->rope;

	real(j, "rope_theta", r->base);
	if (r->dims != s->head_dim)
		real(j, "partial_rotary_factor", turned_part(s));
	if (r->scaling == PCTL_MODEL_SCALING_NONE)
		return;
	pctl_json_key(j, "rope_scaling");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "rope_type", pctl_model_scaling_name(r->scaling));
	if (r->scaling == PCTL_MODEL_SCALING_LONGROPE)
		longrope(j, s);
	else
		real(j, "factor", r->factor);
	if (r->scaling == PCTL_MODEL_SCALING_LLAMA3) {
		real(j, "low_freq_factor", r->low);
		real(j, "high_freq_factor", r->high);
		number(j, "original_max_position_embeddings", r->n_original);
	}
	if (r->scaling == PCTL_MODEL_SCALING_YARN) {
		number(j, "original_max_position_embeddings", r->n_original);
		real(j, "beta_fast", r->high);
		real(j, "beta_slow", r->low);
		real(j, "attention_factor", r->magnitude);
	}
	pctl_json_object_end(j);
}

static void windows(pctl_json *j, const pctl_model_shape *s)
{
	const int qwen = s->family == PCTL_MODEL_QWEN2 || s->family == PCTL_MODEL_QWEN3 ||
			 s->family == PCTL_MODEL_QWEN2MOE || s->family == PCTL_MODEL_QWEN3MOE;

	if (s->window == 0 && s->family != PCTL_MODEL_MISTRAL && s->family != PCTL_MODEL_MIXTRAL)
		return;
	pctl_json_key(j, "sliding_window");
	if (s->window == 0)
		pctl_json_null(j);
	else
		pctl_json_number(j, s->window);
	if (qwen) {
		pctl_json_kv_bool(j, "use_sliding_window", 1);
		number(j, "max_window_layers", s->window_first);
	}
}

static void experts(pctl_json *j, const pctl_model_shape *s)
{
	if (s->n_experts == 0)
		return;
	if (s->family == PCTL_MODEL_DEEPSEEK) {
		number(j, "n_routed_experts", s->n_experts);
		number(j, "n_shared_experts", s->n_ff_shared / s->n_ff);
		number(j, "num_experts_per_tok", s->n_used);
		number(j, "moe_intermediate_size", s->n_ff);
		number(j, "first_k_dense_replace", s->n_dense);
		number(j, "moe_layer_freq", 1);
		pctl_json_kv_string(j, "scoring_func", "softmax");
		pctl_json_kv_bool(j, "norm_topk_prob", s->norm_used);
		return;
	}
	number(j, s->family == PCTL_MODEL_MIXTRAL ? "num_local_experts" : "num_experts",
	       s->n_experts);
	number(j, "num_experts_per_tok", s->n_used);
	if (s->family == PCTL_MODEL_MIXTRAL)
		return;
	number(j, "moe_intermediate_size", s->n_ff);
	pctl_json_kv_bool(j, "norm_topk_prob", s->norm_used);
	if (s->n_ff_shared != 0)
		number(j, "shared_expert_intermediate_size", s->n_ff_shared);
}

char *pctl_model_config(const pctl_model_shape *s, uint32_t dtype)
{
	const char *family = s->family == PCTL_MODEL_QWEN3MOE	? "qwen3_moe"
			     : s->family == PCTL_MODEL_QWEN2MOE ? "qwen2_moe"
								: pctl_model_family_name(s->family);
	pctl_json j;

	pctl_json_init(&j, 2);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "model_type", family);
	number(&j, "hidden_size", s->n_embd);
	number(&j, "num_hidden_layers", s->n_layers);
	number(&j, "num_attention_heads", s->n_heads);
	number(&j, "num_key_value_heads", s->n_kv_heads);
	number(&j, "head_dim", s->head_dim);
	number(&j, "intermediate_size", s->n_dense != 0 ? s->n_ff_dense : s->n_ff);
	number(&j, "vocab_size", s->n_vocab);
	number(&j, "max_position_embeddings", s->n_context);
	real(&j, "rms_norm_eps", s->rms_eps);
	rope(&j, s);
	windows(&j, s);
	experts(&j, s);
	pctl_json_kv_bool(&j, "tie_word_embeddings", s->tied);
	pctl_json_kv_string(&j, "hidden_act", s->gelu ? "gelu_pytorch_tanh" : "silu");
	if (s->gelu)
		pctl_json_kv_string(&j, "hidden_activation", "gelu_pytorch_tanh");
	if (s->family == PCTL_MODEL_LLAMA || s->qk_norm || s->gelu)
		pctl_json_kv_bool(&j, "attention_bias", s->qkv_bias);
	if (s->family == PCTL_MODEL_GEMMA2) {
		real(&j, "attn_logit_softcapping", s->attn_softcap);
		real(&j, "final_logit_softcapping", s->final_softcap);
		real(&j, "query_pre_attn_scalar", rint(1 / (s->attn_scale * s->attn_scale)));
	}
	if (dtype != PCTL_SCALAR_NONE)
		pctl_json_kv_string(&j, "torch_dtype",
				    dtype == PCTL_SCALAR_F16	? "float16"
				    : dtype == PCTL_SCALAR_BF16 ? "bfloat16"
								: "float32");
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}
