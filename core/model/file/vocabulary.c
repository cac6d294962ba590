/* The tokenizer that a GGUF file carries, as plain arrays. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/file/private.h"

typedef struct reader {
	pctl_tensor_file *file;
	const char *path;
	const pctl_call *call;
	pctl_status status;
} reader;

static const pctl_gguf_key *find(const reader *r, const char *name)
{
	return r->status == PCTL_OK ? pctl_tensor_file_key(r->file, name) : NULL;
}

static void refuse(reader *r, const char *name, const char *what)
{
	r->status = pctl_refuse(r->call, PC6288_MODEL_TOKENIZER, "%s: %s %s", r->path, name, what);
}

static char *text(reader *r, const char *name)
{
	const pctl_gguf_key *k = find(r, name);
	char *out = NULL;

	if (k != NULL && k->type != PCTL_GGUF_STRING)
		refuse(r, name, "is no string");
	else if (k != NULL)
		r->status = pctl_gguf_read(r->file, k, r->call, &out);
	if (out != NULL && strlen(out) != k->n)
		refuse(r, name, "has a NUL within");
	return out;
}

static void strings(reader *r, const char *name, pctl_gguf_strings *out)
{
	const pctl_gguf_key *k = find(r, name);

	if (k != NULL && (k->type != PCTL_GGUF_ARRAY || k->of != PCTL_GGUF_STRING))
		refuse(r, name, "is no array of strings");
	else if (k != NULL)
		r->status = pctl_gguf_read_strings(r->file, k, r->call, out);
}

/* One word of four bytes a token; little-endian, as this machine has to be. */
static void *words(reader *r, const char *name, pctl_gguf_type of, uint64_t n)
{
	const pctl_gguf_key *k = find(r, name);
	char *out = NULL;

	if (k != NULL && (k->type != PCTL_GGUF_ARRAY || k->of != of || k->n != n))
		refuse(r, name, "is no array of one number a token");
	else if (k != NULL)
		r->status = pctl_gguf_read(r->file, k, r->call, &out);
	return out;
}

static int64_t token(reader *r, const char *name, uint64_t n)
{
	const pctl_gguf_key *k = find(r, name);
	uint64_t v;

	if (k == NULL)
		return -1;
	if (pctl_gguf_integer(k, &v) && v < n)
		return (int64_t)v;
	refuse(r, name, "is no number of a token");
	return -1;
}

static int truth(reader *r, const char *name)
{
	const pctl_gguf_key *k = find(r, name);
	int v;

	if (k == NULL)
		return -1;
	if (pctl_gguf_bool(k, &v))
		return v;
	refuse(r, name, "is neither true nor false");
	return -1;
}

pctl_status pctl_model_vocabulary_read(const pctl_model *m, const pctl_call *call,
				       pctl_model_vocabulary *out)
{
	reader r = {pctl_tensor_shards_file(m->shards, 0), m->path, call, PCTL_OK};
	uint64_t n;

	memset(out, 0, sizeof(*out));
	if (m->layout != PCTL_MODEL_LAYOUT_GGUF)
		return pctl_refuse(call, PC6288_MODEL_TOKENIZER,
				   "%s: a folder's tokenizer is its tokenizer.json", m->path);
	out->kind = text(&r, "tokenizer.ggml.model");
	out->pre = text(&r, "tokenizer.ggml.pre");
	out->chat_template = text(&r, "tokenizer.chat_template");
	strings(&r, "tokenizer.ggml.tokens", &out->tokens);
	strings(&r, "tokenizer.ggml.merges", &out->merges);
	n = out->tokens.n;
	if (r.status == PCTL_OK && n == 0)
		refuse(&r, "tokenizer.ggml.tokens", "is missing, or empty");
	else if (r.status == PCTL_OK && n > m->shape.n_vocab)
		refuse(&r, "tokenizer.ggml.tokens", "has more tokens than the model has rows");
	out->scores = words(&r, "tokenizer.ggml.scores", PCTL_GGUF_F32, n);
	out->types = words(&r, "tokenizer.ggml.token_type", PCTL_GGUF_I32, n);
	out->bos = token(&r, "tokenizer.ggml.bos_token_id", n);
	out->eos = token(&r, "tokenizer.ggml.eos_token_id", n);
	out->eot = token(&r, "tokenizer.ggml.eot_token_id", n);
	out->unk = token(&r, "tokenizer.ggml.unknown_token_id", n);
	out->pad = token(&r, "tokenizer.ggml.padding_token_id", n);
	out->add_bos = truth(&r, "tokenizer.ggml.add_bos_token");
	out->add_eos = truth(&r, "tokenizer.ggml.add_eos_token");
	out->add_space_prefix = truth(&r, "tokenizer.ggml.add_space_prefix");
	return r.status;
}

void pctl_model_vocabulary_clear(pctl_model_vocabulary *v)
{
	free(v->kind);
	free(v->pre);
	free(v->chat_template);
	free(v->scores);
	free(v->types);
	pctl_gguf_strings_clear(&v->tokens);
	pctl_gguf_strings_clear(&v->merges);
	memset(v, 0, sizeof(*v));
}

pctl_status pctl_model_tokenizer_keys(const char *path, uint64_t n_vocab, const pctl_call *call,
				      pctl_gguf_keys *out)
{
	const pctl_gguf_key *k;
	pctl_tensor_file *f;
	pctl_status status = pctl_tensor_file_open(path, call, &f);

	if (status != PCTL_OK)
		return status;
	k = pctl_tensor_file_key(f, "tokenizer.ggml.tokens");
	if (k == NULL || k->n > n_vocab)
		status = pctl_refuse(call, PC6290_MODEL_PLAN,
				     "%s: no GGUF file with a tokenizer of %" PRIu64
				     " tokens or fewer",
				     path, n_vocab);
	for (uint64_t i = 0; status == PCTL_OK && (k = pctl_tensor_file_key_at(f, i)) != NULL; i++)
		if (strncmp(k->name, "tokenizer.", 10) == 0)
			status = pctl_gguf_put_key(out, f, k, call);
	pctl_tensor_file_close(f);
	if (status == PCTL_OK && out->bytes.failed)
		status = pctl_no_memory(call, "keys");
	return status;
}
