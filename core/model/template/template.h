/* Chat templates: messages into what a model was trained to see of a conversation. Not a template engine: the families that are known
 * are written here, and a model's own template, which is a program, only tells which family it is of.
 *
 * Marks between messages are special tokens by their ids; what messages hold is text and never becomes such a token, whatever it
 * says. (Llama 2 and the first Mistral mark turns by plain words, [INST]; a message can write those.)
 * Errors: PC7021 no known family, PC7022 messages that do not go with it, PC7023 a vocabulary without a token of it. */
#ifndef PIPECTL_MODEL_TEMPLATE_TEMPLATE_H
#define PIPECTL_MODEL_TEMPLATE_TEMPLATE_H

#include "model/tokenizer/tokenizer.h"

#define PCTL_TEMPLATE_TEXT_MAX (1u << 20) /* bytes of a template that is looked at */

/* A family; they are constants, and live as long as the program. */
typedef struct pctl_template pctl_template;

/* In a fixed order; NULL behind the last. */
const pctl_template *pctl_template_at(uint32_t i);
const char *pctl_template_name(const pctl_template *t);
pctl_status pctl_template_named(const char *name, const pctl_call *call, const pctl_template **out);
/* The family of a template in Jinja (chat_template of tokenizer_config.json, tokenizer.chat_template of GGUF), by its marks
 * (README.md). */
pctl_status pctl_template_recognise(const char *text, size_t n, const pctl_call *call,
				    const pctl_template **out);

/* role: "system", "user" or "assistant". */
typedef struct pctl_message {
	const char *role;
	pctl_token_text content;
} pctl_message;

#define PCTL_TEMPLATE_PROMPT 1u /* the assistant's turn is begun */
#define PCTL_TEMPLATE_NO_THINKING \
	2u /* Qwen3: with thoughts that are empty; others have no such switch (PC7022) */

/* The ids of a conversation, appended to *out: what stands before all (<s> and the like) is among them, so PCTL_ENCODE_BEGIN is
 * not needed. */
pctl_status pctl_template_encode(const pctl_template *t, const pctl_tokenizer *tokenizer,
				 const pctl_message *messages, uint32_t n, uint32_t flags,
				 const pctl_call *call, pctl_token_ids *out);
/* Whether the vocabulary has every special token that a conversation can come to (PC7023 names the first it lacks), to be known before
 * anybody talks. */
pctl_status pctl_template_fits(const pctl_template *t, const pctl_tokenizer *tokenizer,
			       const pctl_call *call);
/* The same as text, for people: what is a special token there cannot be told from text. */
pctl_status pctl_template_render(const pctl_template *t, const pctl_message *messages, uint32_t n,
				 uint32_t flags, const pctl_call *call, pctl_str_buf *out);

#endif
