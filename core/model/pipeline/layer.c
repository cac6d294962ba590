/* One layer of a model as jobs: attention over the cache, then the feed-forward block. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/num.h"
#include "model/pipeline/ops.h"
#include "model/pipeline/private.h"

#define IN_SIZE 700u

const char *text_print(char *out, size_t n, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	pctl_num_vprint(out, n, format, args);
	va_end(args);
	return out;
}

void text_job(model_text *w, const char *id, const char *op, const char *in, const char *attr)
{
	pctl_str_addf(&w->jobs, "{ id = \"%s%s\"; op = \"%s\";", w->prefix, id, op);
	if (in != NULL)
		pctl_str_addf(&w->jobs, " in : { %s };", in);
	if (attr != NULL)
		pctl_str_addf(&w->jobs, " attr : { %s };", attr);
	pctl_str_add(&w->jobs, " },\n");
}

void text_input_name(const char *tensor, char out[REF_SIZE])
{
	size_t i = 0;

	for (; tensor[i] != '\0' && i + 1 < REF_SIZE; i++)
		out[i] = tensor[i] == '.' ? '_' : tensor[i];
	out[i] = '\0';
}

const char *text_weight(const model_text *w, pctl_model_role role, uint32_t expert,
			char out[REF_SIZE])
{
	char name[REF_SIZE - 16], plain[REF_SIZE];

	pctl_model_name(w->s, role, pctl_model_layout_of(w->m), w->layer, expert, name,
			sizeof(name));
	text_input_name(name, plain);
	return w->plan->unrolled ? text_print(out, REF_SIZE, "$%.180s", plain)
				 : text_print(out, REF_SIZE, "$weights/%s", name);
}

/* One layer's tensor of another type than f32 is enough: between equal types a conversion moves bits. */
static int all_f32(const model_text *w, pctl_model_role role)
{
	uint32_t layers, experts;

	(void)pctl_model_needs(w->s, role, pctl_model_layout_of(w->m), &layers, &experts);
	for (uint32_t i = 0; i < layers; i++)
		if (pctl_model_layer_has(w->s, role, i) &&
		    pctl_model_tensor_of(w->m, role, i, 0)->type.dtype != PCTL_SCALAR_F32)
			return 0;
	return 1;
}

static int is_norm(pctl_model_role role)
{
	return role != PCTL_ROLE_Q_BIAS && role != PCTL_ROLE_K_BIAS && role != PCTL_ROLE_V_BIAS &&
	       role != PCTL_ROLE_O_BIAS && role != PCTL_ROLE_ROUTER &&
	       role != PCTL_ROLE_SHARED_ROUTER;
}

const char *text_small(model_text *w, pctl_model_role role, char out[REF_SIZE])
{
	const char *word = pctl_model_role_name(role);
	char in[IN_SIZE], id[64];

	text_weight(w, role, 0, out);
	if (!all_f32(w, role)) {
		text_print(id, sizeof(id), "%s_f32", word);
		text_job(w, id, OP_CONVERT, text_print(in, sizeof(in), "x = \"%s\";", out),
			 "to = \"f32\";");
		text_print(out, REF_SIZE, "%s%s.y", w->prefix, id);
	}
	if (w->s->norm_offset != 0 && is_norm(role)) {
		text_print(id, sizeof(id), "%s_whole", word);
		text_job(w, id, OP_ADD,
			 text_print(in, sizeof(in), "a = \"%s\"; b = \"one.y\";", out), NULL);
		text_print(out, REF_SIZE, "%s%s.y", w->prefix, id);
	}
	return out;
}

static void norm(model_text *w, const char *id, const char *x, pctl_model_role role)
{
	char weight[REF_SIZE], in[IN_SIZE], attr[64];

	text_small(w, role, weight);
	text_job(w, id, OP_RMS_NORM,
		 text_print(in, sizeof(in), "x = \"%s\"; weight = \"%s\";", x, weight),
		 text_print(attr, sizeof(attr), "eps = \"%.9g\";", w->s->rms_eps));
}

/* A product with a weight, rows along what comes in; where there is a bias it is added, and behind it what adapters add. `out` refers to the result. */
static const char *product(model_text *w, const char *id, const char *x, pctl_model_role role,
			   int has_bias, pctl_model_role bias, char out[REF_SIZE])
{
	char weight[REF_SIZE], in[IN_SIZE], sum[64];

	if (pctl_model_role_is_small(role))
		text_small(w, role, weight);
	else
		text_weight(w, role, 0, weight);
	text_job(w, id, OP_MATMUL, text_print(in, sizeof(in), "a = \"%s\"; b = \"%s\";", x, weight),
		 "transpose_b = true;");
	text_print(out, REF_SIZE, "%s%s.y", w->prefix, id);
	if (has_bias) {
		text_small(w, bias, weight);
		text_print(sum, sizeof(sum), "%s_biased", id);
		text_job(w, sum, OP_ADD,
			 text_print(in, sizeof(in), "a = \"%s\"; b = \"%s\";", out, weight), NULL);
		text_print(out, REF_SIZE, "%s%s.y", w->prefix, sum);
	}
	text_adapted(w, id, x, role, out);
	return out;
}

/* Features from `first` on, n of them: of rows that several weights made at once. */
static const char *columns(model_text *w, const char *id, const char *x, uint64_t first, uint64_t n,
			   char out[REF_SIZE])
{
	char in[IN_SIZE], attr[160];

	text_job(w, id, OP_SLICE, text_print(in, sizeof(in), "x = \"%s\";", x),
		 text_print(attr, sizeof(attr),
			    "start = \"0,0,%" PRIu64 "\"; stop = \"%" PRIu64 ",%" PRIu64 ",%" PRIu64
			    "\";",
			    first, w->plan->batch, w->plan->chunk, first + n));
	return text_print(out, REF_SIZE, "%s%s.y", w->prefix, id);
}

/* Rows of features as heads. */
static const char *heads(model_text *w, const char *id, const char *x, uint64_t n,
			 char out[REF_SIZE])
{
	char in[IN_SIZE], attr[128];

	text_job(w, id, OP_RESHAPE, text_print(in, sizeof(in), "x = \"%s\";", x),
		 text_print(attr, sizeof(attr),
			    "shape = \"%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\";",
			    w->plan->batch, w->plan->chunk, n, w->s->head_dim));
	return text_print(out, REF_SIZE, "%s%s.y", w->prefix, id);
}

/* Heads of q or k: normed where the family does so, then turned. */
static const char *turned(model_text *w, const char *id, const char *x, uint64_t n,
			  pctl_model_role weight, char out[REF_SIZE])
{
	char at[REF_SIZE], in[IN_SIZE], name[64];

	heads(w, text_print(name, sizeof(name), "%s_heads", id), x, n, at);
	if (w->s->qk_norm) {
		norm(w, text_print(name, sizeof(name), "%s_normed", id), at, weight);
		text_print(at, sizeof(at), "%s%s.y", w->prefix, name);
	}
	text_print(name, sizeof(name), "%s_turned", id);
	text_job(
		w, name, OP_ROPE,
		text_print(in, sizeof(in),
			   "x = \"%s\"; table = \"rope_table.y\"; start = [ \"$start\", \"$count\" "
			   "];",
			   at),
		w->s->rope.pairing == PCTL_MODEL_NEIGHBOURS ? "pairing = \"neighbours\";"
							    : "pairing = \"halves\";");
	return text_print(out, REF_SIZE, "%s%s.y", w->prefix, name);
}

const char *text_pages(const model_text *w)
{
	return w->plan->page != 0 ? "$pages" : "no_pages.y";
}

static void cache(model_text *w, const char *id, const char *of, const char *x)
{
	char in[IN_SIZE];

	text_job(w, id, OP_KV_WRITE,
		 text_print(in, sizeof(in),
			    "cache = \"$%s\"; x = \"%s\"; start = \"$start\"; count = \"$count\"; "
			    "pages = \"%s\";",
			    of, x, text_pages(w)),
		 NULL);
}

/* The score's factor is the op's own where it is the head's. */
static const char *attention_attr(const model_text *w, char *out, size_t n)
{
	pctl_model_shape plain = *w->s;
	char scale[48] = "", window[48] = "", cap[48] = "";

	plain.attn_scale = 0;
	pctl_model_complete(&plain);
	if (plain.attn_scale != w->s->attn_scale)
		text_print(scale, sizeof(scale), " scale = \"%.9g\";", w->s->attn_scale);
	if (pctl_model_layer_slides(w->s, w->number))
		text_print(window, sizeof(window), " window = %" PRIu64 ";", w->s->window);
	if (w->s->attn_softcap != 0)
		text_print(cap, sizeof(cap), " softcap = \"%.9g\";", w->s->attn_softcap);
	return text_print(out, n, "causal = true;%s%s%s", window, cap, scale);
}

/* q, k and v of rows, by three weights or by one. */
static void projections(model_text *w, const char *x, char q[REF_SIZE], char k[REF_SIZE],
			char v[REF_SIZE])
{
	const pctl_model_shape *s = w->s;
	const uint64_t n_q = s->n_heads * s->head_dim, n_kv = s->n_kv_heads * s->head_dim;
	char all[REF_SIZE];

	if (pctl_model_is_fused(s)) {
		product(w, "qkv", x, PCTL_ROLE_QKV, 0, PCTL_ROLE_QKV, all);
		columns(w, "q", all, 0, n_q, q);
		columns(w, "k", all, n_q, n_kv, k);
		columns(w, "v", all, n_q + n_kv, n_kv, v);
		return;
	}
	product(w, "q", x, PCTL_ROLE_Q, s->qkv_bias, PCTL_ROLE_Q_BIAS, q);
	product(w, "k", x, PCTL_ROLE_K, s->qkv_bias, PCTL_ROLE_K_BIAS, k);
	product(w, "v", x, PCTL_ROLE_V, s->qkv_bias, PCTL_ROLE_V_BIAS, v);
}

static void attention(model_text *w, const char *x, char out[REF_SIZE])
{
	const pctl_model_shape *s = w->s;
	char at[REF_SIZE], q[REF_SIZE], k[REF_SIZE], v[REF_SIZE], in[IN_SIZE], attr[192];

	norm(w, "attn_norm", x, PCTL_ROLE_ATTN_NORM);
	text_print(at, sizeof(at), "%sattn_norm.y", w->prefix);
	projections(w, at, q, k, v);
	turned(w, "q", q, s->n_heads, PCTL_ROLE_Q_NORM, at);
	memcpy(q, at, sizeof(q));
	cache(w, "write_k", w->keys, turned(w, "k", k, s->n_kv_heads, PCTL_ROLE_K_NORM, at));
	cache(w, "write_v", w->values, heads(w, "v_heads", v, s->n_kv_heads, at));
	text_job(
		w, "attention", OP_ATTENTION,
		text_print(
			in, sizeof(in),
			"q = \"%s\"; k = \"%swrite_k.y\"; v = \"%swrite_v.y\"; start = \"$start\"; "
			"count = \"$count\"; pages = \"%s\";",
			q, w->prefix, w->prefix, text_pages(w)),
		attention_attr(w, attr, sizeof(attr)));
	text_job(w, "attended", OP_RESHAPE,
		 text_print(in, sizeof(in), "x = \"%sattention.y\";", w->prefix),
		 text_print(attr, sizeof(attr), "shape = \"%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\";",
			    w->plan->batch, w->plan->chunk, s->n_heads * s->head_dim));
	text_print(at, sizeof(at), "%sattended.y", w->prefix);
	product(w, "o", at, PCTL_ROLE_O, s->o_bias, PCTL_ROLE_O_BIAS, out);
	if (!s->post_norms)
		return;
	memcpy(at, out, sizeof(at));
	norm(w, "post_attn_norm", at, PCTL_ROLE_POST_ATTN_NORM);
	text_print(out, REF_SIZE, "%spost_attn_norm.y", w->prefix);
}

static void gated(model_text *w, const char *id, const char *gate, const char *up)
{
	char in[IN_SIZE];

	text_job(w, id, w->s->gelu ? OP_GEGLU : OP_SWIGLU,
		 text_print(in, sizeof(in), "a = \"%s\"; b = \"%s\";", gate, up), NULL);
}

/* Part k of a layer's experts, as many as a list takes. */
static void stack(model_text *w, const char *id, const char *word, uint32_t k, pctl_model_role role)
{
	const uint32_t n = (uint32_t)w->s->n_experts, first = k * PCTL_PORTS_MAX;
	char ref[REF_SIZE];

	pctl_str_addf(&w->jobs, "{ id = \"%s%s_%s_%" PRIu32 "\"; op = \"%s\"; in : { xs = [ ",
		      w->prefix, id, word, k, OP_STACK);
	for (uint32_t e = first; e < n && e < first + PCTL_PORTS_MAX; e++)
		pctl_str_addf(&w->jobs, "%s\"%s\"", e != first ? ", " : "",
			      text_weight(w, role, e, ref));
	pctl_str_add(&w->jobs, " ]; }; },\n");
}

/* All experts of a role as one tensor: that of the file, or its experts stacked, and joined where they are many. */
static const char *experts(model_text *w, const char *id, pctl_model_role role, char out[REF_SIZE])
{
	const uint32_t n = (uint32_t)w->s->n_experts,
		       n_parts = (n + PCTL_PORTS_MAX - 1) / PCTL_PORTS_MAX;

	if (pctl_model_layout_of(w->m) == PCTL_MODEL_LAYOUT_GGUF)
		return text_weight(w, role, 0, out);
	for (uint32_t k = 0; k < n_parts; k++)
		stack(w, id, n_parts == 1 ? "all" : "part", k, role);
	if (n_parts > 1) {
		pctl_str_addf(&w->jobs, "{ id = \"%s%s_all\"; op = \"%s\"; in : { xs = [ ",
			      w->prefix, id, OP_CONCAT);
		for (uint32_t k = 0; k < n_parts; k++)
			pctl_str_addf(&w->jobs, "%s\"%s%s_part_%" PRIu32 ".y\"", k ? ", " : "",
				      w->prefix, id, k);
		pctl_str_add(&w->jobs, " ]; }; },\n");
		return text_print(out, REF_SIZE, "%s%s_all.y", w->prefix, id);
	}
	return text_print(out, REF_SIZE, "%s%s_all_0.y", w->prefix, id);
}

static const char *expert_product(model_text *w, const char *id, const char *x,
				  pctl_model_role role, char out[REF_SIZE])
{
	char weight[REF_SIZE], in[IN_SIZE];

	experts(w, id, role, weight);
	text_job(w, id, OP_MOE_LINEAR,
		 text_print(in, sizeof(in),
			    "x = \"%s\"; w = \"%s\"; experts = \"%sroute.experts\"; bias = "
			    "\"no_bias.y\";",
			    x, weight, w->prefix),
		 NULL);
	return text_print(out, REF_SIZE, "%s%s.y", w->prefix, id);
}

/* What every token goes through, weighed by the sigmoid of one feature where there is a gate, added to what the chosen experts give. */
static void shared(model_text *w, const char *x, char out[REF_SIZE])
{
	char gate[REF_SIZE], up[REF_SIZE], in[IN_SIZE], attr[64];
	uint32_t layers, experts_of;

	product(w, "shared_gate", x, PCTL_ROLE_SHARED_GATE, 0, PCTL_ROLE_SHARED_GATE, gate);
	product(w, "shared_up", x, PCTL_ROLE_SHARED_UP, 0, PCTL_ROLE_SHARED_UP, up);
	gated(w, "shared_act", gate, up);
	text_print(gate, sizeof(gate), "%sshared_act.y", w->prefix);
	product(w, "shared_down", gate, PCTL_ROLE_SHARED_DOWN, 0, PCTL_ROLE_SHARED_DOWN, up);
	if (!pctl_model_needs(w->s, PCTL_ROLE_SHARED_ROUTER, pctl_model_layout_of(w->m), &layers,
			      &experts_of)) {
		text_job(w, "experts", OP_ADD,
			 text_print(in, sizeof(in), "a = \"%s\"; b = \"%s\";", out, up), NULL);
		text_print(out, REF_SIZE, "%sexperts.y", w->prefix);
		return;
	}
	/* GGUF has it as a row without an axis of rows. */
	text_small(w, PCTL_ROLE_SHARED_ROUTER, gate);
	text_job(w, "shared_row", OP_RESHAPE, text_print(in, sizeof(in), "x = \"%s\";", gate),
		 text_print(attr, sizeof(attr), "shape = \"1,%" PRIu64 "\";", w->s->n_embd));
	text_job(w, "shared_router", OP_MATMUL,
		 text_print(in, sizeof(in), "a = \"%s\"; b = \"%sshared_row.y\";", x, w->prefix),
		 "transpose_b = true;");
	text_job(w, "shared_weight", OP_SIGMOID,
		 text_print(in, sizeof(in), "x = \"%sshared_router.y\";", w->prefix), NULL);
	text_job(
		w, "shared", OP_MUL,
		text_print(in, sizeof(in), "a = \"%s\"; b = \"%sshared_weight.y\";", up, w->prefix),
		NULL);
	text_job(w, "experts", OP_ADD,
		 text_print(in, sizeof(in), "a = \"%s\"; b = \"%sshared.y\";", out, w->prefix),
		 NULL);
	text_print(out, REF_SIZE, "%sexperts.y", w->prefix);
}

static void mixture(model_text *w, const char *x, char out[REF_SIZE])
{
	char gate[REF_SIZE], up[REF_SIZE], down[REF_SIZE], in[IN_SIZE], attr[96];

	product(w, "router", x, PCTL_ROLE_ROUTER, 0, PCTL_ROLE_ROUTER, gate);
	text_job(w, "route", OP_MOE_ROUTE, text_print(in, sizeof(in), "logits = \"%s\";", gate),
		 text_print(attr, sizeof(attr),
			    "k = %" PRIu64 "; mode = \"softmax_topk\"; norm = %s;", w->s->n_used,
			    w->s->norm_used ? "true" : "false"));
	expert_product(w, "gate", x, PCTL_ROLE_GATE_EXPERTS, gate);
	expert_product(w, "up", x, PCTL_ROLE_UP_EXPERTS, up);
	gated(w, "act", gate, up);
	text_print(gate, sizeof(gate), "%sact.y", w->prefix);
	expert_product(w, "down", gate, PCTL_ROLE_DOWN_EXPERTS, down);
	text_job(w, "combine", OP_MOE_COMBINE,
		 text_print(in, sizeof(in), "y = \"%s\"; weights = \"%sroute.weights\";", down,
			    w->prefix),
		 NULL);
	text_print(out, REF_SIZE, "%scombine.z", w->prefix);
	if (w->s->n_ff_shared != 0)
		shared(w, x, out);
}

static void feed_forward(model_text *w, const char *x, char out[REF_SIZE])
{
	char at[REF_SIZE], gate[REF_SIZE], up[REF_SIZE];

	norm(w, "ffn_norm", x, PCTL_ROLE_FFN_NORM);
	text_print(at, sizeof(at), "%sffn_norm.y", w->prefix);
	if (pctl_model_layer_has(w->s, PCTL_ROLE_ROUTER, w->number) && w->s->n_experts != 0) {
		mixture(w, at, out);
	} else {
		if (pctl_model_is_fused(w->s)) {
			product(w, "gate_up", at, PCTL_ROLE_GATE_UP, 0, PCTL_ROLE_GATE_UP, out);
			columns(w, "gate", out, 0, w->s->n_ff, gate);
			columns(w, "up", out, w->s->n_ff, w->s->n_ff, up);
		} else {
			product(w, "gate", at, PCTL_ROLE_GATE, 0, PCTL_ROLE_GATE, gate);
			product(w, "up", at, PCTL_ROLE_UP, 0, PCTL_ROLE_UP, up);
		}
		gated(w, "act", gate, up);
		text_print(at, sizeof(at), "%sact.y", w->prefix);
		product(w, "down", at, PCTL_ROLE_DOWN, 0, PCTL_ROLE_DOWN, out);
	}
	if (!w->s->post_norms)
		return;
	memcpy(at, out, sizeof(at));
	norm(w, "post_ffn_norm", at, PCTL_ROLE_POST_FFN_NORM);
	text_print(out, REF_SIZE, "%spost_ffn_norm.y", w->prefix);
}

void text_layer(model_text *w, const char *x, char out[REF_SIZE])
{
	char at[REF_SIZE], in[IN_SIZE];

	attention(w, x, at);
	text_job(w, "attn_out", OP_ADD,
		 text_print(in, sizeof(in), "a = \"%s\"; b = \"%s\";", x, at), NULL);
	text_print(out, REF_SIZE, "%sattn_out.y", w->prefix);
	feed_forward(w, out, at);
	text_job(w, "out", OP_ADD, text_print(in, sizeof(in), "a = \"%s\"; b = \"%s\";", out, at),
		 NULL);
	text_print(out, REF_SIZE, "%sout.y", w->prefix);
}
