/* tokenizer.json, read: normalizer, pre_tokenizer and decoder, as far as the families that are known here use them. */
#include <string.h>

#include "model/tokenizer/json_private.h"

/* {"String": TEXT} */
static int is_string_pattern(const cJSON *j, const char *text)
{
	return cJSON_IsObject(j) && cJSON_GetArraySize(j) == 1 &&
	       json_is(json_get(j, "String"), text);
}

/* ---- normalizer ---- */

static pctl_status add_normal(json_reader *r, normal_kind kind)
{
	if (r->t->n_normals == NORMALS_MAX)
		return json_malformed(r, "normalizer", "more than 8 steps");
	r->t->normals[r->t->n_normals++] = kind;
	return PCTL_OK;
}

static pctl_status normal_sequence(json_reader *r, const cJSON *j)
{
	const cJSON *list = json_get(j, "normalizers"), *item;
	pctl_status status = json_object(r, "normalizer", j, "type normalizers");

	if (status == PCTL_OK && !cJSON_IsArray(list))
		return json_malformed(r, "normalizer", "a Sequence without normalizers");
	cJSON_ArrayForEach(item, list)
	{
		if (status == PCTL_OK)
			status = json_normalizer(r, item);
	}
	return status;
}

pctl_status json_normalizer(json_reader *r, const cJSON *j)
{
	static const struct {
		const char *type;
		normal_kind kind;
	} forms[] = {{"NFC", NORMAL_NFC}, {"NFKC", NORMAL_NFKC}, {"Lowercase", NORMAL_LOWERCASE}};
	const char *type = json_type(j);
	pctl_status status;

	if (j == NULL)
		return PCTL_OK;
	if (type == NULL)
		return json_malformed(r, "normalizer", "it has no type");
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (strcmp(type, forms[i].type) == 0) {
			status = json_object(r, "normalizer", j, "type");
			return status == PCTL_OK ? add_normal(r, forms[i].kind) : status;
		}
	if (strcmp(type, "Sequence") == 0)
		return normal_sequence(r, j);
	if (strcmp(type, "Prepend") == 0) {
		status = json_object(r, "normalizer", j, "type prepend");
		if (status == PCTL_OK && !json_is(json_get(j, "prepend"), SPACE_MARK))
			status = json_unknown(r, "normalizer", "a Prepend of anything but",
					      SPACE_MARK);
		return status == PCTL_OK ? add_normal(r, NORMAL_PREPEND) : status;
	}
	if (strcmp(type, "Replace") == 0) {
		status = json_object(r, "normalizer", j, "type pattern content");
		if (status == PCTL_OK && (!is_string_pattern(json_get(j, "pattern"), " ") ||
					  !json_is(json_get(j, "content"), SPACE_MARK)))
			status = json_unknown(r, "normalizer",
					      "a Replace of anything but blanks by", SPACE_MARK);
		return status == PCTL_OK ? add_normal(r, NORMAL_SPACES) : status;
	}
	return json_unknown(r, "normalizer", "the type", type);
}

/* ---- pre_tokenizer ---- */

static pctl_status byte_level(json_reader *r, const cJSON *j)
{
	int before, expression, offsets;
	pctl_status status =
		json_object(r, "pre_tokenizer", j, "type add_prefix_space trim_offsets use_regex");

	if (status == PCTL_OK)
		status = json_bool(r, "pre_tokenizer", j, "add_prefix_space", 1, &before);
	if (status == PCTL_OK)
		status = json_bool(r, "pre_tokenizer", j, "use_regex", 1, &expression);
	/* Offsets are not given here, so that it does not matter how they are trimmed. */
	if (status == PCTL_OK)
		status = json_bool(r, "pre_tokenizer", j, "trim_offsets", 1, &offsets);
	if (status != PCTL_OK)
		return status;
	if (r->t->byte_level)
		return json_malformed(r, "pre_tokenizer", "ByteLevel twice");
	if (r->t->split != NULL && (expression || before))
		return json_unknown(r, "pre_tokenizer", "behind a Split a ByteLevel with",
				    expression ? "use_regex" : "add_prefix_space");
	if (r->t->split == NULL && !expression)
		return json_unknown(r, "pre_tokenizer", "ByteLevel alone without", "use_regex");
	r->t->byte_level = 1;
	r->t->space_before = before;
	for (uint32_t i = 0; expression && split_rule_at(i) != NULL; i++)
		if (split_rule_at(i)->in_byte_level)
			r->t->split = split_rule_at(i);
	return PCTL_OK;
}

static pctl_status split(json_reader *r, const cJSON *j)
{
	const cJSON *pattern = json_get(j, "pattern"), *expression;
	int invert;
	pctl_status status = json_object(r, "pre_tokenizer", j, "type pattern behavior invert");

	if (status == PCTL_OK)
		status = json_bool(r, "pre_tokenizer", j, "invert", 0, &invert);
	if (status != PCTL_OK)
		return status;
	if (invert)
		return json_unknown(r, "pre_tokenizer", "a Split with", "invert");
	if (is_string_pattern(pattern, " ") &&
	    json_is(json_get(j, "behavior"), "MergedWithPrevious")) {
		/* Gemma's: normalisation has left no blank, or it would mean something. */
		for (uint32_t i = 0; i < r->t->n_normals; i++)
			r->t->split_spaces |= r->t->normals[i] == NORMAL_SPACES;
		return r->t->split_spaces ? PCTL_OK
					  : json_unknown(r, "pre_tokenizer", "a Split at", " ");
	}
	expression = json_get(pattern, "Regex");
	if (!cJSON_IsString(expression) || cJSON_GetArraySize(pattern) != 1 ||
	    !json_is(json_get(j, "behavior"), "Isolated"))
		return json_unknown(r, "pre_tokenizer",
				    "a Split with another pattern or behavior than",
				    "Regex, Isolated");
	if (r->t->split != NULL)
		return json_unknown(r, "pre_tokenizer", "more than one", "Split");
	r->t->split = split_rule_of(expression->valuestring);
	return r->t->split != NULL ? PCTL_OK
				   : json_unknown(r, "pre_tokenizer", "the expression",
						  expression->valuestring);
}

/* Of a pre_tokenizer or a decoder: which prefix it means. */
static pctl_status metaspace(const json_reader *r, const char *path, const cJSON *j,
			     prefix_kind *out, int *split_out)
{
	const cJSON *scheme = json_get(j, "prepend_scheme");
	int prefix;
	pctl_status status = json_object(
		r, path, j, "type replacement str_rep add_prefix_space prepend_scheme split");

	if (status == PCTL_OK)
		status = json_bool(r, path, j, "add_prefix_space", 1, &prefix);
	if (status == PCTL_OK)
		status = json_bool(r, path, j, "split", 1, split_out);
	if (status != PCTL_OK)
		return status;
	if (!json_is(json_get(j, "replacement"), SPACE_MARK) ||
	    (json_get(j, "str_rep") != NULL && !json_is(json_get(j, "str_rep"), SPACE_MARK)))
		return json_unknown(r, path, "a Metaspace by anything but", SPACE_MARK);
	*out = prefix ? PREFIX_ALWAYS : PREFIX_NEVER;
	if (scheme == NULL)
		return PCTL_OK;
	*out = json_is(scheme, "always")  ? PREFIX_ALWAYS
	       : json_is(scheme, "first") ? PREFIX_FIRST
					  : PREFIX_NEVER;
	if (*out == PREFIX_NEVER && !json_is(scheme, "never"))
		return json_malformed(r, path, "prepend_scheme is none of always, first, never");
	if (!prefix && *out != PREFIX_NEVER)
		return json_malformed(r, path, "add_prefix_space and prepend_scheme disagree");
	return PCTL_OK;
}

static pctl_status pre_sequence(json_reader *r, const cJSON *j)
{
	const cJSON *list = json_get(j, "pretokenizers"), *item;
	pctl_status status = json_object(r, "pre_tokenizer", j, "type pretokenizers");

	if (status == PCTL_OK && !cJSON_IsArray(list))
		return json_malformed(r, "pre_tokenizer", "a Sequence without pretokenizers");
	cJSON_ArrayForEach(item, list)
	{
		if (status == PCTL_OK && (r->t->byte_level || r->t->metaspace))
			return json_unknown(r, "pre_tokenizer", "anything behind",
					    r->t->byte_level ? "ByteLevel" : "Metaspace");
		if (status == PCTL_OK && json_type(item) != NULL &&
		    strcmp(json_type(item), "Sequence") == 0)
			return json_unknown(r, "pre_tokenizer", "within a Sequence a", "Sequence");
		if (status == PCTL_OK)
			status = json_pre_tokenizer(r, item);
	}
	return status;
}

pctl_status json_pre_tokenizer(json_reader *r, const cJSON *j)
{
	const char *type = json_type(j);

	if (j == NULL)
		return PCTL_OK;
	if (type == NULL)
		return json_malformed(r, "pre_tokenizer", "it has no type");
	if (strcmp(type, "ByteLevel") == 0)
		return byte_level(r, j);
	if (strcmp(type, "Split") == 0)
		return split(r, j);
	if (strcmp(type, "Sequence") == 0)
		return pre_sequence(r, j);
	if (strcmp(type, "Metaspace") == 0) {
		if (r->t->split != NULL || r->t->split_spaces)
			return json_unknown(r, "pre_tokenizer", "behind a Split a", type);
		r->t->metaspace = 1;
		return metaspace(r, "pre_tokenizer", j, &r->t->prefix, &r->t->metaspace_split);
	}
	return json_unknown(r, "pre_tokenizer", "the type", type);
}

/* ---- decoder ---- */

/* One of those that together make space marks blanks and byte tokens bytes, which is always done. */
static pctl_status space_decoder(json_reader *r, const cJSON *j)
{
	const char *type = json_type(j);
	prefix_kind prefix;
	pctl_status status;
	uint32_t n = 0;
	int whole;

	if (type == NULL)
		return json_malformed(r, "decoder", "it has no type");
	if (strcmp(type, "ByteFallback") == 0 || strcmp(type, "Fuse") == 0)
		return json_object(r, "decoder", j, "type");
	if (strcmp(type, "Replace") == 0) {
		status = json_object(r, "decoder", j, "type pattern content");
		if (status == PCTL_OK && (!is_string_pattern(json_get(j, "pattern"), SPACE_MARK) ||
					  !json_is(json_get(j, "content"), " ")))
			status =
				json_unknown(r, "decoder", "a Replace of anything but", SPACE_MARK);
		return status;
	}
	if (strcmp(type, "Strip") == 0) {
		status = json_object(r, "decoder", j, "type content start stop");
		if (status == PCTL_OK &&
		    (!json_is(json_get(j, "content"), " ") || !json_id(json_get(j, "start"), &n) ||
		     n != 1 || !json_id(json_get(j, "stop"), &n) || n != 0))
			status = json_unknown(r, "decoder", "a Strip of anything but",
					      "one blank before");
		r->t->strip = 1;
		return status;
	}
	if (strcmp(type, "Metaspace") == 0) {
		status = metaspace(r, "decoder", j, &prefix, &whole);
		if (status == PCTL_OK && prefix != PREFIX_NEVER)
			r->t->strip = 1;
		return status;
	}
	return json_unknown(r, "decoder", "the type", type);
}

pctl_status json_decoder(json_reader *r, const cJSON *j)
{
	const char *type = json_type(j);
	const cJSON *list, *item;
	int ignored;
	pctl_status status;

	if (j == NULL)
		return json_malformed(r, "decoder", "there is none");
	if (type != NULL && strcmp(type, "ByteLevel") == 0) {
		status = json_object(r, "decoder", j,
				     "type add_prefix_space trim_offsets use_regex");
		r->decoder_bytes = 1;
		/* Bytes are bytes, whatever these say. */
		return status == PCTL_OK ? json_bool(r, "decoder", j, "use_regex", 1, &ignored)
					 : status;
	}
	if (type == NULL || strcmp(type, "Sequence") != 0)
		return space_decoder(r, j);
	list = json_get(j, "decoders");
	status = json_object(r, "decoder", j, "type decoders");
	if (status == PCTL_OK && !cJSON_IsArray(list))
		return json_malformed(r, "decoder", "a Sequence without decoders");
	cJSON_ArrayForEach(item, list)
	{
		if (status == PCTL_OK)
			status = space_decoder(r, item);
	}
	return status;
}
