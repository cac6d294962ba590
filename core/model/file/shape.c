/* What a description means: words, what follows from a family, and what no model can be. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/num.h"
#include "model/file/private.h"

#define SIZE_LIMIT (UINT64_C(1) << 24) /* features, tokens of a vocabulary */
#define LAYERS_LIMIT 4096u
#define EXPERTS_LIMIT 4096u
#define TWO_PI 6.283185307179586

static const char *const family_names[PCTL_MODEL_FAMILIES] = {
	"llama",    "mistral", "mixtral", "qwen2", "qwen2moe", "qwen3",
	"qwen3moe", "gemma",   "gemma2",  "phi3",  "deepseek"};

const char *pctl_model_family_name(pctl_model_family family)
{
	return (uint32_t)family < PCTL_MODEL_FAMILIES ? family_names[family] : NULL;
}

int pctl_model_family_named(const char *name, pctl_model_family *out)
{
	for (uint32_t i = 0; i < PCTL_MODEL_FAMILIES; i++)
		if (strcmp(family_names[i], name) == 0) {
			*out = (pctl_model_family)i;
			return 1;
		}
	return 0;
}

const char *pctl_model_scaling_name(pctl_model_scaling scaling)
{
	static const char *const names[] = {
		[PCTL_MODEL_SCALING_NONE] = "none",
		[PCTL_MODEL_SCALING_LINEAR] = "linear",
		[PCTL_MODEL_SCALING_LLAMA3] = "llama3",
		[PCTL_MODEL_SCALING_YARN] = "yarn",
		[PCTL_MODEL_SCALING_DYNAMIC] = "dynamic",
		[PCTL_MODEL_SCALING_LONGROPE] = "longrope",
	};

	return names[scaling];
}

void model_family_defaults(pctl_model_shape *s)
{
	const pctl_model_family f = s->family;

	s->rope.base = 10000;
	s->rope.factor = 1;
	s->rope.pairing = PCTL_MODEL_HALVES;
	s->gelu = f == PCTL_MODEL_GEMMA || f == PCTL_MODEL_GEMMA2;
	s->tied = s->gelu;
	s->qkv_bias = f == PCTL_MODEL_QWEN2 || f == PCTL_MODEL_QWEN2MOE;
	s->qk_norm = f == PCTL_MODEL_QWEN3 || f == PCTL_MODEL_QWEN3MOE;
	s->post_norms = f == PCTL_MODEL_GEMMA2;
	s->norm_used = f == PCTL_MODEL_MIXTRAL || f == PCTL_MODEL_QWEN3MOE;
}

void pctl_model_complete(pctl_model_shape *s)
{
	/* Both formats mean floats of 32 bits. */
	s->rms_eps = (double)(float)s->rms_eps;
	s->rope.base = (double)(float)s->rope.base;
	s->rope.magnitude = (double)(float)s->rope.magnitude;
	s->embed_scale = s->gelu ? (double)(float)sqrt((double)s->n_embd) : 1;
	s->window_every = s->family == PCTL_MODEL_GEMMA2 ? 2 : 1;
	if (s->attn_scale == 0 && s->head_dim != 0)
		s->attn_scale = (double)(float)(1 / sqrt((double)s->head_dim));
}

double pctl_model_yarn_magnitude(double factor)
{
	return factor > 1 ? 0.1 * log(factor) + 1 : 1;
}

double pctl_model_longrope_magnitude(uint64_t n_context, uint64_t n_original)
{
	return n_context > n_original && n_original > 1
		       ? sqrt(1 +
			      log((double)n_context / (double)n_original) / log((double)n_original))
		       : 1;
}

const float *pctl_model_longrope_factors(const pctl_model_shape *s, uint64_t context)
{
	return context > s->rope.n_original ? s->rope.far_factors : s->rope.near_factors;
}

float pctl_model_rope_divisor(const pctl_model_shape *s, uint64_t i)
{
	const pctl_model_rope *r = &s->rope;
	const double original = (double)r->n_original;
	const double f = 1 / pow(r->base, 2 * (double)i / (double)s->rope.dims);
	const double wave = TWO_PI / f;
	double smooth;

	if (wave < original / r->high)
		return 1;
	if (wave > original / r->low)
		return (float)r->factor;
	smooth = (original / wave - r->low) / (r->high - r->low);
	return (float)(1 / ((1 - smooth) / r->factor + smooth));
}

int pctl_model_layer_slides(const pctl_model_shape *s, uint64_t layer)
{
	return s->window != 0 && layer >= s->window_first &&
	       (layer - s->window_first) % s->window_every == 0;
}

uint64_t pctl_model_kv_bytes(const pctl_model_shape *s)
{
	return 2 * s->n_layers * s->n_kv_heads * s->head_dim * 4;
}

/* A key and its value, for what is said of it. */
static void size_in(model_faults *f, const char *what, uint64_t v, uint64_t most)
{
	if (v == 0 || v > most)
		model_fault(f, PC6282_MODEL_KEY, NULL,
			    "%s is %" PRIu64 ", which is none of 1 to %" PRIu64, what, v, most);
}

static void number_in(model_faults *f, const char *what, double v, double least)
{
	if (!(v >= least) || !(v <= 1e30))
		model_fault(f, PC6282_MODEL_KEY, NULL, "%s is %g, which cannot be", what, v);
}

static void check_longrope(const pctl_model_shape *s, model_faults *f)
{
	const pctl_model_rope *r = &s->rope;

	number_in(f, "longrope's factor of attention", r->magnitude, 1e-3);
	size_in(f, "the context before rope's scaling", r->n_original, 1u << 24);
	for (uint64_t i = 0; i < r->dims / 2; i++)
		if (!(r->near_factors[i] >= 0x1p-4f && r->near_factors[i] <= 4096) ||
		    !(r->far_factors[i] >= 0x1p-4f && r->far_factors[i] <= 4096)) {
			model_fault(f, PC6282_MODEL_KEY, NULL,
				    "longrope's factors of pair %" PRIu64
				    " are %g and %g, which is none of 1/16 to 4096",
				    i, (double)r->near_factors[i], (double)r->far_factors[i]);
			return;
		}
}

void model_check_shape(const pctl_model_shape *s, model_faults *f)
{
	size_in(f, "the number of layers", s->n_layers, LAYERS_LIMIT);
	size_in(f, "the number of features", s->n_embd, SIZE_LIMIT);
	size_in(f, "the number of heads", s->n_heads, 65536);
	size_in(f, "the number of heads of keys", s->n_kv_heads, 65536);
	size_in(f, "the size of a head", s->head_dim, 65536);
	size_in(f, "the size of the feed-forward block", s->n_ff, SIZE_LIMIT);
	size_in(f, "the size of the vocabulary", s->n_vocab, SIZE_LIMIT);
	size_in(f, "the length of the context", s->n_context, UINT32_MAX);
	number_in(f, "the epsilon of norms", s->rms_eps, 0);
	number_in(f, "the base of rope", s->rope.base, 1);
	number_in(f, "the factor of rope's scaling", s->rope.factor, 1e-6);
	if (s->rope.scaling == PCTL_MODEL_SCALING_LLAMA3) {
		number_in(f, "low_freq_factor", s->rope.low, 1e-6);
		number_in(f, "high_freq_factor", s->rope.high - s->rope.low, 1e-6);
		size_in(f, "the context before rope's scaling", s->rope.n_original, UINT32_MAX);
	}
	if (s->rope.scaling == PCTL_MODEL_SCALING_YARN) {
		number_in(f, "beta_slow", s->rope.low, 1e-3);
		number_in(f, "beta_fast", s->rope.high - s->rope.low, 1e-6);
		number_in(f, "the base of rope with yarn", s->rope.base, 1.000001);
		number_in(f, "yarn's factor of attention", s->rope.magnitude, 1e-3);
		size_in(f, "the context before rope's scaling", s->rope.n_original, 1u << 24);
	}
	if (s->rope.scaling == PCTL_MODEL_SCALING_LONGROPE)
		check_longrope(s, f);
	number_in(f, "the cap of attention", s->attn_softcap, 0);
	number_in(f, "the cap of logits", s->final_softcap, 0);
	if (s->n_kv_heads != 0 && s->n_heads % s->n_kv_heads != 0)
		model_fault(f, PC6282_MODEL_KEY, NULL,
			    "%" PRIu64 " heads are no multiple of %" PRIu64 " heads of keys",
			    s->n_heads, s->n_kv_heads);
	if (s->head_dim % 2 != 0)
		model_fault(f, PC6282_MODEL_KEY, NULL,
			    "a head of %" PRIu64 " features cannot be turned in pairs",
			    s->head_dim);
	if (s->rope.dims == 0 || s->rope.dims > s->head_dim || s->rope.dims % 2 != 0)
		model_fault(f, PC6282_MODEL_KEY, NULL,
			    "%" PRIu64 " of %" PRIu64
			    " features of a head cannot be turned in pairs",
			    s->rope.dims, s->head_dim);
	if (s->n_dense != 0) {
		size_in(f, "the size of layers without experts", s->n_ff_dense, SIZE_LIMIT);
		if (s->n_experts == 0 || s->n_dense >= s->n_layers)
			model_fault(f, PC6282_MODEL_KEY, NULL,
				    "%" PRIu64 " layers without experts of %" PRIu64
				    " cannot be: some have experts",
				    s->n_dense, s->n_layers);
	}
	if (s->n_ff_shared > SIZE_LIMIT || (s->n_ff_shared != 0 && s->n_experts == 0))
		model_fault(f, PC6282_MODEL_KEY, NULL,
			    "a shared expert of %" PRIu64 " features beside %" PRIu64
			    " experts cannot be",
			    s->n_ff_shared, s->n_experts);
	if (s->n_experts > EXPERTS_LIMIT || (s->n_experts != 0 && s->n_used == 0) ||
	    s->n_used > s->n_experts)
		model_fault(f, PC6282_MODEL_KEY, NULL,
			    "%" PRIu64 " of %" PRIu64 " experts cannot be", s->n_used,
			    s->n_experts);
}

float *model_factors(pctl_model *m, const char *what, uint64_t n, model_faults *f)
{
	float *out;

	if (n == 0 || n != m->shape.rope.dims / 2) {
		model_fault(f, PC6282_MODEL_KEY, NULL,
			    "%s has %" PRIu64 " numbers for %" PRIu64 " pairs of features", what, n,
			    m->shape.rope.dims / 2);
		return NULL;
	}
	out = pctl_arena_array(m->arena, n, sizeof(*out));
	if (out == NULL)
		f->status = pctl_no_memory(f->call, "the factors of a model's rope");
	return out;
}

pctl_status pctl_model_shape_check(const pctl_model_shape *s, const char *name,
				   const pctl_call *call)
{
	model_faults f = {call, name, PCTL_OK};

	model_check_shape(s, &f);
	return f.status;
}

void model_fault(model_faults *f, uint32_t code, const char *hint, const char *format, ...)
{
	char text[600];
	pctl_status status;
	va_list args;

	va_start(args, format);
	pctl_num_vprint(text, sizeof(text), format, args);
	va_end(args);
	status = pctl_refuse_at(f->call, code, NULL, hint, "%s: %s", f->path, text);
	if (f->status == PCTL_OK)
		f->status = status;
}
