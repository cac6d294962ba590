/* Families by name and by marks, messages checked, and what a family says put together. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"
#include "model/template/private.h"

const pctl_template *pctl_template_at(uint32_t i)
{
	return i < template_n_families ? &template_families[i] : NULL;
}

const char *pctl_template_name(const pctl_template *t)
{
	return t->name;
}

/* "a, b, c", released with free(). */
static char *all_names(void)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	for (uint32_t i = 0; i < template_n_families; i++)
		pctl_str_addf(&s, "%s%s", i ? ", " : "", template_families[i].name);
	return pctl_str_finish(&s);
}

static pctl_status no_family(const pctl_call *call, const char *what)
{
	char *names = all_names();
	pctl_status status = names == NULL ? pctl_no_memory(call, "names")
					   : pctl_refuse(call, PC7021_TEMPLATE_FAMILY,
							 "%s; there are %s", what, names);

	free(names);
	return status;
}

pctl_status pctl_template_named(const char *name, const pctl_call *call, const pctl_template **out)
{
	char what[128];

	*out = NULL;
	for (uint32_t i = 0; i < template_n_families; i++)
		if (strcmp(template_families[i].name, name) == 0)
			*out = &template_families[i];
	if (*out != NULL)
		return PCTL_OK;
	snprintf(what, sizeof(what), "\"%.60s\" is no family of chat templates", name);
	return no_family(call, what);
}

static int contains(const char *text, size_t n, const char *mark)
{
	return memmem(text, n, mark, strlen(mark)) != NULL;
}

pctl_status pctl_template_recognise(const char *text, size_t n, const pctl_call *call,
				    const pctl_template **out)
{
	*out = NULL;
	if (n > PCTL_TEMPLATE_TEXT_MAX)
		return no_family(call, "a chat template of more than 1 MiB");
	for (uint32_t i = 0; i < template_n_families; i++) {
		const pctl_template *t = &template_families[i];
		int fits = 1;

		for (uint32_t k = 0; k < 3 && t->has[k] != NULL; k++)
			fits &= contains(text, n, t->has[k]);
		for (uint32_t k = 0; k < 3 && t->without[k] != NULL; k++)
			fits &= !contains(text, n, t->without[k]);
		if (fits) {
			*out = t;
			return PCTL_OK;
		}
	}
	return no_family(call, "this chat template has the marks of no known family");
}

/* ---- what a family says ---- */

/* Text up to here goes to the tokenizer, all of it together, as it would in one text. */
static void flush(template_sink *s)
{
	size_t from;

	if (s->tokenizer == NULL || s->status != PCTL_OK)
		return;
	from = s->strips && !s->text.failed ? pctl_tokenizer_white_space(s->text.data, s->text.n)
					    : 0;
	if (s->text.failed)
		s->status = pctl_no_memory(s->call, "a conversation");
	else if (s->text.n != from)
		s->status = pctl_tokenizer_encode(
			s->tokenizer, s->text.data + from, s->text.n - from,
			s->t->encode_flags | (s->begun ? PCTL_ENCODE_CONTINUED : 0), s->call,
			s->ids);
	s->begun |= s->text.n != 0;
	s->text.n = 0;
}

void template_put(template_sink *s, pctl_token_text text)
{
	if (s->status == PCTL_OK)
		pctl_str_add_n(&s->text, text.text, text.n);
}

void template_say(template_sink *s, const char *text)
{
	template_put(s, (pctl_token_text){text, strlen(text)});
}

void template_mark(template_sink *s, const char *special)
{
	pctl_token_text bytes;
	pctl_token_kind kind;
	uint32_t id;

	if (s->tokenizer == NULL) {
		template_say(s, special);
		return;
	}
	flush(s);
	if (s->status != PCTL_OK)
		return;
	id = pctl_tokenizer_find(s->tokenizer, special, strlen(special));
	kind = pctl_tokenizer_token(s->tokenizer, id, &bytes);
	if (kind != PCTL_TOKEN_SPECIAL && kind != PCTL_TOKEN_ADDED)
		s->status = pctl_refuse(
			s->call, PC7023_TEMPLATE_TOKEN,
			"the vocabulary has no special token %s, which the template of %s "
			"needs",
			special, s->t->name);
	else if (!PCTL_VEC_PUSH(s->ids, id))
		s->status = pctl_no_memory(s->call, "ids");
	s->begun = 1;
	s->strips = pctl_tokenizer_strips(s->tokenizer, id);
}

static pctl_status bad(const template_sink *s, uint32_t i, const char *what)
{
	return pctl_refuse(s->call, PC7022_TEMPLATE_MESSAGE, "message %" PRIu32 ": %s (%s)", i + 1,
			   what, s->t->name);
}

static pctl_status check(const template_sink *s)
{
	uint32_t turn = 0;

	if ((s->flags & PCTL_TEMPLATE_NO_THINKING) && !s->t->thinking)
		return pctl_refuse(s->call, PC7022_TEMPLATE_MESSAGE,
				   "the template of %s has no thinking to switch off", s->t->name);
	if (s->n == 0)
		return pctl_refuse(s->call, PC7022_TEMPLATE_MESSAGE, "there are no messages");
	for (uint32_t i = 0; i < s->n; i++) {
		const char *role = s->messages[i].role;

		if (strcmp(role, "system") == 0) {
			if (s->t->system == SYSTEM_NEVER)
				return bad(s, i, "there is no role system");
			if (s->t->system == SYSTEM_FIRST && i != 0)
				return bad(s, i, "a system message can only be the first");
			continue;
		}
		if (strcmp(role, "user") != 0 && strcmp(role, "assistant") != 0)
			return bad(s, i, "its role is none of system, user, assistant");
		if (s->t->turns && strcmp(role, turn % 2 ? "assistant" : "user") != 0)
			return bad(s, i, "user and assistant take turns, user first");
		turn++;
	}
	if (s->t->turns && turn == 0)
		return bad(s, 0, "a system message alone is no conversation");
	return PCTL_OK;
}

pctl_status pctl_template_encode(const pctl_template *t, const pctl_tokenizer *tokenizer,
				 const pctl_message *messages, uint32_t n, uint32_t flags,
				 const pctl_call *call, pctl_token_ids *out)
{
	template_sink s = {.t = t,
			   .messages = messages,
			   .n = n,
			   .flags = flags,
			   .tokenizer = tokenizer,
			   .call = call,
			   .ids = out};

	s.status = check(&s);
	if (s.status == PCTL_OK)
		t->render(&s);
	flush(&s);
	pctl_str_drop(&s.text);
	return s.status;
}

pctl_status pctl_template_fits(const pctl_template *t, const pctl_tokenizer *tokenizer,
			       const pctl_call *call)
{
	/* Every role that there is, and an answer that is over: some marks stand behind one alone. */
	static const pctl_message all[] = {
		{"system", {"", 0}}, {"user", {"", 0}}, {"assistant", {"", 0}}, {"user", {"", 0}}};
	const uint32_t first = t->system == SYSTEM_NEVER;
	pctl_token_ids ids = {0};
	const pctl_status status = pctl_template_encode(t, tokenizer, all + first, 4 - first,
							PCTL_TEMPLATE_PROMPT, call, &ids);

	free(ids.items);
	return status;
}

pctl_status pctl_template_render(const pctl_template *t, const pctl_message *messages, uint32_t n,
				 uint32_t flags, const pctl_call *call, pctl_str_buf *out)
{
	template_sink s = {.t = t, .messages = messages, .n = n, .flags = flags, .call = call};

	s.status = check(&s);
	if (s.status == PCTL_OK)
		t->render(&s);
	if (s.status == PCTL_OK)
		pctl_str_add_n(out, s.text.data, s.text.n);
	if (s.status == PCTL_OK && (s.text.failed || out->failed))
		s.status = pctl_no_memory(call, "a conversation");
	pctl_str_drop(&s.text);
	return s.status;
}
