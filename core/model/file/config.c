/* The description of a model from config.json, as transformers writes it. JSON is read by cJSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "foundation/base/json_read.h"
#include "model/file/config_private.h"

/* Keys that are read below; that have one of some values (JSON, parted by blanks) or none, since others change what is computed; and that
 * change nothing. Any other key might. */
static const char *const read_keys[] = {
	"model_type",
	"hidden_size",
	"num_hidden_layers",
	"num_attention_heads",
	"num_key_value_heads",
	"head_dim",
	"intermediate_size",
	"vocab_size",
	"max_position_embeddings",
	"rms_norm_eps",
	"rope_theta",
	"rope_scaling",
	"rope_parameters",
	"partial_rotary_factor",
	"sliding_window",
	"use_sliding_window",
	"max_window_layers",
	"layer_types",
	"tie_word_embeddings",
	"attention_bias",
	"hidden_act",
	"hidden_activation",
	"num_local_experts",
	"num_experts",
	"num_experts_per_tok",
	"moe_intermediate_size",
	"norm_topk_prob",
	"shared_expert_intermediate_size",
	"attn_logit_softcapping",
	"final_logit_softcapping",
	"query_pre_attn_scalar",
	"original_max_position_embeddings",
	"n_routed_experts",
	"n_shared_experts",
	"first_k_dense_replace",
};
static const struct {
	const char *name, *values;
} one_value[] = {
	{"mlp_bias", "false"},
	{"pretraining_tp", "1"},
	{"rope_interleaved", "false"},
	{"mlp_only_layers", "[]"},
	{"decoder_sparse_step", "1"},
	{"qkv_bias", "true"},
	{"num_shared_experts", "0"},
	{"quantization_config", ""},
	{"is_encoder_decoder", "false"},
	{"add_cross_attention", "false"},
	{"tie_encoder_decoder", "false"},
	{"cross_attention_hidden_size", ""},
	{"pruned_heads", "{}"},
	{"is_decoder", "false true"},
	{"use_bidirectional_attention", "false"},
	{"force_use_exact_gelu", "false"},
	{"logit_scale", "1"},
	{"parallel_residual", "false"},
	{"use_parallel_residual", "false"},
	{"use_qk_norm", "false"},
	{"clip_qkv", ""},
	{"chunk_size_feed_forward", "0"},
	{"lm_head_bias", "false"},
	{"full_attn_mod", "1"},
	{"interpolate_factor", "1"},
	{"moe_layer_freq", "1"},
	{"routed_scaling_factor", "1"},
	{"scoring_func", "\"softmax\""},
	{"n_group", "1"},
	{"topk_group", "1"},
};
static const char *const ignored[] = {
	"architectures",
	"torch_dtype",
	"dtype",
	"transformers_version",
	"use_cache",
	"initializer_range",
	"attention_dropout",
	"hidden_dropout",
	"embd_pdrop",
	"resid_pdrop",
	"aux_loss_alpha",
	"seq_aux",
	"bos_token_id",
	"eos_token_id",
	"pad_token_id",
	"unk_token_id",
	"sep_token_id",
	"decoder_start_token_id",
	"output_router_logits",
	"router_aux_loss_coef",
	"router_jitter_noise",
	"cache_implementation",
	"attn_implementation",
	"auto_map",
	"return_dict",
	"output_hidden_states",
	"output_attentions",
	"torchscript",
	"use_bfloat16",
	"name_or_path",
	"hidden_dropout_prob",
	"id2label",
	"label2id",
	"finetuning_task",
	"problem_type",
	"tokenizer_class",
	"prefix",
	"task_specific_params",
	"tf_legacy_loss",
	"begin_suppress_tokens",
	"suppress_tokens",
	"forced_bos_token_id",
	"forced_eos_token_id",
	"generation_config",
};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NAMES_MAX 1024u

int config_among(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return 1;
	return 0;
}

int config_is_one_of(const cJSON *j, const char *values)
{
	char *text = cJSON_PrintUnformatted(j);
	const size_t n = text == NULL ? 0 : strlen(text);
	int found = 0;

	for (const char *at = values; n != 0 && *at != '\0'; at += strcspn(at, " ")) {
		at += strspn(at, " ");
		found |= strcspn(at, " ") == n && memcmp(at, text, n) == 0;
	}
	cJSON_free(text);
	return found;
}

const char *config_shown(const cJSON *j, char out[64])
{
	char *text = cJSON_PrintUnformatted(j);

	snprintf(out, 64, "%s", text == NULL ? "?" : text);
	cJSON_free(text);
	return out;
}

int config_few(model_faults *f, uint32_t code, const cJSON *object)
{
	const int n = cJSON_GetArraySize(object);

	if (n <= (int)NAMES_MAX)
		return 1;
	model_fault(f, code, NULL, "an object has %d names, at most %u can be read", n, NAMES_MAX);
	return 0;
}

static void all_keys(const config_reader *r)
{
	char text[64];
	const cJSON *j;

	if (!config_few(r->f, PC6280_MODEL_FILE, r->json))
		return;
	cJSON_ArrayForEach(j, r->json)
	{
		const char *near;
		size_t row = 0;

		if (cJSON_GetObjectItemCaseSensitive(r->json, j->string) != j)
			model_fault(r->f, PC6280_MODEL_FILE, NULL, "\"%.100s\" is given twice",
				    j->string);
		while (row < COUNT(one_value) && strcmp(one_value[row].name, j->string) != 0)
			row++;
		if (row < COUNT(one_value) && !cJSON_IsNull(j) &&
		    !config_is_one_of(j, one_value[row].values))
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "\"%s\" is %s; known is %s", j->string, config_shown(j, text),
				    one_value[row].values[0] ? one_value[row].values : "none");
		if (row < COUNT(one_value) || j->string[0] == '_' ||
		    config_among(j->string, read_keys, COUNT(read_keys)) ||
		    config_among(j->string, ignored, COUNT(ignored)))
			continue;
		near = pctl_str_nearest(j->string, read_keys, (uint32_t)COUNT(read_keys));
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED,
			    near == NULL
				    ? NULL
				    : pctl_arena_printf(r->m->arena, "did you mean \"%s\"?", near),
			    "nothing is known of the key \"%.100s\" (%s)", j->string,
			    config_shown(j, text));
	}
}

/* null is as good as nothing. */
const cJSON *config_item(const cJSON *of, const char *name)
{
	const cJSON *j = cJSON_GetObjectItemCaseSensitive(of, name);

	return cJSON_IsNull(j) ? NULL : j;
}

double config_number(const config_reader *r, const cJSON *of, const char *name, double otherwise)
{
	const cJSON *j = config_item(of, name);

	if (j == NULL && otherwise == otherwise)
		return otherwise;
	if (j == NULL)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"%s\" is missing", name);
	else if (!cJSON_IsNumber(j))
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"%s\" is no number", name);
	else
		return j->valuedouble;
	return 0;
}

static double number(const config_reader *r, const char *name, double otherwise)
{
	return config_number(r, r->json, name, otherwise);
}

/* UINT64_MAX: it has to be. */
uint64_t config_integer(const config_reader *r, const cJSON *of, const char *name,
			uint64_t otherwise)
{
	const double v = config_number(r, of, name,
				       otherwise == UINT64_MAX ? (double)NAN : (double)otherwise);

	if (v >= 0 && v <= 9007199254740992.0 && (double)(uint64_t)v == v)
		return (uint64_t)v;
	model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"%s\" is %g, no number of something", name, v);
	return 0;
}

static uint64_t integer(const config_reader *r, const char *name, uint64_t otherwise)
{
	return config_integer(r, r->json, name, otherwise);
}

static int truth(const config_reader *r, const char *name, int otherwise)
{
	const cJSON *j = config_item(r->json, name);

	if (j != NULL && !cJSON_IsBool(j))
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"%s\" is neither true nor false", name);
	return j == NULL ? otherwise : cJSON_IsTrue(j);
}

static void activation(const config_reader *r)
{
	const int gelu = r->m->shape.gelu;
	const char *name = config_item(r->json, "hidden_activation") != NULL ? "hidden_activation"
									     : "hidden_act";
	const cJSON *j = config_item(r->json, name);
	char text[64];

	/* Gemma's first files say gelu and mean the one by tanh. */
	if (j == NULL && gelu)
		return;
	if (j == NULL)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"hidden_act\" is missing");
	else if (!config_is_one_of(j, !gelu ? "\"silu\""
				      : strcmp(name, "hidden_act") == 0
					      ? "\"gelu\" \"gelu_pytorch_tanh\""
					      : "\"gelu_pytorch_tanh\""))
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL, "\"%s\" is %s", name,
			    config_shown(j, text));
}

static void windows(const config_reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	const cJSON *types = config_item(r->json, "layer_types"), *j;
	const int qwen = s->family == PCTL_MODEL_QWEN2 || s->family == PCTL_MODEL_QWEN3 ||
			 s->family == PCTL_MODEL_QWEN2MOE || s->family == PCTL_MODEL_QWEN3MOE;
	uint64_t layer = 0;

	s->window = integer(r, "sliding_window", s->family == PCTL_MODEL_GEMMA2 ? 4096 : 0);
	if (qwen && !truth(r, "use_sliding_window", 0))
		s->window = 0;
	if (qwen && s->window != 0)
		s->window_first = integer(r, "max_window_layers", UINT64_MAX);
	if (s->family == PCTL_MODEL_LLAMA || s->family == PCTL_MODEL_GEMMA ||
	    s->family == PCTL_MODEL_DEEPSEEK)
		s->window = 0; /* transformers looks for none there */
	pctl_model_complete(s);
	cJSON_ArrayForEach(j, types)
	{
		const char *want = pctl_model_layer_slides(s, layer) ? "\"sliding_attention\""
								     : "\"full_attention\"";

		if (!config_is_one_of(j, want)) {
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "\"layer_types\": layer %" PRIu64
				    " is another than %s, which its family has there",
				    layer, want);
			return;
		}
		layer++;
	}
	if (types != NULL && layer != s->n_layers)
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "\"layer_types\" has %" PRIu64 " entries for %" PRIu64 " layers", layer,
			    s->n_layers);
}

/* Shared experts are one, as wide as all of them; layers in front have none. */
static void deepseek(const config_reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	uint64_t n_shared;

	s->n_ff_dense = s->n_ff;
	s->n_experts = integer(r, "n_routed_experts", UINT64_MAX);
	s->n_used = integer(r, "num_experts_per_tok", UINT64_MAX);
	s->n_ff = integer(r, "moe_intermediate_size", UINT64_MAX);
	s->norm_used = truth(r, "norm_topk_prob", 0);
	s->n_dense = integer(r, "first_k_dense_replace", 0);
	n_shared = integer(r, "n_shared_experts", 0);
	if (n_shared > 4096)
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "\"n_shared_experts\" is %" PRIu64 ", which cannot be", n_shared);
	else
		s->n_ff_shared = n_shared * s->n_ff;
	if (s->n_dense == 0)
		s->n_ff_dense = 0;
}

static void experts(const config_reader *r)
{
	pctl_model_shape *s = &r->m->shape;

	if (s->family == PCTL_MODEL_MIXTRAL) {
		s->n_experts = integer(r, "num_local_experts", UINT64_MAX);
		s->n_used = integer(r, "num_experts_per_tok", UINT64_MAX);
	} else if (s->family == PCTL_MODEL_QWEN3MOE || s->family == PCTL_MODEL_QWEN2MOE) {
		s->n_experts =
			integer(r,
				config_item(r->json, "num_experts") == NULL ? "num_local_experts"
									    : "num_experts",
				UINT64_MAX);
		s->n_used = integer(r, "num_experts_per_tok", UINT64_MAX);
		s->n_ff = integer(r, "moe_intermediate_size", UINT64_MAX);
		s->norm_used = truth(r, "norm_topk_prob", 0);
	}
	if (s->family == PCTL_MODEL_DEEPSEEK)
		deepseek(r);
	else if (config_item(r->json, "n_routed_experts") != NULL ||
		 config_item(r->json, "n_shared_experts") != NULL ||
		 config_item(r->json, "first_k_dense_replace") != NULL)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "\"n_routed_experts\", \"n_shared_experts\" or "
			    "\"first_k_dense_replace\": this family has none");
	if (s->family == PCTL_MODEL_QWEN2MOE)
		s->n_ff_shared = integer(r, "shared_expert_intermediate_size", UINT64_MAX);
	else if (integer(r, "shared_expert_intermediate_size", 0) != 0)
		model_fault(
			r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			"\"shared_expert_intermediate_size\": this family has no shared expert");
}

static int family(const config_reader *r)
{
	static const struct {
		const char *type;
		pctl_model_family family;
	} others[] = {{"qwen3_moe", PCTL_MODEL_QWEN3MOE}, {"qwen2_moe", PCTL_MODEL_QWEN2MOE}};
	const cJSON *j = config_item(r->json, "model_type");
	pctl_model_shape *s = &r->m->shape;

	if (!cJSON_IsString(j)) {
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "\"model_type\" is missing");
		return 0;
	}
	for (size_t i = 0; i < COUNT(others); i++)
		if (strcmp(others[i].type, j->valuestring) == 0) {
			s->family = others[i].family;
			return 1;
		}
	if (!pctl_model_family_named(j->valuestring, &s->family) ||
	    s->family == PCTL_MODEL_QWEN3MOE || s->family == PCTL_MODEL_QWEN2MOE) {
		model_fault(r->f, PC6281_MODEL_FAMILY, NULL, "model_type \"%.100s\" is unknown",
			    j->valuestring);
		return 0;
	}
	return 1;
}

static void describe(const config_reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	const int gemma2 = s->family == PCTL_MODEL_GEMMA2;

	s->n_embd = integer(r, "hidden_size", UINT64_MAX);
	s->n_layers = integer(r, "num_hidden_layers", UINT64_MAX);
	s->n_heads = integer(r, "num_attention_heads", UINT64_MAX);
	s->n_kv_heads = integer(r, "num_key_value_heads", s->n_heads);
	s->head_dim = integer(r, "head_dim", s->n_heads ? s->n_embd / s->n_heads : 0);
	s->n_ff = integer(r, "intermediate_size",
			  s->family == PCTL_MODEL_QWEN3MOE || s->family == PCTL_MODEL_QWEN2MOE
				  ? 0
				  : UINT64_MAX);
	s->n_vocab = integer(r, "vocab_size", UINT64_MAX);
	s->n_context = integer(r, "max_position_embeddings", UINT64_MAX);
	s->rms_eps = number(r, "rms_norm_eps", (double)NAN);
	s->tied = truth(r, "tie_word_embeddings", s->tied);
	s->norm_offset = s->gelu ? 1 : 0;
	if (s->family == PCTL_MODEL_LLAMA || s->qk_norm || s->gelu) {
		s->qkv_bias = truth(r, "attention_bias", 0);
		s->o_bias = s->qkv_bias;
	} else if (truth(r, "attention_bias", s->qkv_bias) != s->qkv_bias) {
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "\"attention_bias\": this family has its own");
	}
	activation(r);
	experts(r);
	s->attn_softcap = number(r, "attn_logit_softcapping", 0);
	s->final_softcap = number(r, "final_logit_softcapping", 0);
	if (!gemma2 && (s->attn_softcap != 0 || s->final_softcap != 0))
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "this family caps neither attention nor logits here");
	if (gemma2)
		s->attn_scale = (double)(float)(1 / sqrt(number(r, "query_pre_attn_scalar", 256)));
	else if (config_item(r->json, "query_pre_attn_scalar") != NULL)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "\"query_pre_attn_scalar\": this family has none");
	config_rope(r);
	windows(r);
}

void model_read_config(pctl_model *m, const char *text, uint64_t n, model_faults *f)
{
	size_t bad;
	const char *why;
	const int good = pctl_json_good(text, n, &bad, &why);
	cJSON *json = good ? cJSON_ParseWithLength(text, n) : NULL;
	config_reader r = {m, json, f};

	if (!good) {
		model_fault(f, PC6280_MODEL_FILE, NULL, "byte %zu: %s", bad, why);
	} else if (json == NULL) {
		f->status = pctl_no_memory(f->call, "a description");
	} else if (!cJSON_IsObject(json)) {
		model_fault(f, PC6280_MODEL_FILE, NULL, "byte 0: no JSON object");
	} else if (family(&r)) {
		model_family_defaults(&m->shape);
		all_keys(&r);
		describe(&r);
	}
	cJSON_Delete(json);
}
