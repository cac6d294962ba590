/* A request on its way: what the client sent, what it asks for, its sequences, what is to be sent back. The thread of HTTP makes it,
 * the intake reads it, the scheduler answers it (share.h says who has it when). */
#ifndef PIPECTL_MODEL_SERVE_REQUEST_H
#define PIPECTL_MODEL_SERVE_REQUEST_H

#include "foundation/base/arena.h"
#include "foundation/base/json.h"
#include "model/serve/serve.h"
#include "model/serve/text.h"

enum { SERVE_COMPLETIONS = 1, SERVE_CHAT = 2, SERVE_EMBEDDINGS = 4 };
#define SERVE_TEXT (SERVE_COMPLETIONS | SERVE_CHAT)
#define SERVE_ALL (SERVE_TEXT | SERVE_EMBEDDINGS)

#define SERVE_STOP_BYTES 256u
#define SERVE_USER_BYTES 64u

typedef struct serve_request serve_request;

/* What is refused: a code, words, and the parameter that it is about (empty: none). */
typedef struct serve_refusal {
	uint32_t code;
	char param[64], message[480];
} serve_refusal;

/* The HTTP status of a refusal, and OpenAI's document of it; NULL: no memory. */
uint32_t serve_refusal_http(uint32_t code);
char *serve_refusal_document(const serve_refusal *r);
/* Note a refusal unless there is one already; returns 0. */
int serve_refuse(serve_refusal *to, uint32_t code, const char *param, const char *fmt, ...)
	PCTL_PRINTF(4, 5);

/* One prompt: text (NULL: it was given as tokens) and its tokens. */
typedef struct serve_prompt {
	const char *text;
	uint32_t *tokens;
	uint32_t n_tokens, reserved;
} serve_prompt;

typedef struct serve_params {
	pctl_engine_sampling sampling;
	uint32_t max_tokens, has_max_tokens, n, echo, stream, include_usage, base64;
	uint32_t has_stream_options, has_top_logprobs, n_prompts, n_messages;
	uint32_t adapter, reserved; /* as rows have it (engine.h) */
	serve_stops stops;
	serve_prompt *prompts;
	pctl_engine_message *messages;
	const char *user;
} serve_params;

/* A token of an answer: where the character lies that it begins with or in the midst of, and the bytes of the text that it ends at, as it was
 * known then. */
typedef struct serve_given {
	uint32_t token, n_top;
	float logprob;
	uint32_t reserved;
	size_t begins, ends;
} serve_given;

/* Code points in the first n_bytes of a text. */
typedef struct serve_cursor {
	size_t n_bytes;
	uint64_t n_chars;
} serve_cursor;

enum { SERVE_WAITING = 0, SERVE_ACTIVE, SERVE_DONE };
enum { SERVE_UNFINISHED = 0, SERVE_STOP, SERVE_LENGTH };

/*
 * One answer to one prompt.
 *
 * tokens      prompt and what was generated; those below n_cached are in the engine's slot
 * admitted    number of its admission, the last one; served: number of the last step that it was in
 * given       a row for each generated token, told of up to n_told; tops: n_top of the sampling for each
 * sent        bytes of the text that a stream has been given, cursor: up to the last token that it was told of
 */
typedef struct serve_sequence {
	serve_request *request;
	uint32_t choice, state, slot, finish;
	uint64_t admitted, served;
	uint32_t *tokens;
	uint32_t n_tokens, room, n_prompt, n_cached, max_tokens, n_given, given_room, n_told;
	pctl_engine_sampling sampling;
	serve_text text;
	serve_given *given;
	pctl_engine_top *tops;
	float *embedding;
	size_t sent;
	serve_cursor cursor;
	uint32_t has_role, reserved;
} serve_sequence;

struct serve_request {
	/* From the beginning. */
	serve_request *next;
	uint64_t number, peer, arrived_ms, created_s;
	uint32_t call, reserved;
	char *body;
	size_t n_body;
	/* Of the intake, then of the scheduler. */
	pctl_arena *arena;
	serve_params params;
	serve_sequence *sequences;
	uint32_t n_sequences, n_left, n_waiting;
	uint64_t started_ms, stalled_ms, prompt_tokens, completion_tokens;
	/* Under the lock. */
	serve_request *next_woken;
	uint32_t refs, is_cancelled, is_woken, is_readable, is_done;
	serve_refusal refusal; /* of a request that is done */
	pctl_str_buf out;      /* of a stream, sent up to out_at */
	size_t out_at;
	/* Of the thread of HTTP. */
	void *exchange;
	serve_request *next_ready;
};

/* NULL: no memory. */
serve_request *serve_request_create(uint32_t call);
void serve_request_destroy(serve_request *r);

/* Read the body: parameters, tokens of prompts, sequences. 0: refused. Touches nothing of what is under the lock but r->refusal
 * through `refusal`. */
int serve_request_read(serve_request *r, const pctl_engine *engine, const pctl_serve_limits *limits,
		       serve_refusal *refusal);
/* The parameters alone, from a body: what the above begins with. `arena` keeps what they name. */
int serve_params_read(uint32_t call, const char *body, size_t n, const pctl_engine *engine,
		      const pctl_serve_limits *limits, pctl_arena *arena, serve_params *out,
		      serve_refusal *refusal);

/* ---- answers: answer.c, stream.c. NULL: no memory ---- */

/* Names of the answer: object, id, when, which model, and the fingerprint: what the answer is a function of, beside the request. */
void serve_answer_head(pctl_json *j, const serve_request *r, const pctl_engine *engine,
		       const char *object);
void serve_answer_usage(pctl_json *j, const serve_request *r);
/* The value of a choice's "logprobs": tokens from .. to; the cursor moves along. */
void serve_answer_logprobs(pctl_json *j, const serve_sequence *s, const pctl_engine *engine,
			   uint32_t from, uint32_t to, serve_cursor *cursor);
/* The tokens that begin within the first n bytes of the text, all of which are known. */
uint32_t serve_answer_tokens(const serve_sequence *s, size_t n);
/* The prompt of a choice as text, for echo. */
void serve_answer_prompt(const serve_sequence *s, const pctl_engine *engine, pctl_str_buf *out);
const char *serve_answer_finish(const serve_sequence *s);
/* The whole answer of a request that is done and not a stream. */
char *serve_answer(const serve_request *r, const pctl_engine *engine);
/* What a stream can be told of a sequence now, into r->out; and its end, once n_left is 0. */
void serve_stream_add(serve_sequence *s, const pctl_engine *engine);
void serve_stream_end(serve_request *r, const pctl_engine *engine);
void serve_stream_break(serve_request *r);

#endif
