/* Weights from a seed (SEMANTICS.md 19.3): each is a function of its place, so that several threads make them, some rows ahead. */
#include "model/synth/synth.h"
#include "model/synth/private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/philox.h"
#include "foundation/tensorfile/threads.h"

#define AHEAD 1048576u	     /* elements that are made at a time, about */
#define AHEAD_MOST 16777216u /* and at most */
#define STEP 16384u	     /* elements of a thread's turn, about */

/* rows: of `role`, `layer` and `expert` those from `first` on, n_rows of them, n elements each; n_rows 0: none yet. */
typedef struct synth {
	pctl_model_shape shape;
	uint32_t key[2];
	float *row, *rows;
	pctl_model_role role;
	uint32_t layer, expert;
	uint64_t first, n_rows, n;
} synth;

void synth_words(const uint32_t key[2], uint32_t stream, uint32_t layer, uint64_t first, uint64_t n,
		 float scale, float *out)
{
	uint32_t w[4], counter[4] = {0, 0, stream, layer};

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at = first + i;

		if (i == 0 || at % 4 == 0) {
			counter[0] = (uint32_t)(at / 4);
			counter[1] = (uint32_t)(at / 4 >> 32);
			pctl_philox(counter, key, w);
		}
		/* An odd number of 24 bits over 2^23: exact, never 0, its sign even. */
		out[i] = (float)(2 * (int32_t)(w[at % 4] >> 9) + 1 - (1 << 23)) * 0x1p-23f * scale;
	}
}

static void words(const synth *s, pctl_model_role role, uint32_t layer, uint32_t expert,
		  uint64_t first, uint64_t n, float scale, float *out)
{
	synth_words(s->key, pctl_model_role_number(role) | expert << 8, layer, first, n, scale,
		    out);
}

/* Weights of norms: 1 + k/2^16, so that 1 can be taken off and put on again without a rounding. */
static void near_one(float *v, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		v[i] = 1 + rintf(v[i] * 0x1p13f) * 0x1p-16f;
}

static uint64_t make_rows(void *ctx, uint64_t from, uint64_t n)
{
	const synth *s = ctx;

	for (uint64_t i = from; i < from + n; i++)
		words(s, s->role, s->layer, s->expert, (s->first + i) * s->n, s->n,
		      (float)sqrt(3 / (double)s->n), s->rows + i * s->n);
	return UINT64_MAX;
}

/* A row of a matrix, with those that will be asked for next: of whole heads, since files may have rows of a head in another order. */
static pctl_status row_ahead(synth *s, pctl_model_role role, uint32_t layer, uint32_t expert,
			     uint64_t number, const pctl_tensor_type *t, const pctl_call *call,
			     const float **out)
{
	const uint64_t n = t->dim[1],
		       heads = (AHEAD / n / s->shape.head_dim + 1) * s->shape.head_dim,
		       most = heads * n > AHEAD_MOST ? 1 : heads;

	if (s->n_rows == 0 || s->role != role || s->layer != layer || s->expert != expert ||
	    number < s->first || number - s->first >= s->n_rows) {
		float *grown = realloc(s->rows, (size_t)(most * n) * sizeof(*grown));

		if (grown == NULL)
			return pctl_no_memory(call, "rows");
		s->rows = grown;
		s->role = role;
		s->layer = layer;
		s->expert = expert;
		s->n = n;
		s->first = number / most * most;
		s->n_rows = t->dim[0] - s->first < most ? t->dim[0] - s->first : most;
		(void)pctl_threads_run(s->n_rows, STEP / n + 1, make_rows, s);
	}
	*out = s->rows + (number - s->first) * n;
	return PCTL_OK;
}

static pctl_status row(void *ctx, pctl_model_role role, uint32_t layer, uint32_t expert,
		       uint64_t number, const pctl_call *call, pctl_model_row *out)
{
	synth *s = ctx;
	pctl_tensor_type t;
	uint64_t n;

	pctl_model_expected(&s->shape, role, PCTL_MODEL_LAYOUT_SAFETENSORS, &t);
	n = t.dim[t.rank - 1];
	*out = (pctl_model_row){PCTL_SCALAR_F32, s->row};
	if (pctl_model_role_is_said(role)) {
		pctl_model_said(&s->shape, role, s->row);
		return PCTL_OK;
	}
	if (t.rank == 2) {
		const float *made = NULL;
		const pctl_status status =
			row_ahead(s, role, layer, expert, number, &t, call, &made);

		if (status == PCTL_OK)
			out->data = made;
		return status;
	}
	words(s, role, layer, expert, number * n, n, 1.0f, s->row);
	if (role == PCTL_ROLE_Q_BIAS || role == PCTL_ROLE_K_BIAS || role == PCTL_ROLE_V_BIAS ||
	    role == PCTL_ROLE_O_BIAS)
		for (uint64_t i = 0; i < n; i++)
			s->row[i] *= 0.125f;
	else
		near_one(s->row, n);
	return PCTL_OK;
}

static uint64_t longest_row(const pctl_model_shape *s)
{
	const uint64_t q = s->n_heads * s->head_dim,
		       wide = s->n_ff > s->n_ff_shared ? s->n_ff : s->n_ff_shared,
		       all = wide > s->n_ff_dense ? wide : s->n_ff_dense, ff = all > q ? all : q;

	return s->n_embd > ff ? s->n_embd : ff;
}

static pctl_status with_tokenizer(pctl_model_target *to, uint64_t n_vocab, const char *tokenizer,
				  const pctl_call *call, pctl_gguf_keys *keys,
				  pctl_model_text *text)
{
	const int gguf = pctl_model_layout_named(to->path) == PCTL_MODEL_LAYOUT_GGUF;
	pctl_status status = PCTL_OK;
	char *data = NULL;

	if (tokenizer == NULL && n_vocab < PCTL_SYNTH_TOKENS)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: a vocabulary of %" PRIu64
				   " has no room for the %u tokens of bytes",
				   to->path, n_vocab, PCTL_SYNTH_TOKENS);
	if (gguf) {
		if (tokenizer != NULL)
			status = pctl_model_tokenizer_keys(tokenizer, n_vocab, call, keys);
		else
			pctl_synth_token_keys(n_vocab, keys);
		to->keys = keys;
		return status == PCTL_OK && keys->bytes.failed ? pctl_no_memory(call, "keys")
							       : status;
	}
	if (tokenizer != NULL) {
		status = pctl_file_read(tokenizer, 1u << 28, call, &data, &text->n);
	} else {
		data = pctl_synth_tokenizer_json(n_vocab);
		text->n = data == NULL ? 0 : strlen(data);
		status = data == NULL ? pctl_no_memory(call, "a tokenizer") : PCTL_OK;
	}
	text->name = "tokenizer.json";
	text->data = data;
	to->texts = text;
	to->n_texts = 1;
	return status;
}

pctl_status pctl_synth_write(const pctl_model_shape *s, uint64_t seed, const char *path,
			     uint32_t dtype, uint64_t shard, const char *tokenizer,
			     pctl_progress_sink progress, const pctl_call *call)
{
	synth source = {.shape = *s, .key = {(uint32_t)seed, (uint32_t)(seed >> 32)}};
	const pctl_model_source from = {&source, row, NULL};
	pctl_model_target to = {.path = path, .dtype = dtype, .shard = shard};
	pctl_gguf_keys keys = {PCTL_STR_BUF_INIT, 0};
	pctl_model_text text = {NULL, NULL, 0};
	pctl_status status;

	pctl_model_complete(&source.shape);
	status = pctl_model_shape_check(&source.shape, path, call);
	if (status != PCTL_OK)
		return status;
	source.row = calloc(longest_row(s), sizeof(*source.row));
	status = source.row == NULL
			 ? pctl_no_memory(call, "a row")
			 : with_tokenizer(&to, s->n_vocab, tokenizer, call, &keys, &text);
	if (status == PCTL_OK)
		status = pctl_model_write(&source.shape, &from, &to, progress, call);
	free(source.row);
	free(source.rows);
	free((void *)(uintptr_t)text.data);
	pctl_str_drop(&keys.bytes);
	return status;
}
