/* The readers of parameters, each for one value that is not null: 1, or 0 when it was refused. */
#ifndef PIPECTL_MODEL_SERVE_PARAMS_PRIVATE_H
#define PIPECTL_MODEL_SERVE_PARAMS_PRIVATE_H

#include <cjson/cJSON.h>

#include "model/serve/request.h"

typedef struct serve_reader {
	uint32_t call, has_model;
	const pctl_engine *engine;
	const pctl_serve_limits *limits;
	pctl_arena *arena;
	serve_params *out;
	serve_refusal *refusal;
} serve_reader;

int serve_read_model(serve_reader *r, const char *name, const cJSON *v);
int serve_read_prompt(serve_reader *r, const char *name, const cJSON *v);
int serve_read_messages(serve_reader *r, const char *name, const cJSON *v);
int serve_read_max_tokens(serve_reader *r, const char *name, const cJSON *v);
int serve_read_n(serve_reader *r, const char *name, const cJSON *v);
int serve_read_temperature(serve_reader *r, const char *name, const cJSON *v);
int serve_read_top_k(serve_reader *r, const char *name, const cJSON *v);
int serve_read_top_p(serve_reader *r, const char *name, const cJSON *v);
int serve_read_min_p(serve_reader *r, const char *name, const cJSON *v);
int serve_read_repetition_penalty(serve_reader *r, const char *name, const cJSON *v);
int serve_read_presence_penalty(serve_reader *r, const char *name, const cJSON *v);
int serve_read_frequency_penalty(serve_reader *r, const char *name, const cJSON *v);
int serve_read_seed(serve_reader *r, const char *name, const cJSON *v);
int serve_read_stop(serve_reader *r, const char *name, const cJSON *v);
int serve_read_stream(serve_reader *r, const char *name, const cJSON *v);
int serve_read_stream_options(serve_reader *r, const char *name, const cJSON *v);
int serve_read_logprobs(serve_reader *r, const char *name, const cJSON *v);
int serve_read_top_logprobs(serve_reader *r, const char *name, const cJSON *v);
int serve_read_echo(serve_reader *r, const char *name, const cJSON *v);
int serve_read_encoding_format(serve_reader *r, const char *name, const cJSON *v);
int serve_read_dimensions(serve_reader *r, const char *name, const cJSON *v);
int serve_read_user(serve_reader *r, const char *name, const cJSON *v);

/* What they share: a whole number, a number, true or false, from least to most. */
int serve_value_whole(serve_reader *r, const char *name, const cJSON *v, double least, double most,
		      double *out);
int serve_value_float(serve_reader *r, const char *name, const cJSON *v, double least, double most,
		      float *out);
int serve_value_flag(serve_reader *r, const char *name, const cJSON *v, uint32_t *out);

#endif
