/* What the readers of config.json share. */
#ifndef PIPECTL_MODEL_FILE_CONFIG_PRIVATE_H
#define PIPECTL_MODEL_FILE_CONFIG_PRIVATE_H

#include <cjson/cJSON.h>

#include "model/file/private.h"

typedef struct config_reader {
	pctl_model *m;
	const cJSON *json;
	model_faults *f;
} config_reader;

/* NULL where there is none; null is as good as nothing. */
const cJSON *config_item(const cJSON *of, const char *name);
/* A number of an object; where the key is not there `otherwise`, NAN: it has to be. */
double config_number(const config_reader *r, const cJSON *of, const char *name, double otherwise);
/* The same of an integer; UINT64_MAX: it has to be. */
uint64_t config_integer(const config_reader *r, const cJSON *of, const char *name,
			uint64_t otherwise);
/* JSON for a message, cut. */
const char *config_shown(const cJSON *j, char out[64]);
/* 1: it has no more names than it can have: each is looked for among the others. 0: it has, which is told by `code`. */
int config_few(model_faults *f, uint32_t code, const cJSON *object);
/* One of the values that `values` lists, as JSON without blanks within, parted by blanks. */
int config_is_one_of(const cJSON *j, const char *values);
int config_among(const char *name, const char *const *names, size_t n);

/* config_rope.c: base, scaling and its numbers. */
void config_rope(const config_reader *r);

#endif
