/* Verbs over tokenizers: encode, decode, chat, train, show. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "app.h"
#include "foundation/base/file.h"
#include "foundation/base/hex.h"
#include "foundation/base/num.h"
#include "foundation/base/utf8.h"
#include "foundation/base/vec.h"
#include "model/template/template.h"
#include "model/tokenizer/tokenizer.h"

static pctl_status open_tokenizer(pctl_app *app, pctl_tokenizer **out)
{
	const char *file = app->line.arguments[0],
		   *roles = pctl_option_value(&app->line, "--roles");
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_file_read(file, PCTL_TOKENIZER_FILE_MAX, app->call, &text, &n);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_tokenizer_read(file, text, (size_t)n, app->call, out);
	free(text);
	if (status != PCTL_OK || roles == NULL)
		return status;
	text = NULL;
	status = pctl_file_read(roles, PCTL_TOKENIZER_FILE_MAX, app->call, &text, &n);
	if (status == PCTL_OK)
		status = pctl_tokenizer_configure(*out, roles, text, (size_t)n, app->call);
	free(text);
	return status;
}

/* The bytes of a token as text that can be shown: what is no plain UTF-8 as \xAB. */
static const char *shown(pctl_app *app, const pctl_tokenizer *t, uint32_t id)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_token_text bytes;
	const char *text;

	(void)pctl_tokenizer_token(t, id, &bytes);
	for (size_t i = 0; i < bytes.n;) {
		const size_t plain = pctl_utf8_bad(bytes.text + i, bytes.n - i, PCTL_UTF8_PLAIN);

		pctl_str_add_n(&s, bytes.text + i, plain);
		i += plain;
		if (i < bytes.n)
			pctl_str_addf(&s, "\\x%02x", (uint8_t)bytes.text[i++]);
	}
	text = s.failed ? NULL : pctl_arena_dup_n(app->arena, s.data == NULL ? "" : s.data, s.n);
	pctl_str_drop(&s);
	return text == NULL ? "?" : text;
}

static void print_ids(pctl_app *app, const pctl_tokenizer *t, const pctl_token_ids *ids)
{
	if (!app->json) {
		for (uint32_t i = 0; i < ids->n; i++)
			printf("%s%" PRIu32, i ? " " : "", ids->items[i]);
		printf("\n");
		return;
	}
	pctl_json_key(&app->document, "ids");
	pctl_json_array_begin(&app->document);
	for (uint32_t i = 0; i < ids->n; i++)
		pctl_json_u32(&app->document, ids->items[i]);
	pctl_json_array_end(&app->document);
	pctl_json_key(&app->document, "tokens");
	pctl_json_array_begin(&app->document);
	for (uint32_t i = 0; i < ids->n; i++)
		pctl_json_string(&app->document, shown(app, t, ids->items[i]));
	pctl_json_array_end(&app->document);
}

pctl_status pctl_verb_tokenizer_encode(pctl_app *app)
{
	const uint32_t flags =
		(pctl_option_has(&app->line, "--begin") ? PCTL_ENCODE_BEGIN : 0) |
		(pctl_option_has(&app->line, "--special") ? PCTL_ENCODE_SPECIAL : 0) |
		(pctl_option_has(&app->line, "--no-added") ? 0 : PCTL_ENCODE_ADDED);
	const char *text = app->line.arguments[1];
	pctl_token_ids ids = {0};
	pctl_tokenizer *t;
	char *input = NULL;
	uint64_t n = strlen(text);
	pctl_status status = open_tokenizer(app, &t);

	if (status == PCTL_OK && strcmp(text, "-") == 0) {
		status = pctl_file_read("-", PCTL_TOKENIZER_TEXT_MAX, app->call, &input, &n);
		text = input;
	}
	if (status == PCTL_OK)
		status = pctl_tokenizer_encode(t, text, (size_t)n, flags, app->call, &ids);
	if (status == PCTL_OK)
		print_ids(app, t, &ids);
	free(input);
	free(ids.items);
	pctl_tokenizer_destroy(t);
	return status;
}

/* ---- decode ---- */

static pctl_status add_id(pctl_app *app, const char *word, size_t n, pctl_token_ids *out)
{
	uint64_t id;

	if (!pctl_num_parse_u64(word, n, &id) || id >= PCTL_TOKEN_NONE)
		return pctl_refuse(app->call, PC7005_TOKENIZER_TOKEN, "\"%.*s\" is no token",
				   (int)(n > 60 ? 60 : n), word);
	return PCTL_VEC_PUSH(out, (uint32_t)id) ? PCTL_OK : pctl_no_memory(app->call, "ids");
}

static pctl_status read_ids(pctl_app *app, pctl_token_ids *out)
{
	static const char blanks[] = " \t\r\n,";
	char *text = NULL;
	uint64_t n;
	pctl_status status = PCTL_OK;

	if (app->line.n_arguments != 2 || strcmp(app->line.arguments[1], "-") != 0) {
		for (uint32_t i = 1; i < app->line.n_arguments && status == PCTL_OK; i++)
			status = add_id(app, app->line.arguments[i], strlen(app->line.arguments[i]),
					out);
		return status;
	}
	status = pctl_file_read("-", PCTL_TOKENIZER_FILE_MAX, app->call, &text, &n);
	if (status == PCTL_OK && strlen(text) != n)
		status = pctl_refuse(app->call, PC7005_TOKENIZER_TOKEN,
				     "byte %zu of standard input is zero, which is in no number",
				     strlen(text));
	for (size_t at = 0; status == PCTL_OK && text[at += strspn(text + at, blanks)] != '\0';) {
		const size_t word = strcspn(text + at, blanks);

		status = add_id(app, text + at, word, out);
		at += word;
	}
	free(text);
	return status;
}

/* Whoever lists ids means tokens; a stream takes what is none for a row of a model. */
static pctl_status check_id(pctl_app *app, const pctl_tokenizer *t, uint32_t id)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	const pctl_status status = pctl_tokenizer_decode(t, &id, 1, 0, app->call, &text);

	pctl_str_drop(&text);
	return status;
}

static pctl_status decode(pctl_app *app, const pctl_tokenizer *t, const pctl_token_ids *ids,
			  pctl_str_buf *out)
{
	const int special = pctl_option_has(&app->line, "--special");
	pctl_token_stream stream;
	pctl_status status = PCTL_OK;

	if (!pctl_option_has(&app->line, "--stream"))
		return pctl_tokenizer_decode(t, ids->items, ids->n, special, app->call, out);
	pctl_token_stream_init(&stream, t, special);
	for (uint32_t i = 0; i < ids->n && status == PCTL_OK; i++) {
		status = check_id(app, t, ids->items[i]);
		if (status == PCTL_OK)
			status = pctl_token_stream_push(&stream, ids->items[i], app->call, out);
	}
	pctl_token_stream_end(&stream, out);
	return status;
}

/* As text where it is text, and every byte in hexadecimal. */
static pctl_status decoded_json(pctl_app *app, const pctl_str_buf *text)
{
	pctl_str_buf hex = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;

	pctl_hex_add(&hex, text->data, text->n);
	pctl_str_add(&hex, "");
	if (hex.failed) {
		status = pctl_no_memory(app->call, "a text");
	} else {
		pctl_json_key(&app->document, "text");
		pctl_json_text(&app->document, text->data, text->n);
		pctl_json_kv_string(&app->document, "bytes", hex.data);
	}
	pctl_str_drop(&hex);
	return status;
}

pctl_status pctl_verb_tokenizer_decode(pctl_app *app)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_token_ids ids = {0};
	pctl_tokenizer *t;
	pctl_status status = open_tokenizer(app, &t);

	if (status == PCTL_OK)
		status = read_ids(app, &ids);
	if (status == PCTL_OK)
		status = decode(app, t, &ids, &text);
	pctl_str_add_n(&text, "", 0);
	if (status == PCTL_OK && text.failed)
		status = pctl_no_memory(app->call, "a text");
	if (status == PCTL_OK && app->json)
		status = decoded_json(app, &text);
	else if (status == PCTL_OK)
		fwrite(text.data, 1, text.n, stdout);
	pctl_str_drop(&text);
	free(ids.items);
	pctl_tokenizer_destroy(t);
	return status;
}

/* ---- chat ---- */

static pctl_status recognise(pctl_app *app, const char *file, const pctl_template **out)
{
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_file_read(file, PCTL_TOKENIZER_FILE_MAX, app->call, &text, &n);
	cJSON *j = status == PCTL_OK ? cJSON_ParseWithLength(text, (size_t)n) : NULL;
	const cJSON *inside = cJSON_GetObjectItemCaseSensitive(j, "chat_template");

	if (status == PCTL_OK && cJSON_IsString(inside))
		status = pctl_template_recognise(inside->valuestring, strlen(inside->valuestring),
						 app->call, out);
	else if (status == PCTL_OK)
		status = pctl_template_recognise(text, (size_t)n, app->call, out);
	cJSON_Delete(j);
	free(text);
	return status;
}

static pctl_status choose_family(pctl_app *app, const pctl_template **out)
{
	const char *name = pctl_option_value(&app->line, "--family"),
		   *file = pctl_option_value(&app->line, "--template");

	if ((name == NULL) == (file == NULL))
		return pctl_refuse(app->call, PC10_USAGE,
				   "give --family or --template, one of them");
	return name != NULL ? pctl_template_named(name, app->call, out) : recognise(app, file, out);
}

static pctl_status read_messages(pctl_app *app, pctl_message **out, uint32_t *n_out)
{
	const char *word;
	uint32_t n = 0;

	while (pctl_option_at(&app->line, "--message", n) != NULL)
		n++;
	*n_out = n;
	*out = pctl_arena_array(app->arena, n, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(app->call, "messages");
	for (uint32_t i = 0; i < n; i++) {
		const char *equals;

		word = pctl_option_at(&app->line, "--message", i);
		equals = strchr(word, '=');
		if (equals == NULL)
			return pctl_refuse(app->call, PC10_USAGE,
					   "--message wants ROLE=TEXT, not \"%s\"", word);
		(*out)[i].role = pctl_arena_dup_n(app->arena, word, (size_t)(equals - word));
		(*out)[i].content = (pctl_token_text){equals + 1, strlen(equals + 1)};
		if ((*out)[i].role == NULL)
			return pctl_no_memory(app->call, "messages");
	}
	return PCTL_OK;
}

static pctl_status chat(pctl_app *app, const pctl_tokenizer *t)
{
	const uint32_t flags =
		(pctl_option_has(&app->line, "--no-prompt") ? 0 : PCTL_TEMPLATE_PROMPT) |
		(pctl_option_has(&app->line, "--no-thinking") ? PCTL_TEMPLATE_NO_THINKING : 0);
	const pctl_template *family = NULL;
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_token_ids ids = {0};
	pctl_message *messages = NULL;
	uint32_t n = 0;
	pctl_status status = choose_family(app, &family);

	if (status == PCTL_OK)
		status = read_messages(app, &messages, &n);
	if (status == PCTL_OK)
		status =
			pctl_option_has(&app->line, "--render")
				? pctl_template_render(family, messages, n, flags, app->call, &text)
				: pctl_template_encode(family, t, messages, n, flags, app->call,
						       &ids);
	if (status == PCTL_OK && app->json)
		pctl_json_kv_string(&app->document, "family", pctl_template_name(family));
	if (status == PCTL_OK && !pctl_option_has(&app->line, "--render"))
		print_ids(app, t, &ids);
	else if (status == PCTL_OK && app->json)
		pctl_json_kv_string(&app->document, "text", text.data);
	else if (status == PCTL_OK)
		fwrite(text.data, 1, text.n, stdout);
	pctl_str_drop(&text);
	free(ids.items);
	return status;
}

pctl_status pctl_verb_tokenizer_chat(pctl_app *app)
{
	pctl_tokenizer *t;
	pctl_status status = open_tokenizer(app, &t);

	if (status == PCTL_OK)
		status = chat(app, t);
	pctl_tokenizer_destroy(t);
	return status;
}

/* ---- train ---- */

static pctl_status read_training(pctl_app *app, pctl_tokenizer_training *out)
{
	static const char *const kinds[] = {"bpe", "llama", "unigram"};
	const char *kind = pctl_option_value(&app->line, "--kind"),
		   *size = pctl_option_value(&app->line, "--tokens");
	uint64_t n = 1000;
	uint32_t k = 0;

	while (kind != NULL && k < 3 && strcmp(kind, kinds[k]) != 0)
		k++;
	if (k == 3)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--kind wants bpe, llama or unigram, not \"%s\"", kind);
	if (size != NULL && (!pctl_num_parse_u64(size, strlen(size), &n) || n > UINT32_MAX))
		return pctl_refuse(app->call, PC10_USAGE, "--tokens wants a number, not \"%s\"",
				   size);
	out->kind = (pctl_tokenizer_kind)k;
	out->family = pctl_option_value(&app->line, "--family");
	if (out->family != NULL && out->kind != PCTL_TOKENIZER_BPE)
		return pctl_refuse(app->call, PC10_USAGE, "--family is one of --kind bpe alone");
	if (out->family == NULL)
		out->family = "gpt2";
	out->n_tokens = (uint32_t)n;
	out->fill = (uint32_t)pctl_option_has(&app->line, "--fill");
	return pctl_app_values(app, "--token", &out->special, &out->n_special);
}

static pctl_status train(pctl_app *app, pctl_token_text *texts)
{
	const char *path = pctl_option_value(&app->line, "--out");
	pctl_tokenizer_training training = {.texts = texts};
	pctl_tokenizer *t = NULL;
	char *text = NULL;
	size_t n = 0;
	pctl_status status = read_training(app, &training);

	if (status == PCTL_OK && path == NULL)
		status = pctl_refuse(app->call, PC10_USAGE, "give --out FILE");
	for (uint32_t i = 0; i < app->line.n_arguments && status == PCTL_OK; i++) {
		char *read = NULL;
		uint64_t n_read = 0;

		status = pctl_file_read(app->line.arguments[i], PCTL_TOKENIZER_TEXT_MAX, app->call,
					&read, &n_read);
		texts[i] = (pctl_token_text){read, (size_t)n_read};
		training.n_texts = i + 1;
	}
	if (status == PCTL_OK)
		status = pctl_tokenizer_train(&training, app->call, &t);
	if (status == PCTL_OK)
		status = pctl_tokenizer_write(t, app->call, &text, &n);
	if (status == PCTL_OK)
		status = pctl_file_write(path, text, n, 1, app->call);
	if (status == PCTL_OK && app->json)
		pctl_json_kv_u32(&app->document, "tokens", pctl_tokenizer_size(t));
	free(text);
	pctl_tokenizer_destroy(t);
	return status;
}

pctl_status pctl_verb_tokenizer_train(pctl_app *app)
{
	pctl_token_text *texts = calloc(app->line.n_arguments, sizeof(*texts));
	pctl_status status = texts == NULL ? pctl_no_memory(app->call, "texts") : train(app, texts);

	for (uint32_t i = 0; i < app->line.n_arguments && texts != NULL; i++)
		free((void *)(uintptr_t)texts[i].text);
	free(texts);
	return status;
}

/* ---- show ---- */

static void show_all(pctl_app *app, const pctl_tokenizer *t)
{
	static const char *const roles[PCTL_TOKEN_ROLES] = {[PCTL_TOKEN_BOS] = "bos",
							    [PCTL_TOKEN_EOS] = "eos",
							    [PCTL_TOKEN_PAD] = "pad",
							    [PCTL_TOKEN_UNK] = "unknown"};
	char classes[64], forms[64];
	const uint32_t n = pctl_tokenizer_size(t);

	pctl_tokenizer_unicode(classes, forms, sizeof(classes));
	if (app->json) {
		pctl_json_kv_string(&app->document, "kind", pctl_tokenizer_kind_name(t));
		pctl_json_kv_string(&app->document, "pre_tokenizer", pctl_tokenizer_pre_name(t));
		pctl_json_kv_u32(&app->document, "size", n);
		pctl_json_kv_string(&app->document, "unicode_classes", classes);
		pctl_json_kv_string(&app->document, "unicode_forms", forms);
	} else {
		printf("%s, pre-tokenizer %s, %" PRIu32 " ids\n", pctl_tokenizer_kind_name(t),
		       pctl_tokenizer_pre_name(t), n);
		printf("Unicode %s (classes of characters), %s (normal forms)\n", classes, forms);
	}
	for (uint32_t r = 0; r < PCTL_TOKEN_ROLES; r++) {
		const uint32_t id = pctl_tokenizer_role(t, (pctl_token_role)r);

		if (id == PCTL_TOKEN_NONE)
			continue;
		if (app->json)
			pctl_json_kv_u32(&app->document, roles[r], id);
		else
			printf("%-8s %" PRIu32 " %s\n", roles[r], id, shown(app, t, id));
	}
	if (app->json) {
		pctl_json_key(&app->document, "ends");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t id = 0; id < n; id++) {
		if (!pctl_tokenizer_ends(t, id))
			continue;
		if (app->json)
			pctl_json_u32(&app->document, id);
		else
			printf("%-8s %" PRIu32 " %s\n", "end", id, shown(app, t, id));
	}
	if (app->json)
		pctl_json_array_end(&app->document);
}

static pctl_status show_tokens(pctl_app *app, const pctl_tokenizer *t)
{
	static const pctl_column columns[] = {
		{"id", "", -10}, {"kind", " ", 10}, {"token", " ", 0}};
	static const char *const kinds[] = {
		[PCTL_TOKEN_HOLE] = "none",	  [PCTL_TOKEN_NORMAL] = "normal",
		[PCTL_TOKEN_UNKNOWN] = "unknown", [PCTL_TOKEN_SPECIAL] = "special",
		[PCTL_TOKEN_ADDED] = "added",	  [PCTL_TOKEN_BYTE] = "byte",
		[PCTL_TOKEN_UNUSED] = "unused"};
	pctl_token_ids ids = {0};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 1; i < app->line.n_arguments && status == PCTL_OK; i++)
		status = add_id(app, app->line.arguments[i], strlen(app->line.arguments[i]), &ids);
	if (status != PCTL_OK) {
		free(ids.items);
		return status;
	}
	pctl_app_list_begin(app, "tokens", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = 0; i < ids.n; i++) {
		pctl_token_text bytes;
		const char *kind = kinds[pctl_tokenizer_token(t, ids.items[i], &bytes)];

		if (app->json) {
			pctl_json_object_begin(&app->document);
			pctl_json_kv_u32(&app->document, "id", ids.items[i]);
			pctl_json_kv_string(&app->document, "kind", kind);
			pctl_json_kv_string(&app->document, "token", shown(app, t, ids.items[i]));
			pctl_json_object_end(&app->document);
		} else {
			pctl_table_cell(app->table, "%" PRIu32, ids.items[i]);
			pctl_table_cell(app->table, "%s", kind);
			pctl_table_cell(app->table, "%s", shown(app, t, ids.items[i]));
		}
	}
	free(ids.items);
	return pctl_app_list_end(app, PCTL_OK);
}

pctl_status pctl_verb_tokenizer_show(pctl_app *app)
{
	pctl_tokenizer *t;
	pctl_status status = open_tokenizer(app, &t);

	if (status == PCTL_OK && app->line.n_arguments > 1)
		status = show_tokens(app, t);
	else if (status == PCTL_OK)
		show_all(app, t);
	pctl_tokenizer_destroy(t);
	return status;
}
