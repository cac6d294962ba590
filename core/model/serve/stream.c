/* Answers as server-sent events: chunks as OpenAI has them. They are written while the scheduler works, into a buffer that the
 * reader empties. */
#include <stdlib.h>

#include "model/serve/request.h"

static void event_begin(pctl_json *j)
{
	pctl_json_init(j, 0);
}

static void event_end(serve_request *r, pctl_json *j)
{
	char *text = pctl_json_finish(j); /* with a line's end */

	if (text == NULL) {
		r->out.failed = 1;
		return;
	}
	pctl_str_add(&r->out, "data: ");
	pctl_str_add(&r->out, text);
	pctl_str_add(&r->out, "\n");
	free(text);
}

static void chunk_begin(pctl_json *j, serve_request *r, const pctl_engine *e)
{
	event_begin(j);
	pctl_json_object_begin(j);
	serve_answer_head(j, r, e,
			  r->call == SERVE_CHAT ? "chat.completion.chunk" : "text_completion");
	pctl_json_key(j, "choices");
	pctl_json_array_begin(j);
}

/* Where the usage is asked for, each chunk says that it is not the one that has it. */
static void chunk_end(pctl_json *j, serve_request *r, int has_usage)
{
	pctl_json_array_end(j);
	if (r->params.include_usage) {
		pctl_json_key(j, "usage");
		if (has_usage)
			serve_answer_usage(j, r);
		else
			pctl_json_null(j);
	}
	pctl_json_object_end(j);
	event_end(r, j);
}

/* One choice with the text from `sent` to `to` and its tokens to n_tokens; role: the first of a chat. */
static void add_chunk(serve_sequence *s, const pctl_engine *e, size_t to, uint32_t n_tokens,
		      const char *finish)
{
	serve_request *r = s->request;
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_json j;

	if (r->params.echo && !s->has_role)
		serve_answer_prompt(s, e, &text);
	pctl_str_add_n(&text, s->text.all.data == NULL ? "" : s->text.all.data + s->sent,
		       to - s->sent);
	chunk_begin(&j, r, e);
	pctl_json_object_begin(&j);
	pctl_json_kv_u32(&j, "index", s->choice);
	if (r->call == SERVE_CHAT) {
		pctl_json_key(&j, "delta");
		pctl_json_object_begin(&j);
		if (!s->has_role)
			pctl_json_kv_string(&j, "role", "assistant");
		if (finish == NULL || to > s->sent) {
			pctl_json_key(&j, "content");
			pctl_json_text(&j, text.data == NULL ? "" : text.data, text.n);
		}
		pctl_json_object_end(&j);
	} else {
		pctl_json_key(&j, "text");
		pctl_json_text(&j, text.data == NULL ? "" : text.data, text.n);
	}
	serve_answer_logprobs(&j, s, e, s->n_told, n_tokens, &s->cursor);
	pctl_json_kv_string(&j, "finish_reason", finish);
	pctl_json_object_end(&j);
	j.out.failed |= text.failed;
	pctl_str_drop(&text);
	chunk_end(&j, r, 0);
	s->has_role = 1;
	s->sent = to;
	s->n_told = n_tokens;
}

void serve_stream_add(serve_sequence *s, const pctl_engine *engine)
{
	const serve_params *p = &s->request->params;
	const char *finish = serve_answer_finish(s);
	const size_t to = finish != NULL ? s->text.all.n : serve_text_settled(&s->text, &p->stops);
	uint32_t n = s->n_told;

	/* Tokens are told of with the last of their text. */
	if (finish != NULL)
		n = serve_answer_tokens(s, to);
	while (finish == NULL && n < s->n_given && s->given[n].ends <= to)
		n++;
	if (!s->has_role && s->request->call == SERVE_CHAT)
		add_chunk(s, engine, s->sent, s->n_told, NULL);
	if (to > s->sent || (p->sampling.logprobs && n > s->n_told) || (!s->has_role && p->echo))
		add_chunk(s, engine, to, n, s->request->call == SERVE_CHAT ? NULL : finish);
	else if (finish != NULL && s->request->call != SERVE_CHAT)
		add_chunk(s, engine, to, n, finish);
	if (finish != NULL && s->request->call == SERVE_CHAT)
		add_chunk(s, engine, to, n, finish);
}

void serve_stream_end(serve_request *r, const pctl_engine *engine)
{
	pctl_json j;

	if (r->params.include_usage) {
		chunk_begin(&j, r, engine);
		chunk_end(&j, r, 1);
	}
	pctl_str_add(&r->out, "data: [DONE]\n\n");
}

void serve_stream_break(serve_request *r)
{
	char *text = serve_refusal_document(&r->refusal);

	pctl_str_add(&r->out, "data: ");
	pctl_str_add(&r->out, text == NULL ? "" : text);
	pctl_str_add(&r->out, "\n");
	free(text);
}
