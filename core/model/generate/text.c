/* What an engine does with text: the calls of serve/engine.h over the model's words. */
#include <stdlib.h>
#include <string.h>

#include "model/generate/private.h"

static pctl_status encode(void *self, const char *text, const pctl_call *call, uint32_t **out,
			  uint32_t *n_out)
{
	const pctl_model_engine *e = self;
	pctl_token_ids ids;
	const pctl_status status = pctl_model_words_encode(
		&e->words, text, strlen(text), PCTL_ENCODE_BEGIN | PCTL_ENCODE_ADDED, call, &ids);

	*out = ids.items;
	*n_out = ids.n;
	return status;
}

static pctl_status chat(void *self, const pctl_engine_message *messages, uint32_t n,
			const pctl_call *call, uint32_t **out, uint32_t *n_out)
{
	const pctl_model_engine *e = self;
	pctl_message *all = calloc(n + 1ull, sizeof(*all));
	pctl_token_ids ids;
	pctl_status status;

	*out = NULL;
	if (all == NULL)
		return pctl_no_memory(call, "messages");
	for (uint32_t i = 0; i < n; i++)
		all[i] = (pctl_message){messages[i].role,
					{messages[i].content, strlen(messages[i].content)}};
	status = pctl_model_words_chat(&e->words, all, n, PCTL_TEMPLATE_PROMPT, call, &ids);
	free(all);
	*out = ids.items;
	*n_out = ids.n;
	return status;
}

static void piece(void *self, uint32_t before, uint32_t token, const char **out, uint32_t *n_out)
{
	const pctl_model_engine *e = self;
	pctl_token_text bytes = {"", 0};
	const pctl_token_kind kind = pctl_tokenizer_token(e->words.tokenizer, token, &bytes);

	(void)before;
	if (kind == PCTL_TOKEN_HOLE || kind == PCTL_TOKEN_SPECIAL || kind == PCTL_TOKEN_UNUSED)
		bytes = (pctl_token_text){"", 0};
	*out = bytes.text;
	*n_out = (uint32_t)bytes.n;
}

static uint32_t is_end(void *self, uint32_t token)
{
	const pctl_model_engine *e = self;

	return (uint32_t)pctl_tokenizer_ends(e->words.tokenizer, token);
}

pctl_status engine_open_text(pctl_model_engine *e, const pctl_model_engine_options *o,
			     const pctl_call *call)
{
	const pctl_status status =
		pctl_model_words_open(e->model, o->tokenizer, o->family, call, &e->words);

	e->engine.encode = encode;
	e->engine.chat = e->words.template_ == NULL ? NULL : chat;
	e->engine.piece = piece;
	e->engine.is_end = is_end;
	return status;
}
