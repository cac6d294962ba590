/* Reading the parameters that are texts and lists of them: prompts, messages, stop strings. */
#include <string.h>

#include "model/serve/params_private.h"

static int no_memory(serve_reader *r)
{
	return serve_refuse(r->refusal, PC2_NOMEM, NULL, "no memory for the request");
}

/* ---- prompts and inputs ------------------------------------------------------------------- */

static int is_tokens(const cJSON *v)
{
	return cJSON_IsArray(v) && cJSON_IsNumber(v->child);
}

static int read_tokens(serve_reader *r, const char *name, const cJSON *v, serve_prompt *out)
{
	const cJSON *item;
	double d;

	out->n_tokens = 0;
	out->tokens = pctl_arena_array(r->arena, (size_t)cJSON_GetArraySize(v), sizeof(uint32_t));
	if (out->tokens == NULL)
		return no_memory(r);
	cJSON_ArrayForEach(item, v)
	{
		if (!serve_value_whole(r, name, item, 0, (double)r->engine->n_vocab - 1, &d))
			return 0;
		out->tokens[out->n_tokens++] = (uint32_t)d;
	}
	return 1;
}

static int read_one(serve_reader *r, const char *name, const cJSON *v)
{
	serve_prompt *p = &r->out->prompts[r->out->n_prompts];

	if (cJSON_IsString(v)) {
		p->text = pctl_arena_dup(r->arena, v->valuestring);
		if (p->text == NULL)
			return no_memory(r);
	} else if (is_tokens(v)) {
		if (!read_tokens(r, name, v, p))
			return 0;
	} else {
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name,
				    "%s takes a text, a list of texts, tokens, or a list of lists "
				    "of tokens, none of them empty",
				    name);
	}
	r->out->n_prompts++;
	return 1;
}

int serve_read_prompt(serve_reader *r, const char *name, const cJSON *v)
{
	const int many = cJSON_IsArray(v) && !is_tokens(v);
	const size_t n = many ? (size_t)cJSON_GetArraySize(v) : 1;
	const cJSON *item;

	if (n > r->limits->prompts)
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name, "%s has %zu, at most %u",
				    name, n, r->limits->prompts);
	r->out->prompts = pctl_arena_array(r->arena, n, sizeof(*r->out->prompts));
	if (r->out->prompts == NULL)
		return no_memory(r);
	if (!many)
		return read_one(r, name, v);
	if (n == 0)
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name, "%s is empty", name);
	cJSON_ArrayForEach(item, v)
	{
		if (!read_one(r, name, item))
			return 0;
	}
	return 1;
}

/* ---- messages ----------------------------------------------------------------------------- */

/* A text, or a list of parts of type text, which are joined. */
static const char *read_content(serve_reader *r, const cJSON *v)
{
	pctl_str_buf all = PCTL_STR_BUF_INIT;
	const cJSON *part, *member;
	const char *text = NULL;

	if (cJSON_IsString(v))
		return pctl_arena_dup(r->arena, v->valuestring);
	if (!cJSON_IsArray(v) || v->child == NULL) {
		(void)serve_refuse(r->refusal, PC6264_SERVE_VALUE, "messages",
				   "content takes a text or a list of parts");
		return NULL;
	}
	pctl_str_add(&all, "");
	cJSON_ArrayForEach(part, v)
	{
		const cJSON *type = cJSON_GetObjectItemCaseSensitive(part, "type");
		const cJSON *words = cJSON_GetObjectItemCaseSensitive(part, "text");

		if (cJSON_IsString(type) && strcmp(type->valuestring, "text") != 0) {
			(void)serve_refuse(r->refusal, PC6263_SERVE_UNSUPPORTED, "messages",
					   "parts of type \"%.40s\" are not supported, text alone",
					   type->valuestring);
			goto out;
		}
		cJSON_ArrayForEach(member, part)
		{
			if (member != type && member != words)
				type = NULL;
		}
		if (!cJSON_IsString(type) || !cJSON_IsString(words)) {
			(void)serve_refuse(r->refusal, PC6264_SERVE_VALUE, "messages",
					   "a part has type = \"text\" and text, and nothing else");
			goto out;
		}
		pctl_str_add(&all, words->valuestring);
	}
	text = all.failed ? NULL : pctl_arena_dup_n(r->arena, all.data, all.n);
out:
	pctl_str_drop(&all);
	return text;
}

/* role is any word: the template says which it knows. */
static int read_message(serve_reader *r, const cJSON *v, pctl_engine_message *out)
{
	const cJSON *member;

	if (!cJSON_IsObject(v))
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, "messages",
				    "messages takes a list of objects");
	cJSON_ArrayForEach(member, v)
	{
		const int is_role = strcmp(member->string, "role") == 0;

		if (cJSON_IsNull(member)) {
			continue;
		} else if (strcmp(member->string, "content") == 0) {
			out->content = read_content(r, member);
			if (out->content == NULL)
				return no_memory(r); /* unless it is refused already */
		} else if (is_role || strcmp(member->string, "name") == 0) {
			if (!cJSON_IsString(member))
				return serve_refuse(r->refusal, PC6264_SERVE_VALUE, "messages",
						    "%s takes a text", member->string);
			*(is_role ? &out->role : &out->name) =
				pctl_arena_dup(r->arena, member->valuestring);
			if ((is_role ? out->role : out->name) == NULL)
				return no_memory(r);
		} else {
			return serve_refuse(r->refusal, PC6263_SERVE_UNSUPPORTED, "messages",
					    "\"%.60s\" of a message is not supported; it has role, "
					    "content and name",
					    member->string);
		}
	}
	return (out->role != NULL && out->content != NULL) ||
	       serve_refuse(r->refusal, PC6265_SERVE_MISSING, "messages", "a message has no %s",
			    out->role == NULL ? "role" : "content");
}

int serve_read_messages(serve_reader *r, const char *name, const cJSON *v)
{
	const cJSON *item;

	if (!cJSON_IsArray(v) || v->child == NULL)
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name,
				    "messages takes a list of objects that is not empty");
	r->out->messages = pctl_arena_array(r->arena, (size_t)cJSON_GetArraySize(v),
					    sizeof(*r->out->messages));
	if (r->out->messages == NULL)
		return no_memory(r);
	cJSON_ArrayForEach(item, v)
	{
		if (!read_message(r, item, &r->out->messages[r->out->n_messages]))
			return 0;
		r->out->n_messages++;
	}
	return 1;
}

/* ---- stop strings ------------------------------------------------------------------------- */

int serve_read_stop(serve_reader *r, const char *name, const cJSON *v)
{
	serve_stops *stops = &r->out->stops;
	const cJSON *item = cJSON_IsArray(v) ? v->child : v;

	for (; item != NULL; item = cJSON_IsArray(v) ? item->next : NULL) {
		const size_t n = cJSON_IsString(item) ? strlen(item->valuestring) : 0;

		if (n == 0 || n > SERVE_STOP_BYTES || stops->n == SERVE_STOPS_MAX)
			return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name,
					    "stop takes one to %u texts of 1 to %u bytes",
					    SERVE_STOPS_MAX, SERVE_STOP_BYTES);
		stops->items[stops->n] = pctl_arena_dup(r->arena, item->valuestring);
		if (stops->items[stops->n] == NULL)
			return no_memory(r);
		stops->lengths[stops->n++] = n;
	}
	return 1;
}
