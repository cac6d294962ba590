/* The description of a model from the keys of its GGUF file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/file/private.h"

/* What lies behind the name of the architecture. Kinds: read below; or of one value alone, all others change what is computed. */
enum { READ, FALSE_ONLY };
static const struct {
	const char *name;
	uint32_t kind;
} known[] = {
	{"context_length", READ},
	{"embedding_length", READ},
	{"block_count", READ},
	{"feed_forward_length", READ},
	{"expert_feed_forward_length", READ},
	{"expert_count", READ},
	{"expert_used_count", READ},
	{"expert_weights_norm", READ},
	{"expert_shared_feed_forward_length", READ},
	{"expert_shared_count", READ},
	{"expert_weights_scale", READ},
	{"leading_dense_block_count", READ},
	{"vocab_size", READ},
	{"attention.head_count", READ},
	{"attention.head_count_kv", READ},
	{"attention.key_length", READ},
	{"attention.value_length", READ},
	{"attention.layer_norm_rms_epsilon", READ},
	{"attention.sliding_window", READ},
	{"attn_logit_softcapping", READ},
	{"final_logit_softcapping", READ},
	{"rope.dimension_count", READ},
	{"rope.freq_base", READ},
	{"rope.scale_linear", READ},
	{"rope.scaling.type", READ},
	{"rope.scaling.factor", READ},
	{"rope.scaling.original_context_length", READ},
	{"rope.scaling.attn_factor", READ},
	{"rope.scaling.yarn_attn_factor", READ},
	{"rope.scaling.yarn_ext_factor", READ},
	{"rope.scaling.yarn_beta_fast", READ},
	{"rope.scaling.yarn_beta_slow", READ},
	{"rope.scaling.finetuned", READ}, /* says how it was made */
	{"use_parallel_residual", FALSE_ONLY},
};

/* arch: as the file writes it. */
typedef struct reader {
	pctl_model *m;
	pctl_tensor_file *file;
	const char *arch;
	model_faults *f;
} reader;

static const pctl_gguf_key *find(const reader *r, const char *name, char full[160])
{
	snprintf(full, 160, "%s.%s", r->arch, name);
	return pctl_tensor_file_key(r->file, full);
}

/* An integer; where the key is not there `otherwise`, UINT64_MAX: it has to be. */
static uint64_t integer(const reader *r, const char *name, uint64_t otherwise)
{
	char full[160];
	const pctl_gguf_key *k = find(r, name, full);
	uint64_t v;

	if (k == NULL && otherwise != UINT64_MAX)
		return otherwise;
	if (k == NULL)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "%s is missing", full);
	else if (k->type == PCTL_GGUF_ARRAY)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s is a number for each layer; all layers are of one kind here", full);
	else if (!pctl_gguf_integer(k, &v))
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "%s is no number of something", full);
	else
		return v;
	return 0;
}

/* The same of a float; NAN: it has to be. */
static double number(const reader *r, const char *name, double otherwise)
{
	char full[160];
	const pctl_gguf_key *k = find(r, name, full);
	double v;

	if (k == NULL && otherwise == otherwise)
		return otherwise;
	if (k == NULL)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "%s is missing", full);
	else if (!pctl_gguf_float(k, &v) || v != v)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "%s is no number", full);
	else
		return v;
	return 0;
}

/* A string in the model's arena; NULL: not there, or no string. */
static const char *text_of(const reader *r, const char *full)
{
	const pctl_gguf_key *k = pctl_tensor_file_key(r->file, full);
	const char *out;
	pctl_status status;
	char *text;

	if (k == NULL || k->type != PCTL_GGUF_STRING || k->n > 256)
		return NULL;
	status = pctl_gguf_read(r->file, k, r->f->call, &text);
	if (status != PCTL_OK) {
		r->f->status = r->f->status == PCTL_OK ? status : r->f->status;
		return NULL;
	}
	out = strlen(text) == k->n ? pctl_arena_dup(r->m->arena, text) : NULL;
	free(text);
	return out;
}

static int family(reader *r)
{
	pctl_model_shape *s = &r->m->shape;

	r->arch = text_of(r, "general.architecture");
	if (r->arch == NULL) {
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "general.architecture is missing, or no name");
		return 0;
	}
	/* These two are written as llama. */
	if (!pctl_model_family_named(r->arch, &s->family) || s->family == PCTL_MODEL_MISTRAL ||
	    s->family == PCTL_MODEL_MIXTRAL) {
		model_fault(r->f, PC6281_MODEL_FAMILY, NULL,
			    "general.architecture \"%.100s\" is unknown", r->arch);
		return 0;
	}
	return 1;
}

/* Keys of the architecture that nothing is known of. */
static void unknown_keys(const reader *r)
{
	const size_t n = strlen(r->arch);
	const pctl_gguf_key *k;

	for (uint64_t i = 0; (k = pctl_tensor_file_key_at(r->file, i)) != NULL; i++) {
		size_t row = 0;
		int v;

		if (strncmp(k->name, r->arch, n) != 0 || k->name[n] != '.')
			continue;
		while (row < sizeof(known) / sizeof(known[0]) &&
		       strcmp(known[row].name, k->name + n + 1) != 0)
			row++;
		if (row == sizeof(known) / sizeof(known[0]))
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "nothing is known of the key %.200s", k->name);
		else if (known[row].kind == FALSE_ONLY && (!pctl_gguf_bool(k, &v) || v))
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL, "%s is not false",
				    k->name);
	}
}

/* A tensor of any part; NULL: there is none. */
static pctl_tensor_file *tensor(const reader *r, const char *name, uint64_t *i)
{
	pctl_tensor_file *f;

	for (uint32_t k = 0; (f = pctl_tensor_shards_file(r->m->shards, k)) != NULL; k++)
		if (pctl_tensor_file_find(f, name, NULL, i) == PCTL_OK)
			return f;
	return NULL;
}

static int holds(const reader *r, const char *name)
{
	uint64_t i;

	return tensor(r, name, &i) != NULL;
}

/* Llama 3's scaling is a tensor there, made of four numbers: the factor is its largest element, the others have been these in all that was
 * published. The tensor must be what they give, or nobody knows what it is. */
static void llama3(const reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	pctl_model_shape said = *s;
	const pctl_tensor_entry *e;
	uint64_t i, n;
	pctl_tensor_file *file = tensor(r, "rope_freqs.weight", &i);
	float *v = NULL;
	void *data;

	if (file == NULL)
		return;
	e = pctl_tensor_file_at(file, i);
	n = e->type.rank == 1 ? e->type.dim[0] : 0;
	if (n != s->rope.dims / 2 || n == 0 || e->type.dtype != PCTL_SCALAR_F32 ||
	    s->rope.scaling != PCTL_MODEL_SCALING_NONE) {
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "rope_freqs.weight is no f32[%" PRIu64 "], or rope is scaled twice",
			    s->rope.dims / 2);
		return;
	}
	if (pctl_tensor_file_read(file, i, r->f->call, &data) != PCTL_OK) {
		r->f->status = r->f->status == PCTL_OK ? PCTL_E_IO : r->f->status;
		return;
	}
	v = data;
	said.rope = (pctl_model_rope){.pairing = s->rope.pairing,
				      .scaling = PCTL_MODEL_SCALING_LLAMA3,
				      .base = s->rope.base,
				      .factor = (double)v[n - 1],
				      .low = 1,
				      .high = 4,
				      .n_original = 8192,
				      .dims = s->rope.dims};
	for (uint64_t k = 0; k < n; k++)
		if (!(fabs((double)v[k] / (double)pctl_model_rope_divisor(&said, k) - 1) < 1e-4)) {
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "rope_freqs.weight is not Llama 3's scaling: element %" PRIu64
				    " is %g",
				    k, (double)v[k]);
			break;
		}
	s->rope = said.rope;
	free(data);
}

static const float *factors(const reader *r, const char *name)
{
	const pctl_tensor_entry *e;
	pctl_tensor_file *file;
	float *out = NULL;
	uint64_t i = 0;
	void *data;

	file = tensor(r, name, &i);
	e = file == NULL ? NULL : pctl_tensor_file_at(file, i);
	if (e == NULL || e->type.rank != 1 || e->type.dtype != PCTL_SCALAR_F32)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "longrope wants %s as a row of f32", name);
	else
		out = model_factors(r->m, name, e->type.dim[0], r->f);
	if (out == NULL)
		return NULL;
	if (pctl_tensor_file_read(file, i, r->f->call, &data) != PCTL_OK) {
		r->f->status = r->f->status == PCTL_OK ? PCTL_E_IO : r->f->status;
		return NULL;
	}
	memcpy(out, data, e->type.dim[0] * sizeof(*out));
	free(data);
	return out;
}

/* Two tensors have the factors; that they are there says it where no key does. */
static void longrope(const reader *r)
{
	pctl_model_rope *p = &r->m->shape.rope;
	char full[160];

	p->scaling = PCTL_MODEL_SCALING_LONGROPE;
	p->factor = 1;
	p->far_factors = factors(r, "rope_factors_long.weight");
	p->near_factors = factors(r, "rope_factors_short.weight");
	p->n_original = integer(r, "rope.scaling.original_context_length", UINT64_MAX);
	p->magnitude = number(r, "rope.scaling.attn_factor", 1);
	if (find(r, "rope.scaling.factor", full) != NULL &&
	    number(r, "rope.scaling.factor", 1) * (double)p->n_original !=
		    (double)r->m->shape.n_context)
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "%s is another than the context's %" PRIu64 " by %" PRIu64, full,
			    r->m->shape.n_context, p->n_original);
}

/* llama.cpp computes the magnitude from the factor, and multiplies it with what the file says. */
static void yarn(const reader *r)
{
	pctl_model_rope *p = &r->m->shape.rope;
	const double ext = number(r, "rope.scaling.yarn_ext_factor", 1),
		     attn = number(r, "rope.scaling.yarn_attn_factor",
				   number(r, "rope.scaling.attn_factor", 1));

	p->scaling = PCTL_MODEL_SCALING_YARN;
	p->low = number(r, "rope.scaling.yarn_beta_slow", 1);
	p->high = number(r, "rope.scaling.yarn_beta_fast", 32);
	p->n_original = integer(r, "rope.scaling.original_context_length", r->m->shape.n_context);
	p->magnitude = (double)(float)attn * pctl_model_yarn_magnitude(p->factor);
	if (ext != 1 && ext != -1)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s.rope.scaling.yarn_ext_factor is %g; known is 1", r->arch, ext);
}

/* What only yarn computes with has no place elsewhere. */
static void no_yarn(const reader *r)
{
	static const char *const names[] = {
		"rope.scaling.attn_factor", "rope.scaling.yarn_attn_factor",
		"rope.scaling.yarn_ext_factor", "rope.scaling.yarn_beta_fast",
		"rope.scaling.yarn_beta_slow"};
	const size_t n = sizeof(names) / sizeof(names[0]);
	char full[160];

	/* The first is longrope's as well. */
	for (size_t i = r->m->shape.rope.scaling == PCTL_MODEL_SCALING_LONGROPE; i < n; i++)
		if (find(r, names[i], full) != NULL && number(r, names[i], 1) != 1)
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "%s without yarn's scaling", full);
}

static void rope(const reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	const double linear = number(r, "rope.scale_linear", 1);
	const int has_factors =
		holds(r, "rope_factors_long.weight") || holds(r, "rope_factors_short.weight");
	const char *scaling;
	char full[160];

	s->rope.base = number(r, "rope.freq_base", 10000);
	s->rope.dims = integer(r, "rope.dimension_count", s->head_dim);
	if (s->family == PCTL_MODEL_LLAMA || s->family == PCTL_MODEL_MIXTRAL ||
	    s->family == PCTL_MODEL_DEEPSEEK)
		s->rope.pairing = PCTL_MODEL_NEIGHBOURS;
	/* llama.cpp refuses it of llama; how rows of a part of a head would lie as neighbours nobody has said. */
	if (s->rope.dims != s->head_dim && s->rope.pairing == PCTL_MODEL_NEIGHBOURS)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s.rope.dimension_count is %" PRIu64 " of %" PRIu64
			    ": this family turns whole heads",
			    r->arch, s->rope.dims, s->head_dim);
	scaling = find(r, "rope.scaling.type", full) == NULL ? NULL : text_of(r, full);
	s->rope.factor = number(r, "rope.scaling.factor", linear);
	if (find(r, "rope.scaling.type", full) != NULL && scaling == NULL)
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "%s is no name", full);
	else if (scaling != NULL ? strcmp(scaling, "longrope") == 0 : has_factors)
		longrope(r);
	else if (has_factors)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s is \"%.100s\", but there are factors of longrope", full, scaling);
	else if (scaling != NULL ? strcmp(scaling, "linear") == 0 : s->rope.factor != 1)
		s->rope.scaling = PCTL_MODEL_SCALING_LINEAR;
	else if (scaling != NULL && strcmp(scaling, "yarn") == 0)
		yarn(r);
	else if (scaling != NULL && strcmp(scaling, "none") != 0)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s is \"%.100s\"; none, linear, yarn and longrope are known", full,
			    scaling);
	else
		s->rope.factor = 1;
	/* Elsewhere it says with what a context was stretched, and nothing computes with it. */
	(void)integer(r, "rope.scaling.original_context_length", 0);
	if (s->rope.scaling != PCTL_MODEL_SCALING_YARN)
		no_yarn(r);
	llama3(r);
}

/* What is told by the tensors that are there: llama.cpp writes no keys for it. */
static void by_tensors(const reader *r)
{
	pctl_model_shape *s = &r->m->shape;

	s->tied = !holds(r, "output.weight");
	if (s->family != PCTL_MODEL_QWEN2 && s->family != PCTL_MODEL_QWEN2MOE)
		s->qkv_bias = holds(r, "blk.0.attn_q.bias");
	s->o_bias = holds(r, "blk.0.attn_output.bias");
}

static uint64_t vocabulary(const reader *r)
{
	const pctl_gguf_key *k = pctl_tensor_file_key(r->file, "tokenizer.ggml.tokens");
	uint64_t i, rows = UINT64_MAX;
	pctl_tensor_file *file;

	if (k != NULL && k->type == PCTL_GGUF_ARRAY)
		rows = k->n;
	else if ((file = tensor(r, "token_embd.weight", &i)) != NULL &&
		 pctl_tensor_file_at(file, i)->type.rank == 2)
		rows = pctl_tensor_file_at(file, i)->type.dim[0];
	return integer(r, "vocab_size", rows);
}

/* Keys of families whose first layers have no experts, and whose shared ones are counted. */
static void deepseek(const reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	const uint64_t shared = integer(r, "expert_shared_count", 0);
	const uint64_t features = integer(r, "expert_shared_feed_forward_length", shared * s->n_ff);

	s->n_dense = integer(r, "leading_dense_block_count", 0);
	s->n_ff_dense = s->n_dense == 0 ? 0 : integer(r, "feed_forward_length", UINT64_MAX);
	s->n_ff_shared = features;
	if (shared > 4096 || features != shared * s->n_ff)
		model_fault(r->f, PC6282_MODEL_KEY, NULL,
			    "%s: %" PRIu64 " shared experts of %" PRIu64
			    " features are another number than %" PRIu64,
			    r->arch, shared, s->n_ff, features);
}

/* What one family has is nothing for the others. */
static void no_deepseek(const reader *r)
{
	static const char *const names[] = {"expert_shared_count", "leading_dense_block_count"};
	const double scale = number(r, "expert_weights_scale", 1);
	char full[160];

	if (scale != 1)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s.expert_weights_scale is %g; known is 1", r->arch, scale);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((r->m->shape.family != PCTL_MODEL_DEEPSEEK || r->m->shape.n_experts == 0) &&
		    find(r, names[i], full) != NULL && integer(r, names[i], 0) != 0)
			model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
				    "%s: this family, or a model without experts, has none here",
				    full);
}

static void experts(const reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	char full[160];
	const pctl_gguf_key *k;
	int v;

	s->n_experts = integer(r, "expert_count", 0);
	if (s->n_experts == 0)
		return;
	s->n_used = integer(r, "expert_used_count", UINT64_MAX);
	s->n_ff = integer(r, "expert_feed_forward_length", s->n_ff);
	if (s->family == PCTL_MODEL_LLAMA) {
		s->family = PCTL_MODEL_MIXTRAL;
		s->norm_used = 1;
	}
	k = find(r, "expert_weights_norm", full);
	if (k != NULL && !pctl_gguf_bool(k, &v))
		model_fault(r->f, PC6282_MODEL_KEY, NULL, "%s is neither true nor false", full);
	else if (k != NULL)
		s->norm_used = v;
	if (s->family == PCTL_MODEL_DEEPSEEK)
		deepseek(r);
	else if (s->family == PCTL_MODEL_QWEN2MOE)
		s->n_ff_shared = integer(r, "expert_shared_feed_forward_length", UINT64_MAX);
	else if (integer(r, "expert_shared_feed_forward_length", 0) != 0)
		model_fault(
			r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			"%s.expert_shared_feed_forward_length: this family has no shared expert",
			r->arch);
	if (s->family != PCTL_MODEL_MIXTRAL && s->family != PCTL_MODEL_QWEN3MOE &&
	    s->family != PCTL_MODEL_QWEN2MOE && s->family != PCTL_MODEL_DEEPSEEK)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s.expert_count: this family has no experts here", r->arch);
}

static void heads(const reader *r)
{
	pctl_model_shape *s = &r->m->shape;
	uint64_t values;

	s->n_heads = integer(r, "attention.head_count", UINT64_MAX);
	s->n_kv_heads = integer(r, "attention.head_count_kv", s->n_heads);
	s->head_dim = integer(r, "attention.key_length", s->n_heads ? s->n_embd / s->n_heads : 0);
	values = integer(r, "attention.value_length", s->head_dim);
	if (values != s->head_dim)
		model_fault(r->f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s.attention.value_length is %" PRIu64 ", the key's %" PRIu64, r->arch,
			    values, s->head_dim);
}

void model_read_gguf(pctl_model *m, model_faults *f)
{
	reader r = {m, pctl_tensor_shards_file(m->shards, 0), NULL, f};
	pctl_model_shape *s = &m->shape;

	if (!family(&r))
		return;
	model_family_defaults(s);
	unknown_keys(&r);
	s->n_layers = integer(&r, "block_count", UINT64_MAX);
	s->n_embd = integer(&r, "embedding_length", UINT64_MAX);
	s->n_context = integer(&r, "context_length", UINT64_MAX);
	s->n_ff = integer(&r, "feed_forward_length",
			  s->family == PCTL_MODEL_QWEN3MOE || s->family == PCTL_MODEL_QWEN2MOE ||
					  s->family == PCTL_MODEL_DEEPSEEK
				  ? 0
				  : UINT64_MAX);
	s->rms_eps = number(&r, "attention.layer_norm_rms_epsilon", (double)NAN);
	heads(&r);
	experts(&r);
	no_deepseek(&r);
	s->window = integer(&r, "attention.sliding_window",
			    s->family == PCTL_MODEL_GEMMA2 ? UINT64_MAX : 0);
	if (s->family == PCTL_MODEL_GEMMA2) {
		s->attn_softcap = number(&r, "attn_logit_softcapping", 50);
		s->final_softcap = number(&r, "final_logit_softcapping", 30);
		/* The file does not say it; of the three sizes that there are, the one of 46 layers has another. */
		if (s->n_layers == 46 && s->n_heads != 0)
			s->attn_scale = (double)(float)(1 / sqrt((double)(s->n_embd / s->n_heads)));
	} else if (number(&r, "attn_logit_softcapping", 0) != 0 ||
		   number(&r, "final_logit_softcapping", 0) != 0) {
		model_fault(f, PC6283_MODEL_UNSUPPORTED, NULL,
			    "%s: this family caps neither attention nor logits here", r.arch);
	}
	s->n_vocab = vocabulary(&r);
	rope(&r);
	by_tensors(&r);
	pctl_model_complete(s);
}
