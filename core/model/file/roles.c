/* Roles of tensors: which a model has, how they are called in GGUF and in safetensors, and their shapes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/file/private.h"

/* scope: once, once a layer, or once a layer and expert where experts are tensors of their own. In names {i} is the layer, {e} the
 * expert. gemma2, mixtral, deepseek: another name in safetensors of these; NULL: the same. */
enum { ONCE, LAYER, EXPERT };
static const struct {
	const char *word;
	uint32_t scope, small;
	const char *gguf, *plain, *gemma2, *mixtral, *deepseek;
} rows[PCTL_ROLES] = {
	[PCTL_ROLE_TOK_EMBD] = {"tok_embd", ONCE, 0, "token_embd.weight",
				"model.embed_tokens.weight", NULL, NULL, NULL},
	[PCTL_ROLE_ROPE_FREQS] = {"rope_freqs", ONCE, 1, "rope_freqs.weight", NULL, NULL, NULL,
				  NULL},
	[PCTL_ROLE_ROPE_FAR] = {"rope_far", ONCE, 1, "rope_factors_long.weight", NULL, NULL, NULL,
				NULL},
	[PCTL_ROLE_ROPE_NEAR] = {"rope_near", ONCE, 1, "rope_factors_short.weight", NULL, NULL,
				 NULL, NULL},
	[PCTL_ROLE_ATTN_NORM] = {"attn_norm", LAYER, 1, "blk.{i}.attn_norm.weight",
				 "model.layers.{i}.input_layernorm.weight", NULL, NULL, NULL},
	[PCTL_ROLE_Q] = {"q", LAYER, 0, "blk.{i}.attn_q.weight",
			 "model.layers.{i}.self_attn.q_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_Q_BIAS] = {"q_bias", LAYER, 1, "blk.{i}.attn_q.bias",
			      "model.layers.{i}.self_attn.q_proj.bias", NULL, NULL, NULL},
	[PCTL_ROLE_K] = {"k", LAYER, 0, "blk.{i}.attn_k.weight",
			 "model.layers.{i}.self_attn.k_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_K_BIAS] = {"k_bias", LAYER, 1, "blk.{i}.attn_k.bias",
			      "model.layers.{i}.self_attn.k_proj.bias", NULL, NULL, NULL},
	[PCTL_ROLE_V] = {"v", LAYER, 0, "blk.{i}.attn_v.weight",
			 "model.layers.{i}.self_attn.v_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_V_BIAS] = {"v_bias", LAYER, 1, "blk.{i}.attn_v.bias",
			      "model.layers.{i}.self_attn.v_proj.bias", NULL, NULL, NULL},
	[PCTL_ROLE_QKV] = {"qkv", LAYER, 0, "blk.{i}.attn_qkv.weight",
			   "model.layers.{i}.self_attn.qkv_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_Q_NORM] = {"q_norm", LAYER, 1, "blk.{i}.attn_q_norm.weight",
			      "model.layers.{i}.self_attn.q_norm.weight", NULL, NULL, NULL},
	[PCTL_ROLE_K_NORM] = {"k_norm", LAYER, 1, "blk.{i}.attn_k_norm.weight",
			      "model.layers.{i}.self_attn.k_norm.weight", NULL, NULL, NULL},
	[PCTL_ROLE_O] = {"o", LAYER, 0, "blk.{i}.attn_output.weight",
			 "model.layers.{i}.self_attn.o_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_O_BIAS] = {"o_bias", LAYER, 1, "blk.{i}.attn_output.bias",
			      "model.layers.{i}.self_attn.o_proj.bias", NULL, NULL, NULL},
	[PCTL_ROLE_POST_ATTN_NORM] = {"post_attn_norm", LAYER, 1,
				      "blk.{i}.post_attention_norm.weight",
				      "model.layers.{i}.post_attention_layernorm.weight", NULL,
				      NULL, NULL},
	[PCTL_ROLE_FFN_NORM] = {"ffn_norm", LAYER, 1, "blk.{i}.ffn_norm.weight",
				"model.layers.{i}.post_attention_layernorm.weight",
				"model.layers.{i}.pre_feedforward_layernorm.weight", NULL, NULL},
	[PCTL_ROLE_GATE] = {"gate", LAYER, 0, "blk.{i}.ffn_gate.weight",
			    "model.layers.{i}.mlp.gate_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_UP] = {"up", LAYER, 0, "blk.{i}.ffn_up.weight",
			  "model.layers.{i}.mlp.up_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_GATE_UP] = {"gate_up", LAYER, 0, "blk.{i}.ffn_up.weight",
			       "model.layers.{i}.mlp.gate_up_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_DOWN] = {"down", LAYER, 0, "blk.{i}.ffn_down.weight",
			    "model.layers.{i}.mlp.down_proj.weight", NULL, NULL, NULL},
	[PCTL_ROLE_ROUTER] = {"router", LAYER, 1, "blk.{i}.ffn_gate_inp.weight",
			      "model.layers.{i}.mlp.gate.weight", NULL,
			      "model.layers.{i}.block_sparse_moe.gate.weight", NULL},
	[PCTL_ROLE_GATE_EXPERTS] = {"gate_experts", EXPERT, 0, "blk.{i}.ffn_gate_exps.weight",
				    "model.layers.{i}.mlp.experts.{e}.gate_proj.weight", NULL,
				    "model.layers.{i}.block_sparse_moe.experts.{e}.w1.weight",
				    NULL},
	[PCTL_ROLE_UP_EXPERTS] = {"up_experts", EXPERT, 0, "blk.{i}.ffn_up_exps.weight",
				  "model.layers.{i}.mlp.experts.{e}.up_proj.weight", NULL,
				  "model.layers.{i}.block_sparse_moe.experts.{e}.w3.weight", NULL},
	[PCTL_ROLE_DOWN_EXPERTS] = {"down_experts", EXPERT, 0, "blk.{i}.ffn_down_exps.weight",
				    "model.layers.{i}.mlp.experts.{e}.down_proj.weight", NULL,
				    "model.layers.{i}.block_sparse_moe.experts.{e}.w2.weight",
				    NULL},
	[PCTL_ROLE_SHARED_ROUTER] = {"shared_router", LAYER, 1, "blk.{i}.ffn_gate_inp_shexp.weight",
				     "model.layers.{i}.mlp.shared_expert_gate.weight", NULL, NULL,
				     NULL},
	[PCTL_ROLE_SHARED_GATE] = {"shared_gate", LAYER, 0, "blk.{i}.ffn_gate_shexp.weight",
				   "model.layers.{i}.mlp.shared_expert.gate_proj.weight", NULL,
				   NULL, "model.layers.{i}.mlp.shared_experts.gate_proj.weight"},
	[PCTL_ROLE_SHARED_UP] = {"shared_up", LAYER, 0, "blk.{i}.ffn_up_shexp.weight",
				 "model.layers.{i}.mlp.shared_expert.up_proj.weight", NULL, NULL,
				 "model.layers.{i}.mlp.shared_experts.up_proj.weight"},
	[PCTL_ROLE_SHARED_DOWN] = {"shared_down", LAYER, 0, "blk.{i}.ffn_down_shexp.weight",
				   "model.layers.{i}.mlp.shared_expert.down_proj.weight", NULL,
				   NULL, "model.layers.{i}.mlp.shared_experts.down_proj.weight"},
	[PCTL_ROLE_POST_FFN_NORM] = {"post_ffn_norm", LAYER, 1, "blk.{i}.post_ffw_norm.weight",
				     "model.layers.{i}.post_feedforward_layernorm.weight", NULL,
				     NULL, NULL},
	[PCTL_ROLE_OUTPUT_NORM] = {"output_norm", ONCE, 1, "output_norm.weight",
				   "model.norm.weight", NULL, NULL, NULL},
	[PCTL_ROLE_OUTPUT] = {"output", ONCE, 0, "output.weight", "lm_head.weight", NULL, NULL,
			      NULL},
};

const char *pctl_model_role_name(pctl_model_role role)
{
	return rows[role].word;
}

uint32_t pctl_model_role_number(pctl_model_role role)
{
	/* These came later, behind all that were there. */
	static const pctl_model_role later[] = {PCTL_ROLE_SHARED_ROUTER, PCTL_ROLE_SHARED_GATE,
						PCTL_ROLE_SHARED_UP,	 PCTL_ROLE_SHARED_DOWN,
						PCTL_ROLE_QKV,		 PCTL_ROLE_GATE_UP,
						PCTL_ROLE_ROPE_FAR,	 PCTL_ROLE_ROPE_NEAR};
	const uint32_t n = sizeof(later) / sizeof(later[0]);
	uint32_t before = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (later[i] == role)
			return PCTL_ROLES - n + i;
		before += later[i] < role;
	}
	return (uint32_t)role - before;
}

int pctl_model_role_is_said(pctl_model_role role)
{
	return role == PCTL_ROLE_ROPE_FREQS || role == PCTL_ROLE_ROPE_FAR ||
	       role == PCTL_ROLE_ROPE_NEAR;
}

void pctl_model_said(const pctl_model_shape *s, pctl_model_role role, float *out)
{
	for (uint64_t i = 0; i < s->rope.dims / 2; i++)
		out[i] = role == PCTL_ROLE_ROPE_FAR    ? s->rope.far_factors[i]
			 : role == PCTL_ROLE_ROPE_NEAR ? s->rope.near_factors[i]
						       : pctl_model_rope_divisor(s, i);
}

int pctl_model_is_fused(const pctl_model_shape *s)
{
	return s->family == PCTL_MODEL_PHI3;
}

int pctl_model_role_is_small(pctl_model_role role)
{
	return rows[role].small != 0;
}

int pctl_model_dtype_good(const pctl_dtype *t)
{
	return t->kind == PCTL_DTYPE_KIND_BLOCK ||
	       (t->kind == PCTL_DTYPE_KIND_FLOAT && t->bits >= 8 && t->bits <= 32);
}

static int has(const pctl_model_shape *s, pctl_model_role role, pctl_model_layout layout)
{
	switch (role) {
	case PCTL_ROLE_ROPE_FREQS: /* config.json says it in words */
		return layout == PCTL_MODEL_LAYOUT_GGUF &&
		       s->rope.scaling == PCTL_MODEL_SCALING_LLAMA3;
	case PCTL_ROLE_ROPE_FAR:
	case PCTL_ROLE_ROPE_NEAR:
		return layout == PCTL_MODEL_LAYOUT_GGUF &&
		       s->rope.scaling == PCTL_MODEL_SCALING_LONGROPE;
	case PCTL_ROLE_Q:
	case PCTL_ROLE_K:
	case PCTL_ROLE_V:
		return !pctl_model_is_fused(s);
	case PCTL_ROLE_QKV:
		return pctl_model_is_fused(s);
	case PCTL_ROLE_Q_BIAS:
	case PCTL_ROLE_K_BIAS:
	case PCTL_ROLE_V_BIAS:
		return s->qkv_bias;
	case PCTL_ROLE_O_BIAS:
		return s->o_bias;
	case PCTL_ROLE_Q_NORM:
	case PCTL_ROLE_K_NORM:
		return s->qk_norm;
	case PCTL_ROLE_POST_ATTN_NORM:
	case PCTL_ROLE_POST_FFN_NORM:
		return s->post_norms;
	case PCTL_ROLE_GATE:
	case PCTL_ROLE_UP:
		return (s->n_experts == 0 || s->n_dense != 0) && !pctl_model_is_fused(s);
	case PCTL_ROLE_GATE_UP:
		return pctl_model_is_fused(s);
	case PCTL_ROLE_DOWN:
		return s->n_experts == 0 || s->n_dense != 0;
	case PCTL_ROLE_ROUTER:
	case PCTL_ROLE_GATE_EXPERTS:
	case PCTL_ROLE_UP_EXPERTS:
	case PCTL_ROLE_DOWN_EXPERTS:
		return s->n_experts != 0;
	case PCTL_ROLE_SHARED_ROUTER:
		return s->n_ff_shared != 0 && s->family == PCTL_MODEL_QWEN2MOE;
	case PCTL_ROLE_SHARED_GATE:
	case PCTL_ROLE_SHARED_UP:
	case PCTL_ROLE_SHARED_DOWN:
		return s->n_ff_shared != 0;
	case PCTL_ROLE_OUTPUT:
		return !s->tied;
	default:
		return 1;
	}
}

int pctl_model_needs(const pctl_model_shape *s, pctl_model_role role, pctl_model_layout layout,
		     uint32_t *layers, uint32_t *experts)
{
	const int alone = rows[role].scope == EXPERT && layout == PCTL_MODEL_LAYOUT_SAFETENSORS;

	*layers = rows[role].scope == ONCE ? 1 : (uint32_t)s->n_layers;
	*experts = alone ? (uint32_t)s->n_experts : 1;
	return has(s, role, layout);
}

int pctl_model_layer_has(const pctl_model_shape *s, pctl_model_role role, uint64_t layer)
{
	switch (role) {
	case PCTL_ROLE_GATE:
	case PCTL_ROLE_UP:
	case PCTL_ROLE_DOWN:
		return s->n_experts == 0 || layer < s->n_dense;
	case PCTL_ROLE_ROUTER:
	case PCTL_ROLE_GATE_EXPERTS:
	case PCTL_ROLE_UP_EXPERTS:
	case PCTL_ROLE_DOWN_EXPERTS:
	case PCTL_ROLE_SHARED_ROUTER:
	case PCTL_ROLE_SHARED_GATE:
	case PCTL_ROLE_SHARED_UP:
	case PCTL_ROLE_SHARED_DOWN:
		return layer >= s->n_dense;
	default:
		return 1;
	}
}

void pctl_model_expected(const pctl_model_shape *s, pctl_model_role role, pctl_model_layout layout,
			 pctl_tensor_type *out)
{
	const uint64_t q = s->n_heads * s->head_dim, kv = s->n_kv_heads * s->head_dim;
	const uint64_t ff = s->n_experts == 0 ? s->n_ff : s->n_ff_dense;
	const uint64_t sizes[PCTL_ROLES][2] = {
		[PCTL_ROLE_TOK_EMBD] = {s->n_vocab, s->n_embd},
		[PCTL_ROLE_ROPE_FREQS] = {0, s->rope.dims / 2},
		[PCTL_ROLE_ROPE_FAR] = {0, s->rope.dims / 2},
		[PCTL_ROLE_ROPE_NEAR] = {0, s->rope.dims / 2},
		[PCTL_ROLE_ATTN_NORM] = {0, s->n_embd},
		[PCTL_ROLE_Q] = {q, s->n_embd},
		[PCTL_ROLE_Q_BIAS] = {0, q},
		[PCTL_ROLE_K] = {kv, s->n_embd},
		[PCTL_ROLE_K_BIAS] = {0, kv},
		[PCTL_ROLE_V] = {kv, s->n_embd},
		[PCTL_ROLE_V_BIAS] = {0, kv},
		[PCTL_ROLE_QKV] = {q + 2 * kv, s->n_embd},
		[PCTL_ROLE_Q_NORM] = {0, s->head_dim},
		[PCTL_ROLE_K_NORM] = {0, s->head_dim},
		[PCTL_ROLE_O] = {s->n_embd, q},
		[PCTL_ROLE_O_BIAS] = {0, s->n_embd},
		[PCTL_ROLE_POST_ATTN_NORM] = {0, s->n_embd},
		[PCTL_ROLE_FFN_NORM] = {0, s->n_embd},
		[PCTL_ROLE_GATE] = {ff, s->n_embd},
		[PCTL_ROLE_UP] = {ff, s->n_embd},
		[PCTL_ROLE_GATE_UP] = {2 * ff, s->n_embd},
		[PCTL_ROLE_DOWN] = {s->n_embd, ff},
		[PCTL_ROLE_ROUTER] = {s->n_experts, s->n_embd},
		[PCTL_ROLE_GATE_EXPERTS] = {s->n_ff, s->n_embd},
		[PCTL_ROLE_UP_EXPERTS] = {s->n_ff, s->n_embd},
		[PCTL_ROLE_DOWN_EXPERTS] = {s->n_embd, s->n_ff},
		[PCTL_ROLE_SHARED_ROUTER] = {layout == PCTL_MODEL_LAYOUT_SAFETENSORS, s->n_embd},
		[PCTL_ROLE_SHARED_GATE] = {s->n_ff_shared, s->n_embd},
		[PCTL_ROLE_SHARED_UP] = {s->n_ff_shared, s->n_embd},
		[PCTL_ROLE_SHARED_DOWN] = {s->n_embd, s->n_ff_shared},
		[PCTL_ROLE_POST_FFN_NORM] = {0, s->n_embd},
		[PCTL_ROLE_OUTPUT_NORM] = {0, s->n_embd},
		[PCTL_ROLE_OUTPUT] = {s->n_vocab, s->n_embd},
	};

	memset(out->dim, 0, sizeof(out->dim));
	out->rank = 0;
	if (rows[role].scope == EXPERT && layout == PCTL_MODEL_LAYOUT_GGUF)
		out->dim[out->rank++] = s->n_experts;
	if (sizes[role][0] != 0)
		out->dim[out->rank++] = sizes[role][0];
	out->dim[out->rank++] = sizes[role][1];
}

void pctl_model_name(const pctl_model_shape *s, pctl_model_role role, pctl_model_layout layout,
		     const char *layer, uint32_t expert, char *out, size_t n)
{
	const char *from = layout == PCTL_MODEL_LAYOUT_GGUF ? rows[role].gguf : rows[role].plain;
	size_t at = 0;

	if (layout == PCTL_MODEL_LAYOUT_SAFETENSORS && s->family == PCTL_MODEL_GEMMA2 &&
	    rows[role].gemma2 != NULL)
		from = rows[role].gemma2;
	if (layout == PCTL_MODEL_LAYOUT_SAFETENSORS && s->family == PCTL_MODEL_MIXTRAL &&
	    rows[role].mixtral != NULL)
		from = rows[role].mixtral;
	if (layout == PCTL_MODEL_LAYOUT_SAFETENSORS && s->family == PCTL_MODEL_DEEPSEEK &&
	    rows[role].deepseek != NULL)
		from = rows[role].deepseek;
	for (; from != NULL && *from != '\0' && at + 32 < n; from++) {
		if (strncmp(from, "{i}", 3) != 0 && strncmp(from, "{e}", 3) != 0) {
			out[at++] = *from;
			continue;
		}
		if (from[1] == 'i')
			at += (size_t)snprintf(out + at, n - at, "%.24s", layer);
		else
			at += (size_t)snprintf(out + at, n - at, "%" PRIu32, expert);
		from += 2;
	}
	out[at] = '\0';
}
