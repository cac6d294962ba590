/* See engine.h; tests/integration/serve/fake.py says the same once more, from these words: h begins as FNV-1a's offset and becomes
 * h * prime + token + 1 for each token; s is FNV-1a over the penalties and, at a temperature, over all the rest that is drawn by; the
 * draw is splitmix64's finaliser of h ^ s. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/hash.h"

#define SLICE_US 100000u
#define FIRST_WORD 256u
static const char *const words[] = {
	" the",	  " model", " stop", "END", "\n\n", "\xc3\xa9",		"\xe6\x97\xa5\xe6\x9c\xac",
	" a",	  ".",	    ",",     " of", " and", "\xf0\x9f\x98\x80", "x\xe2\x82",
	"\xac y", " 42"};
#define N_WORDS (sizeof(words) / sizeof(words[0]))
#define TURN (FIRST_WORD + N_WORDS) /* begins a message */
#define END (TURN + 1)
#define N_VOCAB (END + 1)

typedef struct fake_slot {
	uint64_t h;
	uint32_t n;
} fake_slot;

typedef struct fake {
	pctl_engine e;
	fake_engine_options o;
	fake_slot *slots;
	uint64_t n_steps;
	char bytes[256];
} fake;

static uint64_t salt_of(const pctl_engine_sampling *s)
{
	const float penalties[3] = {s->repetition_penalty, s->presence_penalty,
				    s->frequency_penalty};
	const float cuts[3] = {s->temperature, s->top_p, s->min_p};
	uint64_t h = pctl_fnv64(PCTL_FNV64, penalties, sizeof(penalties));

	if (s->temperature == 0)
		return h;
	h = pctl_fnv64(h, cuts, sizeof(cuts));
	h = pctl_fnv64(h, &s->top_k, sizeof(s->top_k));
	h = pctl_fnv64(h, &s->stream, sizeof(s->stream));
	return pctl_fnv64(h, &s->seed, sizeof(s->seed));
}

static uint32_t draw(uint64_t z, uint32_t endless)
{
	const uint32_t part = (uint32_t)(z % 100), of = (uint32_t)(z >> 8 & 0xffffff);

	return part < 2	   ? (endless ? 'a' : END)
	       : part < 70 ? FIRST_WORD + of % (uint32_t)N_WORDS
	       : part < 95 ? 'a' + of % 26
			   : 0x80 + of % 128;
}

static void give(fake *f, pctl_engine_row *row, uint32_t n_rows)
{
	const fake_slot *slot = &f->slots[row->slot];
	uint64_t z = pctl_mix64(slot->h ^ salt_of(row->sampling));

	z += f->o.lie == FAKE_NEIGHBOURS ? n_rows : f->o.lie == FAKE_SLOT ? row->slot : 0;
	z += f->o.lie == FAKE_CHUNK ? row->count : 0;
	row->token = draw(z, f->o.endless);
	row->logprob = -(float)(z >> 60) / 8;
	row->n_top = row->sampling->logprobs ? row->sampling->n_top : 0;
	for (uint32_t i = 0; i < row->n_top; i++)
		row->top[i] =
			(pctl_engine_top){(row->token + i) % N_VOCAB, row->logprob - (float)i};
	for (uint32_t i = 0; i < row->n_prompt; i++)
		row->token = row->tokens[i] == 0x06 ? N_VOCAB : row->token;
}

static void run_row(fake *f, pctl_engine_row *row, uint32_t n_rows)
{
	fake_slot *slot = &f->slots[row->slot];
	uint64_t used = 0;

	row->status = PCTL_OK;
	if (slot->n != row->start || row->count == 0 || row->count > f->o.max_chunk ||
	    row->start + row->count > f->o.context ||
	    (row->want != PCTL_ENGINE_NOTHING) != (row->start + row->count == row->n_tokens))
		abort(); /* the server broke the contract */
	for (uint32_t i = 0; i < f->o.n_slots; i++)
		used += f->slots[i].n;
	if (f->o.pool != 0 && used + row->count > f->o.pool) {
		row->status = PCTL_E_LIMIT;
		return;
	}
	for (uint32_t i = row->start; i < row->start + row->count; i++) {
		slot->h = slot->h * PCTL_FNV64_PRIME + row->tokens[i] + 1;
		if (row->tokens[i] == 0x07)
			row->status = PCTL_E_FAILED;
	}
	slot->n += row->count;
	if (row->want == PCTL_ENGINE_TOKEN)
		give(f, row, n_rows);
	for (uint32_t i = 0; row->want == PCTL_ENGINE_EMBEDDING && i < f->o.n_embd; i++)
		row->embedding[i] = (float)(pctl_mix64(slot->h + i) >> 48) / 65536.0f - 0.5f;
}

static pctl_status step(void *self, pctl_engine_row *rows, uint32_t n_rows, const pctl_call *call)
{
	fake *f = self;
	uint64_t us = f->o.step_us;

	f->n_steps++;
	if (f->o.fail_every != 0 && f->n_steps % f->o.fail_every == 0)
		return pctl_refuse(call, PC3103_WORKER_DIED, "the fake engine fails on order");
	for (uint32_t i = 0; i < n_rows; i++) {
		run_row(f, &rows[i], n_rows);
		us += (uint64_t)f->o.token_us * rows[i].count;
	}
	for (; us != 0; us -= us < SLICE_US ? us : SLICE_US) {
		usleep((useconds_t)(us < SLICE_US ? us : SLICE_US));
		if (pctl_is_cancelled(call))
			return PCTL_E_CANCELLED;
	}
	return PCTL_OK;
}

static void release(void *self, uint32_t slot)
{
	((fake *)self)->slots[slot] = (fake_slot){.h = PCTL_FNV64};
}

static pctl_status tokens_of(uint32_t **out, uint32_t *n, uint32_t more, const pctl_call *call)
{
	uint32_t *grown = realloc(*out, ((size_t)*n + more + 1) * sizeof(**out));

	if (grown == NULL)
		return pctl_no_memory(call, "tokens");
	*out = grown;
	return PCTL_OK;
}

static pctl_status encode(void *self, const char *text, const pctl_call *call, uint32_t **out,
			  uint32_t *n_out)
{
	const size_t n = strlen(text);
	pctl_status status;

	(void)self;
	*out = NULL;
	*n_out = 0;
	status = tokens_of(out, n_out, (uint32_t)n, call);
	for (size_t i = 0; status == PCTL_OK && i < n; i++)
		(*out)[(*n_out)++] = (unsigned char)text[i];
	return status;
}

static pctl_status add_text(const char *text, const pctl_call *call, uint32_t **out, uint32_t *n)
{
	const size_t more = strlen(text);
	pctl_status status = tokens_of(out, n, (uint32_t)more, call);

	for (size_t i = 0; status == PCTL_OK && i < more; i++)
		(*out)[(*n)++] = (unsigned char)text[i];
	return status;
}

static pctl_status chat(void *self, const pctl_engine_message *messages, uint32_t n_messages,
			const pctl_call *call, uint32_t **out, uint32_t *n_out)
{
	pctl_status status = PCTL_OK;

	(void)self;
	*out = NULL;
	*n_out = 0;
	for (uint32_t i = 0; status == PCTL_OK && i <= n_messages; i++) {
		status = tokens_of(out, n_out, 1, call);
		if (status == PCTL_OK)
			(*out)[(*n_out)++] = TURN;
		if (status == PCTL_OK && i < n_messages && strcmp(messages[i].role, "user") != 0 &&
		    strcmp(messages[i].role, "assistant") != 0)
			return pctl_refuse(call, PC4102_EDGE_TYPE,
					   "the template has no role \"%s\"", messages[i].role);
		if (status == PCTL_OK && i < n_messages)
			status = add_text(messages[i].role, call, out, n_out);
		if (status == PCTL_OK && i < n_messages)
			status = add_text(messages[i].content, call, out, n_out);
	}
	return status;
}

static void piece(void *self, uint32_t before, uint32_t token, const char **out, uint32_t *n_out)
{
	fake *f = self;

	(void)before;
	*out = token < FIRST_WORD ? &f->bytes[token]
	       : token < TURN	  ? words[token - FIRST_WORD]
				  : "";
	*n_out = token < FIRST_WORD ? 1 : (uint32_t)strlen(*out);
}

static uint32_t is_end(void *self, uint32_t token)
{
	(void)self;
	return token == END;
}

pctl_engine *fake_engine_create(const fake_engine_options *o)
{
	fake *f = calloc(1, sizeof(*f));

	if (f == NULL)
		return NULL;
	f->o = *o;
	f->slots = calloc(o->n_slots, sizeof(*f->slots));
	if (f->slots == NULL) {
		free(f);
		return NULL;
	}
	for (uint32_t i = 0; i < o->n_slots; i++)
		release(f, i);
	for (uint32_t i = 0; i < 256; i++)
		f->bytes[i] = (char)i;
	f->e = (pctl_engine){.self = f,
			     .model_name = "fake",
			     .model_cid = "bafkreifake",
			     .semantics = "1",
			     .n_slots = o->n_slots,
			     .max_chunk = o->max_chunk,
			     .context = o->context,
			     .n_vocab = N_VOCAB,
			     .n_embd = o->n_embd,
			     .step = step,
			     .release = release,
			     .encode = encode,
			     .chat = o->has_chat ? chat : NULL,
			     .piece = piece,
			     .is_end = is_end};
	return &f->e;
}

void fake_engine_destroy(pctl_engine *e)
{
	fake *f = e == NULL ? NULL : e->self;

	if (f != NULL)
		free(f->slots);
	free(f);
}
