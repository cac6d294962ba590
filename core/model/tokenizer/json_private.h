/* What the readers of the parts of a tokenizer.json share. */
#ifndef PIPECTL_MODEL_TOKENIZER_JSON_PRIVATE_H
#define PIPECTL_MODEL_TOKENIZER_JSON_PRIVATE_H

#include <cjson/cJSON.h>

#include "model/tokenizer/private.h"

typedef struct json_reader {
	pctl_tokenizer *t;
	const char *name;
	const pctl_call *call;
	int decoder_bytes; /* the decoder is that of bytes */
} json_reader;

/* A document of n bytes, of UTF-8 without U+0000; the caller deletes it. */
pctl_status json_parse(const char *name, const char *text, size_t n, const pctl_call *call,
		       cJSON **out);
/* PC7001: `path` is not what the format demands; PC7002: it asks for something that is not known here. */
pctl_status json_malformed(const json_reader *r, const char *path, const char *what);
pctl_status json_unknown(const json_reader *r, const char *path, const char *what,
			 const char *value);
/* An object whose keys are all among `keys` ("type content", blanks between), none twice. */
pctl_status json_object(const json_reader *r, const char *path, const cJSON *j, const char *keys);
/* The "type" of an object; NULL: it has none. */
const char *json_type(const cJSON *j);
const cJSON *json_get(const cJSON *j, const char *key); /* NULL for null, too */
/* true or false, `missing` where there is neither key nor value. */
pctl_status json_bool(const json_reader *r, const char *path, const cJSON *j, const char *key,
		      int missing, int *out);
/* A whole number below 2^32 - 1. 0: it is none. */
int json_id(const cJSON *j, uint32_t *out);
int json_is(const cJSON *j, const char *text); /* a string that says so */

/* normalizer, pre_tokenizer, decoder (json_parts.c); post_processor (json_post.c), which names tokens; model and added_tokens
 * (json_model.c). */
pctl_status json_normalizer(json_reader *r, const cJSON *j);
pctl_status json_pre_tokenizer(json_reader *r, const cJSON *j);
pctl_status json_decoder(json_reader *r, const cJSON *j);
pctl_status json_post_processor(json_reader *r, const cJSON *j);
pctl_status json_model(json_reader *r, const cJSON *j, const cJSON *added);

#endif
