/* The families: how each writes a conversation, and by which marks a template is known to be its own. The first row that fits is
 * taken, so the more particular stand first. */
#include <string.h>

#include "foundation/base/utf8.h"
#include "model/template/private.h"

static int is_role(const pctl_message *m, const char *role)
{
	return strcmp(m->role, role) == 0;
}

/* What Python's str.strip takes away. */
static int is_space(uint32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
	       c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
	       c == 0x202f || c == 0x205f || c == 0x3000;
}

static pctl_token_text stripped(pctl_token_text text)
{
	size_t begin = text.n, end = 0;

	for (size_t i = 0, step; i < text.n; i += step) {
		uint32_t code = 0xfffd;

		step = pctl_utf8_decode(text.text + i, text.n - i, &code);
		step = step == 0 ? 1 : step;
		if (is_space(code))
			continue;
		begin = begin == text.n ? i : begin;
		end = i + step;
	}
	return end == 0 ? (pctl_token_text){text.text, 0}
			: (pctl_token_text){text.text + begin, end - begin};
}

static pctl_token_text without_newlines(pctl_token_text text, int before, int behind)
{
	while (before && text.n != 0 && text.text[0] == '\n') {
		text.text++;
		text.n--;
	}
	while (behind && text.n != 0 && text.text[text.n - 1] == '\n')
		text.n--;
	return text;
}

/* ---- ChatML: Qwen ---- */

static void chatml_turn(template_sink *s, const char *role)
{
	template_mark(s, "<|im_start|>");
	template_say(s, role);
	template_say(s, "\n");
}

static void chatml_message(template_sink *s, const pctl_message *m)
{
	chatml_turn(s, m->role);
	template_put(s, m->content);
	template_mark(s, "<|im_end|>");
	template_say(s, "\n");
}

static void chatml_all(template_sink *s, const char *system)
{
	if (system != NULL && !is_role(&s->messages[0], "system"))
		chatml_message(s, &(pctl_message){"system", {system, strlen(system)}});
	for (uint32_t i = 0; i < s->n; i++)
		chatml_message(s, &s->messages[i]);
	if (s->flags & PCTL_TEMPLATE_PROMPT)
		chatml_turn(s, "assistant");
}

static void chatml(template_sink *s)
{
	chatml_all(s, NULL);
}

static void qwen2(template_sink *s)
{
	chatml_all(s, "You are a helpful assistant.");
}

static void qwen25(template_sink *s)
{
	chatml_all(s, "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.");
}

/* An answer of Qwen3: of those before the last question the thoughts are left out. */
static void qwen3_answer(template_sink *s, const pctl_message *m, int recent, int last)
{
	static const char open[] = "<think>", close[] = "</think>";
	pctl_token_text thought = {"", 0}, answer = m->content;
	const char *end = memmem(answer.text, answer.n, close, sizeof(close) - 1), *found = end;

	if (end != NULL) {
		thought = without_newlines(
			(pctl_token_text){answer.text, (size_t)(end - answer.text)}, 0, 1);
		for (const char *at;
		     (at = memmem(thought.text, thought.n, open, sizeof(open) - 1)) != NULL;) {
			at += sizeof(open) - 1;
			thought.n -= (size_t)(at - thought.text);
			thought.text = at;
		}
		while (found != NULL) { /* the answer is behind the last of them */
			found += sizeof(close) - 1;
			answer.n -= (size_t)(found - answer.text);
			answer.text = found;
			found = memmem(answer.text, answer.n, close, sizeof(close) - 1);
		}
		answer = without_newlines(answer, 1, 0);
		thought = without_newlines(thought, 1, 1);
	}
	chatml_turn(s, m->role);
	if (recent && (last || thought.n != 0)) {
		template_mark(s, open);
		template_say(s, "\n");
		template_put(s, thought);
		template_say(s, "\n");
		template_mark(s, close);
		template_say(s, "\n\n");
		answer = without_newlines(answer, 1, 0);
	}
	template_put(s, answer);
	template_mark(s, "<|im_end|>");
	template_say(s, "\n");
}

/* What a tool answers comes as a user's message and is no question. */
static int is_question(const pctl_message *m)
{
	static const char open[] = "<tool_response>", close[] = "</tool_response>";
	const size_t n = m->content.n, n_open = sizeof(open) - 1, n_close = sizeof(close) - 1;

	if (!is_role(m, "user"))
		return 0;
	return n < n_open || n < n_close || memcmp(m->content.text, open, n_open) != 0 ||
	       memcmp(m->content.text + n - n_close, close, n_close) != 0;
}

static void qwen3(template_sink *s)
{
	uint32_t question = s->n - 1; /* without any, the last message counts as one */

	for (uint32_t i = 0; i < s->n; i++)
		if (is_question(&s->messages[i]))
			question = i;
	for (uint32_t i = 0; i < s->n; i++)
		if (is_role(&s->messages[i], "assistant"))
			qwen3_answer(s, &s->messages[i], i > question, i + 1 == s->n);
		else
			chatml_message(s, &s->messages[i]);
	if (!(s->flags & PCTL_TEMPLATE_PROMPT))
		return;
	chatml_turn(s, "assistant");
	if (s->flags & PCTL_TEMPLATE_NO_THINKING) {
		template_mark(s, "<think>");
		template_say(s, "\n\n");
		template_mark(s, "</think>");
		template_say(s, "\n\n");
	}
}

/* ---- Llama 3 ---- */

static void llama3_turn(template_sink *s, const char *role)
{
	template_mark(s, "<|start_header_id|>");
	template_say(s, role);
	template_mark(s, "<|end_header_id|>");
	template_say(s, "\n\n");
}

static void llama3_from(template_sink *s, uint32_t first)
{
	for (uint32_t i = first; i < s->n; i++) {
		llama3_turn(s, s->messages[i].role);
		template_put(s, stripped(s->messages[i].content));
		template_mark(s, "<|eot_id|>");
	}
	if (s->flags & PCTL_TEMPLATE_PROMPT)
		llama3_turn(s, "assistant");
}

static void llama3(template_sink *s)
{
	template_mark(s, "<|begin_of_text|>");
	llama3_from(s, 0);
}

/* The day is the one that the template itself falls back to: a prompt that depends on a clock would be another one tomorrow. */
static void llama31(template_sink *s)
{
	const int has_system = is_role(&s->messages[0], "system");

	template_mark(s, "<|begin_of_text|>");
	llama3_turn(s, "system");
	template_say(s, "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n");
	if (has_system)
		template_put(s, stripped(s->messages[0].content));
	template_mark(s, "<|eot_id|>");
	llama3_from(s, (uint32_t)has_system);
}

/* ---- Mistral ---- */

/* How a version writes turns. words: [INST] is text there. system_last: a system message goes into the last question, not the
 * first. */
static void mistral(template_sink *s, int words, const char *before, const char *behind,
		    int system_last)
{
	const pctl_message *system = is_role(&s->messages[0], "system") ? &s->messages[0] : NULL;
	uint32_t at = system != NULL;

	for (uint32_t i = at; i < s->n && system_last; i++)
		at = is_role(&s->messages[i], "user") ? i : at;
	template_mark(s, "<s>");
	for (uint32_t i = system != NULL; i < s->n; i++) {
		const pctl_message *m = &s->messages[i];

		if (is_role(m, "assistant")) {
			template_say(s, behind);
			template_put(s, m->content);
			template_mark(s, "</s>");
			continue;
		}
		template_say(s, before);
		(words ? template_say : template_mark)(s, "[INST]");
		template_say(s, behind);
		if (system != NULL && i == at) {
			template_put(s, system->content);
			template_say(s, "\n\n");
		}
		template_put(s, m->content);
		template_say(s, before);
		(words ? template_say : template_mark)(s, "[/INST]");
	}
}

static void mistral_v1(template_sink *s)
{
	mistral(s, 1, " ", " ", 0);
}

static void mistral_v3(template_sink *s)
{
	mistral(s, 0, "", " ", 1);
}

static void mistral_tekken(template_sink *s)
{
	mistral(s, 0, "", "", 1);
}

/* ---- Gemma ---- */

static void gemma_turn(template_sink *s, const char *role)
{
	template_mark(s, "<start_of_turn>");
	template_say(s, role);
	template_say(s, "\n");
}

static void gemma(template_sink *s)
{
	const pctl_message *system = is_role(&s->messages[0], "system") ? &s->messages[0] : NULL;

	template_mark(s, "<bos>");
	for (uint32_t i = system != NULL; i < s->n; i++) {
		gemma_turn(s, is_role(&s->messages[i], "assistant") ? "model" : "user");
		if (system != NULL && i == 1) {
			template_put(s, system->content);
			template_say(s, "\n\n");
		}
		template_put(s, stripped(s->messages[i].content));
		template_mark(s, "<end_of_turn>");
		template_say(s, "\n");
	}
	if (s->flags & PCTL_TEMPLATE_PROMPT)
		gemma_turn(s, "model");
}

/* ---- Llama 2 ---- */

static void llama2(template_sink *s)
{
	const pctl_message *system = is_role(&s->messages[0], "system") ? &s->messages[0] : NULL;

	for (uint32_t i = system != NULL; i < s->n; i++) {
		pctl_token_text text = stripped(s->messages[i].content);

		if (is_role(&s->messages[i], "assistant")) {
			template_say(s, " ");
			template_put(s, text);
			template_say(s, " ");
			template_mark(s, "</s>");
			continue;
		}
		template_mark(s, "<s>");
		template_say(s, "[INST] ");
		if (system != NULL && i == 1) {
			const pctl_token_text *raw = &s->messages[i].content;

			template_say(s, "<<SYS>>\n");
			template_put(s, system->content);
			template_say(s, text.n == 0 ? "\n<</SYS>>" : "\n<</SYS>>\n\n");
			/* The whole is stripped: its beginning is no white space, its end is the message's. */
			if (text.n != 0)
				text = (pctl_token_text){raw->text,
							 (size_t)(text.text + text.n - raw->text)};
		}
		template_put(s, text);
		template_say(s, " [/INST]");
	}
}

/* ---- Phi 3 ---- */

static void phi3(template_sink *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const pctl_message *m = &s->messages[i];

		template_mark(s, is_role(m, "system") ? "<|system|>"
				 : is_role(m, "user") ? "<|user|>"
						      : "<|assistant|>");
		template_say(s, "\n");
		template_put(s, m->content);
		template_mark(s, "<|end|>");
		template_say(s, "\n");
	}
	template_mark(s, s->flags & PCTL_TEMPLATE_PROMPT ? "<|assistant|>" : "<|endoftext|>");
	if (s->flags & PCTL_TEMPLATE_PROMPT)
		template_say(s, "\n");
}

const pctl_template template_families[] = {
	{"qwen3",
	 {"<|im_start|>", "enable_thinking", "<think>\\n\\n</think>"},
	 {"## Metadata", "'<think>\\n' }}"},
	 SYSTEM_ANYWHERE,
	 0,
	 1,
	 0,
	 qwen3},
	{"qwen2.5",
	 {"<|im_start|>", "You are Qwen, created by Alibaba Cloud."},
	 {"<think>", "<|im_sep|>"},
	 SYSTEM_ANYWHERE,
	 0,
	 0,
	 0,
	 qwen25},
	{"qwen2",
	 {"<|im_start|>", "You are a helpful assistant"},
	 {"<think>", "<|im_sep|>"},
	 SYSTEM_ANYWHERE,
	 0,
	 0,
	 0,
	 qwen2},
	{"chatml",
	 {"<|im_start|>", "<|im_end|>"},
	 {"<think>", "<|im_sep|>", "<end_of_utterance>"},
	 SYSTEM_ANYWHERE,
	 0,
	 0,
	 0,
	 chatml},
	{"llama3.1",
	 {"<|start_header_id|>", "Cutting Knowledge Date"},
	 {NULL},
	 SYSTEM_ANYWHERE,
	 0,
	 0,
	 0,
	 llama31},
	{"llama3",
	 {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
	 {NULL},
	 SYSTEM_ANYWHERE,
	 0,
	 0,
	 0,
	 llama3},
	{"gemma3",
	 {"<start_of_turn>", "first_user_prefix"},
	 {NULL},
	 SYSTEM_FIRST,
	 1,
	 0,
	 PCTL_ENCODE_ADDED,
	 gemma},
	{"gemma",
	 {"<start_of_turn>", "<end_of_turn>"},
	 {NULL},
	 SYSTEM_NEVER,
	 1,
	 0,
	 PCTL_ENCODE_ADDED,
	 gemma},
	{"llama2", {"[INST]", "<<SYS>>"}, {NULL}, SYSTEM_FIRST, 1, 0, 0, llama2},
	{"mistral-v1",
	 {"' [INST] '", "[/INST]"},
	 {"[AVAILABLE_TOOLS]"},
	 SYSTEM_FIRST,
	 1,
	 0,
	 0,
	 mistral_v1},
	{"mistral-tekken",
	 {"\"[INST]\"", "[/INST]", "[AVAILABLE_TOOLS]"},
	 {"[SYSTEM_PROMPT]"},
	 SYSTEM_FIRST,
	 1,
	 0,
	 0,
	 mistral_tekken},
	{"mistral-v3",
	 {"[INST]", "[/INST]", "[AVAILABLE_TOOLS]"},
	 {"[SYSTEM_PROMPT]"},
	 SYSTEM_FIRST,
	 1,
	 0,
	 0,
	 mistral_v3},
	{"phi3",
	 {"<|system|>", "<|user|>", "<|end|>"},
	 {"<|im_start|>", "<|im_sep|>", "<|tool|>"},
	 SYSTEM_ANYWHERE,
	 0,
	 0,
	 0,
	 phi3},
};
const uint32_t template_n_families = sizeof(template_families) / sizeof(template_families[0]);
