/* Models: their files and words; see model.h. */
#include <stdlib.h>
#include <string.h>

#include "api/model_private.h"
#include "model/pipeline/pipeline.h"

void pipectl_model_release(pipectl_model *m)
{
	if (m == NULL)
		return;
	pctl_model_words_close(&m->words);
	pctl_model_close(m->model);
	free(m->ids.items);
	pctl_str_drop(&m->text);
	pctl_arena_destroy(m->arena);
	free(m);
}

static pctl_status open_model(pipectl_model *m, const char *path,
			      const pipectl_model_options *options)
{
	const pctl_call *call = &m->p->call;
	pipectl_model_options o;
	pctl_status status = PIPECTL_TAKE(call, &o, options);

	if (status == PCTL_OK && path == NULL)
		status = pipectl_misused(call, "a model has no path");
	if (status != PCTL_OK)
		return status;
	m->path = pctl_arena_dup(m->arena, path);
	m->tokenizer = pctl_arena_dup(m->arena, o.tokenizer);
	m->family = pctl_arena_dup(m->arena, o.family);
	if (m->path == NULL || (o.tokenizer != NULL && m->tokenizer == NULL) ||
	    (o.family != NULL && m->family == NULL))
		return pctl_no_memory(call, "a model");
	return pctl_model_open(m->path, call, &m->model);
}

pctl_status pipectl_model_open(pipectl *p, const char *path, const pipectl_model_options *options,
			       pipectl_model **out)
{
	pctl_status status = pipectl_begin(p, NULL, NULL);
	pipectl_model *m;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	m = calloc(1, sizeof(*m));
	if (m == NULL || (m->arena = pctl_arena_create()) == NULL) {
		free(m);
		return pctl_no_memory(&p->call, "a model");
	}
	m->p = p;
	status = pipectl_end(p, open_model(m, path, options));
	if (status == PCTL_OK)
		*out = m;
	else
		pipectl_model_release(m);
	return status;
}

/* ---- what it is --------------------------------------------------------------------------- */

static void totals(const pctl_model *m, pipectl_model_facts *out)
{
	const pctl_model_tensor *t;
	uint64_t n, n_bytes;

	for (; (t = pctl_model_tensor_at(m, out->n_tensors)) != NULL; out->n_tensors++) {
		(void)pctl_tensor_size(&t->type, &n, &n_bytes);
		out->parameters += n;
		out->n_bytes += n_bytes;
	}
}

static uint32_t flags_of(const pctl_model_shape *s)
{
	return (s->tied ? PIPECTL_MODEL_TIED : 0) | (s->qkv_bias ? PIPECTL_MODEL_QKV_BIAS : 0) |
	       (s->o_bias ? PIPECTL_MODEL_O_BIAS : 0) | (s->qk_norm ? PIPECTL_MODEL_QK_NORM : 0) |
	       (s->post_norms ? PIPECTL_MODEL_POST_NORMS : 0) |
	       (s->norm_used ? PIPECTL_MODEL_NORM_USED : 0);
}

pctl_status pipectl_model_describe(pipectl_model *m, pipectl_model_facts *out)
{
	const pctl_model_shape *s = pctl_model_shape_of(m->model);
	pctl_status status = pipectl_begin(m->p, NULL, NULL);
	pipectl_model_facts f = {
		.head = PCTL_HEAD(pipectl_model_facts),
		.path = pctl_model_path(m->model),
		.family = pctl_model_family_name(s->family),
		.layout = pctl_model_layout_of(m->model) == PCTL_MODEL_LAYOUT_GGUF ? "gguf"
										   : "safetensors",
		.rope_pairing = s->rope.pairing == PCTL_MODEL_HALVES ? "halves" : "neighbours",
		.rope_scaling = pctl_model_scaling_name(s->rope.scaling),
		.activation = s->gelu ? "gelu" : "silu",
		.n_layers = s->n_layers,
		.n_embd = s->n_embd,
		.n_heads = s->n_heads,
		.n_kv_heads = s->n_kv_heads,
		.head_dim = s->head_dim,
		.n_ff = s->n_ff,
		.n_ff_shared = s->n_ff_shared,
		.n_vocab = s->n_vocab,
		.n_context = s->n_context,
		.n_experts = s->n_experts,
		.n_used = s->n_used,
		.window = s->window,
		.window_first = s->window_first,
		.window_every = s->window_every,
		.kv_bytes = pctl_model_kv_bytes(s),
		.rope_original = s->rope.n_original,
		.rms_eps = s->rms_eps,
		.rope_base = s->rope.base,
		.rope_factor = s->rope.factor,
		.rope_low = s->rope.low,
		.rope_high = s->rope.high,
		.rope_magnitude = s->rope.magnitude,
		.attn_scale = s->attn_scale,
		.attn_softcap = s->attn_softcap,
		.final_softcap = s->final_softcap,
		.embed_scale = s->embed_scale,
		.norm_offset = s->norm_offset,
		.flags = flags_of(s),
		.n_dense = s->n_dense,
		.n_ff_dense = s->n_ff_dense,
		.rope_dims = s->rope.dims};

	if (status != PCTL_OK)
		return status;
	totals(m->model, &f);
	return pipectl_end(m->p, PIPECTL_GIVE(&m->p->call, out, &f));
}

static pctl_status tensor_of(const pipectl_model *m, uint64_t i, const pctl_model_tensor **out)
{
	*out = pctl_model_tensor_at(m->model, i);
	return *out == NULL ? pipectl_misused(&m->p->call, "there is no such tensor") : PCTL_OK;
}

pctl_status pipectl_model_tensor_at(pipectl_model *m, uint64_t i, pipectl_model_tensor *out)
{
	pipectl_model_tensor v = {.head = PCTL_HEAD(pipectl_model_tensor)};
	const pctl_model_tensor *t;
	pctl_status status = pipectl_begin(m->p, NULL, NULL);

	if (status == PCTL_OK)
		status = tensor_of(m, i, &t);
	if (status != PCTL_OK)
		return pipectl_end(m->p, status);
	v.name = t->name;
	v.role = pctl_model_role_name(t->role);
	v.dtype = pctl_dtype_of(t->type.dtype)->name;
	(void)pctl_model_tensor_file(m->model, t->file, &v.file);
	v.dims = t->type.dim;
	v.n_bytes = t->n_bytes;
	v.rank = t->type.rank;
	v.layer = t->layer;
	v.expert = t->expert;
	return pipectl_end(m->p, PIPECTL_GIVE(&m->p->call, out, &v));
}

pctl_status pipectl_model_tensor_cid(pipectl_model *m, uint64_t i, char cid[PIPECTL_CID_SIZE])
{
	const pctl_model_tensor *t;
	pctl_cid found;
	pctl_status status = pipectl_begin(m->p, NULL, NULL);

	cid[0] = '\0';
	if (status == PCTL_OK)
		status = tensor_of(m, i, &t);
	if (status == PCTL_OK)
		status = pctl_model_hash(m->model, t, &m->p->call, &found);
	if (status == PCTL_OK)
		(void)pctl_cid_format(&found, cid);
	return pipectl_end(m->p, status);
}

pctl_status pipectl_model_check(pipectl_model *m)
{
	const pctl_model_tensor *t;
	pctl_cid cid;
	pctl_status status = pipectl_begin(m->p, NULL, NULL);

	if (status == PCTL_OK)
		status = pctl_model_words_check(m->model, &m->p->call);
	for (uint64_t i = 0; status == PCTL_OK && (t = pctl_model_tensor_at(m->model, i)) != NULL;
	     i++)
		status = pctl_is_cancelled(&m->p->call)
				 ? PCTL_E_CANCELLED
				 : pctl_model_hash(m->model, t, &m->p->call, &cid);
	return pipectl_end(m->p, status);
}

/* All that a plan asks for, as one set. */
static pctl_status open_loras(const pipectl_model *m, const pipectl_model_plan *plan,
			      pctl_adapters *out)
{
	const pctl_call *call = &m->p->call;
	pctl_arena *arena = pctl_arena_create();
	pctl_adapter_ask *asks = NULL;
	pctl_engine_lora *loras = NULL;
	pctl_status status =
		arena == NULL ? pctl_no_memory(call, "adapters")
			      : pipectl_take_loras(call, plan->loras, plan->n_loras, arena, &loras);

	*out = (pctl_adapters){.n = 0};
	if (status == PCTL_OK)
		asks = pctl_arena_array(arena, plan->n_loras, sizeof(*asks));
	if (status == PCTL_OK && asks == NULL)
		status = pctl_no_memory(call, "adapters");
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_loras; i++)
		asks[i] = (pctl_adapter_ask){loras[i].path, 1, loras[i].by};
	if (status == PCTL_OK)
		status = pctl_adapters_open(m->model, asks, plan->n_loras, call, out);
	pctl_arena_destroy(arena);
	return status;
}

pctl_status pipectl_model_pipeline(pipectl_model *m, const pipectl_model_plan *plan, char **out)
{
	const uint64_t most = pctl_model_shape_of(m->model)->n_context;
	pctl_status status = pipectl_begin(m->p, NULL, NULL);
	pipectl_model_plan o = {.batch = 0};
	pctl_adapters loras;
	pctl_model_plan how;

	*out = NULL;
	if (status == PCTL_OK)
		status = PIPECTL_TAKE(&m->p->call, &o, plan);
	if (status == PCTL_OK && o.flags & ~(PIPECTL_MODEL_UNROLLED | PIPECTL_MODEL_ALL_LOGITS))
		status = pipectl_misused(&m->p->call, "plan has a flag that does not exist");
	if (status != PCTL_OK)
		return pipectl_end(m->p, status);
	how = (pctl_model_plan){.batch = o.batch == 0 ? 1 : o.batch,
				.chunk = o.chunk == 0 ? 1 : o.chunk,
				.context = o.context != 0		? o.context
					   : most < PCTL_ENGINE_CONTEXT ? most
									: PCTL_ENGINE_CONTEXT,
				.all_logits = (o.flags & PIPECTL_MODEL_ALL_LOGITS) != 0,
				.unrolled = (o.flags & PIPECTL_MODEL_UNROLLED) != 0};
	status = open_loras(m, &o, &loras);
	how.adapters = loras.uses;
	how.n_adapters = loras.n;
	how.set = 1;
	if (status == PCTL_OK)
		status = pctl_model_pipeline(m->model, &how, &m->p->call, out);
	pctl_adapters_close(&loras);
	return pipectl_end(m->p, status);
}

/* ---- words -------------------------------------------------------------------------------- */

_Static_assert(PIPECTL_ENCODE_BEGIN == PCTL_ENCODE_BEGIN &&
		       PIPECTL_ENCODE_SPECIAL == PCTL_ENCODE_SPECIAL &&
		       PIPECTL_ENCODE_ADDED == PCTL_ENCODE_ADDED &&
		       PIPECTL_ENCODE_CONTINUED == PCTL_ENCODE_CONTINUED &&
		       PIPECTL_CHAT_PROMPT == PCTL_TEMPLATE_PROMPT &&
		       PIPECTL_CHAT_NO_THINKING == PCTL_TEMPLATE_NO_THINKING,
	       "flags for clients are those of words");

/* A call about text begins. */
static pctl_status begin_words(pipectl_model *m)
{
	pctl_status status = pipectl_begin(m->p, NULL, NULL);

	if (status != PCTL_OK || m->has_words)
		return status;
	status = pctl_model_words_open(m->model, m->tokenizer, m->family, &m->p->call, &m->words);
	m->has_words = status == PCTL_OK;
	if (status != PCTL_OK)
		pctl_model_words_close(&m->words);
	return status;
}

pctl_status pipectl_model_tokenizer(pipectl_model *m, pipectl_tokenizer_facts *out)
{
	pctl_status status = begin_words(m);
	const pctl_tokenizer *t = m->words.tokenizer;
	pipectl_tokenizer_facts f = {.head = PCTL_HEAD(pipectl_tokenizer_facts)};

	if (status != PCTL_OK)
		return pipectl_end(m->p, status);
	f.kind = pctl_tokenizer_kind_name(t);
	f.pre = pctl_tokenizer_pre_name(t);
	f.family = m->words.template_ == NULL ? NULL : pctl_template_name(m->words.template_);
	f.n_tokens = pctl_tokenizer_size(t);
	f.bos = pctl_tokenizer_role(t, PCTL_TOKEN_BOS);
	f.eos = pctl_tokenizer_role(t, PCTL_TOKEN_EOS);
	f.pad = pctl_tokenizer_role(t, PCTL_TOKEN_PAD);
	f.unknown = pctl_tokenizer_role(t, PCTL_TOKEN_UNK);
	return pipectl_end(m->p, PIPECTL_GIVE(&m->p->call, out, &f));
}

static pctl_status give_ids(pipectl_model *m, pctl_status status, const pctl_token_ids *made,
			    const uint32_t **ids, uint32_t *n)
{
	static const uint32_t none;

	if (status == PCTL_OK) {
		free(m->ids.items);
		m->ids = *made;
		*ids = made->items == NULL ? &none : made->items;
		*n = made->n;
	}
	return pipectl_end(m->p, status);
}

pctl_status pipectl_model_encode(pipectl_model *m, const char *text, uint64_t n_bytes,
				 uint32_t flags, const uint32_t **ids, uint32_t *n)
{
	pctl_token_ids made = {0};
	pctl_status status = begin_words(m);

	*ids = NULL;
	*n = 0;
	if (status == PCTL_OK && n_bytes != 0 && text == NULL)
		status = pipectl_misused(&m->p->call, "there is no text");
	if (status == PCTL_OK && flags & ~(PIPECTL_ENCODE_BEGIN | PIPECTL_ENCODE_SPECIAL |
					   PIPECTL_ENCODE_ADDED | PIPECTL_ENCODE_CONTINUED))
		status = pipectl_misused(&m->p->call, "a flag does not exist");
	if (status == PCTL_OK)
		status = pctl_model_words_encode(&m->words, text == NULL ? "" : text, n_bytes,
						 flags, &m->p->call, &made);
	return give_ids(m, status, &made, ids, n);
}

pctl_status pipectl_model_chat(pipectl_model *m, const pipectl_message *messages,
			       uint32_t n_messages, uint32_t flags, const uint32_t **ids,
			       uint32_t *n)
{
	pctl_token_ids made = {0};
	pctl_message *all = NULL;
	pctl_status status = begin_words(m);

	*ids = NULL;
	*n = 0;
	if (status == PCTL_OK && n_messages != 0 && messages == NULL)
		status = pipectl_misused(&m->p->call, "messages are counted, and there are none");
	if (status == PCTL_OK && flags & ~(PIPECTL_CHAT_PROMPT | PIPECTL_CHAT_NO_THINKING))
		status = pipectl_misused(&m->p->call, "a flag does not exist");
	if (status == PCTL_OK && (all = calloc(n_messages + 1ull, sizeof(*all))) == NULL)
		status = pctl_no_memory(&m->p->call, "messages");
	for (uint32_t i = 0; status == PCTL_OK && i < n_messages; i++) {
		if (messages[i].role == NULL || messages[i].content == NULL)
			status =
				pipectl_misused(&m->p->call, "a message has no role or no content");
		else
			all[i] = (pctl_message){messages[i].role,
						{messages[i].content, strlen(messages[i].content)}};
	}
	if (status == PCTL_OK)
		status = pctl_model_words_chat(&m->words, all, n_messages, flags, &m->p->call,
					       &made);
	free(all);
	return give_ids(m, status, &made, ids, n);
}

pctl_status pipectl_model_decode(pipectl_model *m, const uint32_t *ids, uint32_t n,
				 uint32_t special, const char **text, uint64_t *n_bytes)
{
	pctl_str_buf made = PCTL_STR_BUF_INIT;
	pctl_status status = begin_words(m);

	*text = NULL;
	*n_bytes = 0;
	if (status == PCTL_OK && n != 0 && ids == NULL)
		status = pipectl_misused(&m->p->call, "tokens are counted, and there are none");
	if (status == PCTL_OK)
		status = pctl_tokenizer_decode(m->words.tokenizer, ids, n, special != 0,
					       &m->p->call, &made);
	if (status == PCTL_OK && made.failed)
		status = pctl_no_memory(&m->p->call, "a text");
	if (status != PCTL_OK) {
		pctl_str_drop(&made);
		return pipectl_end(m->p, status);
	}
	pctl_str_drop(&m->text);
	m->text = made;
	*text = made.data == NULL ? "" : made.data;
	*n_bytes = made.n;
	return pipectl_end(m->p, status);
}
