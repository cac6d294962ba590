/* The words of a model: its tokenizer and the family of its chat template, from its own files or those asked for. Text to tokens and
 * back, for whoever has a model and needs no device. */
#ifndef PIPECTL_MODEL_GENERATE_WORDS_H
#define PIPECTL_MODEL_GENERATE_WORDS_H

#include "model/file/model.h"
#include "model/template/template.h"

/* template_: NULL where the model has none that is known. */
typedef struct pctl_model_words {
	pctl_tokenizer *tokenizer;
	const pctl_template *template_;
} pctl_model_words;

/*
 * tokenizer  a tokenizer.json in place of the model's own; NULL: that one
 * family     of the chat template, by name; NULL: as the model's own template tells
 *
 * Errors: those of tokenizer and template files; PC7023 a family that was named and whose tokens the tokenizer lacks; PC6288 where there is no tokenizer, or one of more tokens than the model has. `out` is
 * closed by the caller, after errors too.
 */
pctl_status pctl_model_words_open(const pctl_model *m, const char *tokenizer, const char *family,
				  const pctl_call *call, pctl_model_words *out);
void pctl_model_words_close(pctl_model_words *w);
/* The same for who wants nothing of it. A model without a tokenizer is fine. */
pctl_status pctl_model_words_check(const pctl_model *m, const pctl_call *call);

/* A text as the model is given one (with what stands in front; special tokens are not looked for in it), and a conversation up to where the assistant
 * begins (PCTL_TEMPLATE_PROMPT and other flags); the ids are released with free(). PC7021: it has no template. */
pctl_status pctl_model_words_encode(const pctl_model_words *w, const char *text, size_t n,
				    uint32_t flags, const pctl_call *call, pctl_token_ids *out);
pctl_status pctl_model_words_chat(const pctl_model_words *w, const pctl_message *messages,
				  uint32_t n, uint32_t flags, const pctl_call *call,
				  pctl_token_ids *out);

#endif
