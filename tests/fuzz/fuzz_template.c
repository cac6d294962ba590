/* Any bytes as a chat template, and as the messages of a conversation of every family: refused with one error said, or encoded; then the
 * marks among the ids are as many as with messages that say nothing. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "model/template/template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MESSAGES_MAX 8u
static pctl_tokenizer *tokenizer;

static void make(void)
{
	static const char sample[] = "user assistant system model hello hello";
	static const char *const special[] = {"<|im_start|>",
					      "<|im_end|>",
					      "<think>",
					      "</think>",
					      "<|begin_of_text|>",
					      "<|start_header_id|>",
					      "<|end_header_id|>",
					      "<|eot_id|>",
					      "<s>",
					      "</s>",
					      "[INST]",
					      "[/INST]",
					      "<bos>",
					      "<start_of_turn>",
					      "<end_of_turn>",
					      "<|user|>",
					      "<|assistant|>",
					      "<|system|>",
					      "<|end|>",
					      "<|endoftext|>"};
	const pctl_token_text text = {sample, sizeof(sample) - 1};
	const pctl_tokenizer_training training = {.kind = PCTL_TOKENIZER_BPE,
						  .family = "qwen2",
						  .n_tokens = 295,
						  .texts = &text,
						  .n_texts = 1,
						  .special = special,
						  .n_special = 20,
						  .fill = 1};

	if (pctl_tokenizer_train(&training, NULL, &tokenizer) != PCTL_OK)
		abort();
}

/* Special tokens of a conversation; -1: it was refused. */
static int marks(const pctl_template *t, const pctl_message *messages, uint32_t n, uint32_t flags)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_token_ids ids = {0};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	const pctl_call *call = pctl_diag_list_call(said);
	const pctl_status status =
		pctl_template_encode(t, tokenizer, messages, n, flags, call, &ids);
	int found = 0;

	if ((status == PCTL_OK) != (pctl_diag_list_errors(said) == 0) ||
	    pctl_diag_list_errors(said) > 1 ||
	    status != pctl_template_render(t, messages, n, flags, NULL, &text))
		abort();
	for (uint32_t i = 0; i < ids.n; i++)
		found += ids.items[i] < 20;
	pctl_str_drop(&text);
	free(ids.items);
	pctl_diag_list_destroy(said);
	return status == PCTL_OK ? found : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const roles[] = {"system",	 "user", "assistant", "user",
					    "assistant", "user", "tool",      "user"};
	pctl_message messages[MESSAGES_MAX], empty[MESSAGES_MAX];
	char *text = malloc(n + (n == 0));
	const pctl_template *t;
	uint32_t count = 0;
	size_t at = 1;

	if (tokenizer == NULL)
		make();
	memcpy(text, data, n);
	if ((pctl_template_recognise(text, n, NULL, &t) == PCTL_OK) != (t != NULL))
		abort();
	/* The first byte says where roles begin; a zero byte parts messages. */
	for (uint32_t role = n == 0 ? 0 : (uint8_t)text[0] % 3u; at < n && count < MESSAGES_MAX;
	     count++) {
		const char *end = memchr(text + at, 0, n - at);
		const size_t size = end == NULL ? n - at : (size_t)(end - text) - at;

		messages[count] = (pctl_message){roles[(role + count) % 8], {text + at, size}};
		empty[count] = (pctl_message){messages[count].role, {"", 0}};
		at += size + 1;
	}
	for (uint32_t i = 0; (t = pctl_template_at(i)) != NULL; i++)
		for (uint32_t flags = 0; flags < 4; flags++) {
			const int got = marks(t, messages, count, flags),
				  want = marks(t, empty, count, flags);

			/* Qwen3 makes marks of an answer's own thoughts, and of no other message's. */
			if (got != want &&
			    !(strcmp(pctl_template_name(t), "qwen3") == 0 && got >= 0 &&
			      want >= 0 && abs(got - want) <= 2 * (int)MESSAGES_MAX))
				abort();
		}
	free(text);
	return 0;
}
