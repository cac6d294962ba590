/* Whole answers as JSON, and what they share with streams. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/serve/request.h"

/* ---- the head ----------------------------------------------------------------------------- */

void serve_answer_head(pctl_json *j, const serve_request *r, const pctl_engine *engine,
		       const char *object)
{
	const pctl_engine_adapter *adapter =
		r->params.adapter == 0 ? NULL : &engine->adapters[r->params.adapter - 1];
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	pctl_str_addf(&text, "%s-%" PRIx64 "-%" PRIu64, r->call == SERVE_CHAT ? "chatcmpl" : "cmpl",
		      r->created_s, r->number);
	pctl_json_kv_string(j, "id", text.data);
	pctl_str_drop(&text);
	pctl_json_kv_string(j, "object", object);
	pctl_json_key(j, "created");
	pctl_json_number(j, r->created_s);
	pctl_json_kv_string(j, "model", adapter == NULL ? engine->model_name : adapter->name);
	pctl_str_addf(&text, "%s/%s", adapter == NULL ? engine->model_cid : adapter->cid,
		      engine->semantics);
	pctl_json_kv_string(j, "system_fingerprint", text.data);
	j->out.failed |= text.failed;
	pctl_str_drop(&text);
}

void serve_answer_usage(pctl_json *j, const serve_request *r)
{
	pctl_json_object_begin(j);
	pctl_json_key(j, "prompt_tokens");
	pctl_json_number(j, r->prompt_tokens);
	if (r->call != SERVE_EMBEDDINGS) {
		pctl_json_key(j, "completion_tokens");
		pctl_json_number(j, r->completion_tokens);
	}
	pctl_json_key(j, "total_tokens");
	pctl_json_number(j, r->prompt_tokens + r->completion_tokens);
	pctl_json_object_end(j);
}

const char *serve_answer_finish(const serve_sequence *s)
{
	return s->finish == SERVE_STOP ? "stop" : s->finish == SERVE_LENGTH ? "length" : NULL;
}

/* ---- logprobs ----------------------------------------------------------------------------- */

uint32_t serve_answer_tokens(const serve_sequence *s, size_t n)
{
	uint32_t i = s->n_told;

	while (i < s->n_given &&
	       (s->given[i].begins < n || (s->given[i].begins == n && s->given[i].ends == n)))
		i++;
	return i;
}

static uint32_t before(const serve_sequence *s, uint32_t i)
{
	return s->tokens[s->n_prompt + i - 1];
}

static const pctl_engine_top *alternatives(const serve_sequence *s, uint32_t i)
{
	return s->tops == NULL ? NULL : s->tops + (size_t)i * s->sampling.n_top;
}

static void add_token(pctl_json *j, const pctl_engine *e, uint32_t prior, uint32_t token)
{
	const char *bytes = "";
	uint32_t n = 0;

	e->piece(e->self, prior, token, &bytes, &n);
	pctl_json_text(j, bytes, n);
}

static void add_chat_token(pctl_json *j, const pctl_engine *e, uint32_t prior, uint32_t token,
			   float logprob)
{
	const char *bytes = "";
	uint32_t n = 0;

	e->piece(e->self, prior, token, &bytes, &n);
	pctl_json_key(j, "token");
	pctl_json_text(j, bytes, n);
	pctl_json_key(j, "logprob");
	pctl_json_double(j, (double)logprob);
	pctl_json_key(j, "bytes");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < n; i++)
		pctl_json_u32(j, (unsigned char)bytes[i]);
	pctl_json_array_end(j);
}

static void add_chat_logprobs(pctl_json *j, const serve_sequence *s, const pctl_engine *e,
			      uint32_t from, uint32_t to)
{
	pctl_json_object_begin(j);
	pctl_json_key(j, "content");
	pctl_json_array_begin(j);
	for (uint32_t i = from; i < to; i++) {
		const pctl_engine_top *top = alternatives(s, i);

		pctl_json_object_begin(j);
		add_chat_token(j, e, before(s, i), s->given[i].token, s->given[i].logprob);
		pctl_json_key(j, "top_logprobs");
		pctl_json_array_begin(j);
		for (uint32_t k = 0; k < s->given[i].n_top; k++) {
			pctl_json_object_begin(j);
			add_chat_token(j, e, before(s, i), top[k].token, top[k].logprob);
			pctl_json_object_end(j);
		}
		pctl_json_array_end(j);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

/* Two tokens may have the same text, and then the object has a name twice: a list of pairs would be none of OpenAI's. The more
 * probable one is told. */
static int is_told(const pctl_engine *e, uint32_t prior, const pctl_engine_top *top, uint32_t k)
{
	const char *mine = "", *other = "";
	uint32_t n = 0, n_other = 0;

	e->piece(e->self, prior, top[k].token, &mine, &n);
	for (uint32_t i = 0; i < k; i++) {
		e->piece(e->self, prior, top[i].token, &other, &n_other);
		if (n == n_other && memcmp(mine, other, n) == 0)
			return 1;
	}
	return 0;
}

static void add_top(pctl_json *j, const serve_sequence *s, const pctl_engine *e, uint32_t i)
{
	const pctl_engine_top *top = alternatives(s, i);

	pctl_json_object_begin(j);
	for (uint32_t k = 0; k < s->given[i].n_top; k++) {
		const char *bytes = "";
		uint32_t n = 0;

		if (is_told(e, before(s, i), top, k))
			continue;
		e->piece(e->self, before(s, i), top[k].token, &bytes, &n);
		pctl_json_key_text(j, bytes, n);
		pctl_json_double(j, (double)top[k].logprob);
	}
	pctl_json_object_end(j);
}

static void advance(serve_cursor *c, const serve_sequence *s, size_t to)
{
	for (; c->n_bytes < to && c->n_bytes < s->text.all.n; c->n_bytes++)
		c->n_chars += ((unsigned char)s->text.all.data[c->n_bytes] & 0xc0u) != 0x80u;
}

static void add_text_logprobs(pctl_json *j, const serve_sequence *s, const pctl_engine *e,
			      uint32_t from, uint32_t to, serve_cursor *cursor)
{
	pctl_json_object_begin(j);
	pctl_json_key(j, "tokens");
	pctl_json_array_begin(j);
	for (uint32_t i = from; i < to; i++)
		add_token(j, e, before(s, i), s->given[i].token);
	pctl_json_array_end(j);
	pctl_json_key(j, "token_logprobs");
	pctl_json_array_begin(j);
	for (uint32_t i = from; i < to; i++)
		pctl_json_double(j, (double)s->given[i].logprob);
	pctl_json_array_end(j);
	pctl_json_key(j, "top_logprobs");
	pctl_json_array_begin(j);
	for (uint32_t i = from; i < to; i++)
		add_top(j, s, e, i);
	pctl_json_array_end(j);
	pctl_json_key(j, "text_offset");
	pctl_json_array_begin(j);
	for (uint32_t i = from; i < to; i++) {
		advance(cursor, s, s->given[i].begins);
		pctl_json_number(j, cursor->n_chars);
	}
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

void serve_answer_logprobs(pctl_json *j, const serve_sequence *s, const pctl_engine *engine,
			   uint32_t from, uint32_t to, serve_cursor *cursor)
{
	pctl_json_key(j, "logprobs");
	if (!s->sampling.logprobs)
		pctl_json_null(j);
	else if (s->request->call == SERVE_CHAT)
		add_chat_logprobs(j, s, engine, from, to);
	else
		add_text_logprobs(j, s, engine, from, to, cursor);
}

/* ---- whole answers ------------------------------------------------------------------------ */

void serve_answer_prompt(const serve_sequence *s, const pctl_engine *engine, pctl_str_buf *out)
{
	const serve_prompt *p = &s->request->params.prompts[s->choice / s->request->params.n];
	const char *bytes = "";
	uint32_t n = 0;

	pctl_str_add(out, p->text == NULL ? "" : p->text);
	for (uint32_t i = 0; p->text == NULL && i < p->n_tokens; i++) {
		engine->piece(engine->self, i == 0 ? PCTL_ENGINE_NO_TOKEN : p->tokens[i - 1],
			      p->tokens[i], &bytes, &n);
		pctl_str_add_n(out, bytes, n);
	}
}

static void add_choice(pctl_json *j, const serve_sequence *s, const pctl_engine *e)
{
	serve_cursor cursor = {.n_bytes = 0};
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	pctl_json_object_begin(j);
	pctl_json_kv_u32(j, "index", s->choice);
	if (s->request->call == SERVE_CHAT) {
		pctl_json_key(j, "message");
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "role", "assistant");
		pctl_json_key(j, "content");
	} else {
		pctl_json_key(j, "text");
	}
	if (s->request->params.echo)
		serve_answer_prompt(s, e, &text);
	pctl_str_add_n(&text, s->text.all.data == NULL ? "" : s->text.all.data, s->text.all.n);
	pctl_json_text(j, text.data == NULL ? "" : text.data, text.n);
	j->out.failed |= text.failed;
	pctl_str_drop(&text);
	if (s->request->call == SERVE_CHAT)
		pctl_json_object_end(j);
	serve_answer_logprobs(j, s, e, 0, serve_answer_tokens(s, s->text.all.n), &cursor);
	pctl_json_kv_string(j, "finish_reason", serve_answer_finish(s));
	pctl_json_object_end(j);
}

static void add_base64(pctl_json *j, const float *v, uint32_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	uint8_t three[3];
	uint32_t n_three = 0;

	for (size_t i = 0; i < (size_t)n * 4; i++) {
		uint32_t bits;

		memcpy(&bits, &v[i / 4], 4);
		three[n_three++] = (uint8_t)(bits >> i % 4 * 8); /* little-endian */
		if (n_three == 3 || i + 1 == (size_t)n * 4) {
			const uint32_t b = (uint32_t)three[0] << 16 |
					   (n_three > 1 ? (uint32_t)three[1] << 8 : 0) |
					   (n_three > 2 ? three[2] : 0u);
			const char four[4] = {digits[b >> 18], digits[b >> 12 & 63u],
					      n_three > 1 ? digits[b >> 6 & 63u] : '=',
					      n_three > 2 ? digits[b & 63u] : '='};

			pctl_str_add_n(&text, four, 4);
			n_three = 0;
		}
	}
	pctl_json_text(j, text.data == NULL ? "" : text.data, text.n);
	j->out.failed |= text.failed;
	pctl_str_drop(&text);
}

static char *embeddings(const serve_request *r, const pctl_engine *e)
{
	pctl_json j;

	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	serve_answer_head(&j, r, e, "list");
	pctl_json_key(&j, "data");
	pctl_json_array_begin(&j);
	for (uint32_t i = 0; i < r->n_sequences; i++) {
		pctl_json_object_begin(&j);
		pctl_json_kv_string(&j, "object", "embedding");
		pctl_json_kv_u32(&j, "index", i);
		pctl_json_key(&j, "embedding");
		if (r->params.base64) {
			add_base64(&j, r->sequences[i].embedding, e->n_embd);
		} else {
			pctl_json_array_begin(&j);
			for (uint32_t k = 0; k < e->n_embd; k++)
				pctl_json_double(&j, (double)r->sequences[i].embedding[k]);
			pctl_json_array_end(&j);
		}
		pctl_json_object_end(&j);
	}
	pctl_json_array_end(&j);
	pctl_json_key(&j, "usage");
	serve_answer_usage(&j, r);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

char *serve_answer(const serve_request *r, const pctl_engine *engine)
{
	pctl_json j;

	if (r->call == SERVE_EMBEDDINGS)
		return embeddings(r, engine);
	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	serve_answer_head(&j, r, engine,
			  r->call == SERVE_CHAT ? "chat.completion" : "text_completion");
	pctl_json_key(&j, "choices");
	pctl_json_array_begin(&j);
	for (uint32_t i = 0; i < r->n_sequences; i++)
		add_choice(&j, &r->sequences[i], engine);
	pctl_json_array_end(&j);
	pctl_json_key(&j, "usage");
	serve_answer_usage(&j, r);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}
