/* Reading the parameters that are numbers, flags and short texts. */
#include <math.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/utf8.h"
#include "model/serve/params_private.h"

/* Whole numbers that a double has exactly, and that no other number is rounded to. */
#define WHOLE_MAX 9007199254740991.0

static int refuse_range(serve_reader *r, const char *name, const char *what, double least,
			double most)
{
	char from[32], to[32];

	pctl_num_print(from, sizeof(from), "%.16g", least);
	pctl_num_print(to, sizeof(to), "%.16g", most);
	return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name, "%s takes %s from %s to %s", name,
			    what, from, to);
}

int serve_value_whole(serve_reader *r, const char *name, const cJSON *v, double least, double most,
		      double *out)
{
	if (!cJSON_IsNumber(v) || !(v->valuedouble >= least) || !(v->valuedouble <= most) ||
	    floor(v->valuedouble) != v->valuedouble)
		return refuse_range(r, name, "a whole number", least, most);
	*out = v->valuedouble;
	return 1;
}

int serve_value_float(serve_reader *r, const char *name, const cJSON *v, double least, double most,
		      float *out)
{
	if (!cJSON_IsNumber(v) || !(v->valuedouble >= least) || !(v->valuedouble <= most))
		return refuse_range(r, name, "a number", least, most);
	*out = (float)v->valuedouble;
	return 1;
}

int serve_value_flag(serve_reader *r, const char *name, const cJSON *v, uint32_t *out)
{
	if (!cJSON_IsBool(v))
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name, "%s takes true or false",
				    name);
	*out = (uint32_t)cJSON_IsTrue(v);
	return 1;
}

static int read_u32(serve_reader *r, const char *name, const cJSON *v, double least, double most,
		    uint32_t *out)
{
	double d;

	if (!serve_value_whole(r, name, v, least, most, &d))
		return 0;
	*out = (uint32_t)d;
	return 1;
}

int serve_read_model(serve_reader *r, const char *name, const cJSON *v)
{
	if (!cJSON_IsString(v))
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name, "model takes a text");
	r->has_model = 1;
	if (strcmp(v->valuestring, r->engine->model_name) == 0)
		return 1;
	for (uint32_t i = 0; i < r->engine->n_adapters; i++)
		if (strcmp(v->valuestring, r->engine->adapters[i].name) == 0) {
			r->out->adapter = i + 1;
			return 1;
		}
	return serve_refuse(r->refusal, PC6261_SERVE_MODEL, name,
			    r->engine->n_adapters == 0
				    ? "there is no model \"%.100s\"; it is \"%s\""
				    : "there is no model \"%.100s\"; there are \"%s\" and its "
				      "adapters",
			    v->valuestring, r->engine->model_name);
}

/* Of max_tokens and max_completion_tokens, which mean the same, one may be given. */
int serve_read_max_tokens(serve_reader *r, const char *name, const cJSON *v)
{
	if (r->out->has_max_tokens)
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name,
				    "max_tokens and max_completion_tokens are both given");
	r->out->has_max_tokens = 1;
	return read_u32(r, name, v, r->call == SERVE_COMPLETIONS ? 0 : 1, r->engine->context,
			&r->out->max_tokens);
}

int serve_read_n(serve_reader *r, const char *name, const cJSON *v)
{
	return read_u32(r, name, v, 1, r->limits->choices, &r->out->n);
}

int serve_read_temperature(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_float(r, name, v, 0, 2, &r->out->sampling.temperature);
}

int serve_read_top_k(serve_reader *r, const char *name, const cJSON *v)
{
	return read_u32(r, name, v, 0, r->engine->n_vocab, &r->out->sampling.top_k);
}

int serve_read_top_p(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_float(r, name, v, 0, 1, &r->out->sampling.top_p);
}

int serve_read_min_p(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_float(r, name, v, 0, 1, &r->out->sampling.min_p);
}

int serve_read_repetition_penalty(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_float(r, name, v, 0.01, 100, &r->out->sampling.repetition_penalty);
}

int serve_read_presence_penalty(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_float(r, name, v, -2, 2, &r->out->sampling.presence_penalty);
}

int serve_read_frequency_penalty(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_float(r, name, v, -2, 2, &r->out->sampling.frequency_penalty);
}

/* Negative ones are their two's complement. */
int serve_read_seed(serve_reader *r, const char *name, const cJSON *v)
{
	double d;

	if (!serve_value_whole(r, name, v, -WHOLE_MAX, WHOLE_MAX, &d))
		return 0;
	r->out->sampling.seed = (uint64_t)(int64_t)d;
	return 1;
}

int serve_read_stream(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_flag(r, name, v, &r->out->stream);
}

int serve_read_stream_options(serve_reader *r, const char *name, const cJSON *v)
{
	const cJSON *member;

	if (!cJSON_IsObject(v))
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name, "%s takes an object",
				    name);
	r->out->has_stream_options = 1;
	cJSON_ArrayForEach(member, v)
	{
		if (strcmp(member->string, "include_usage") != 0)
			return serve_refuse(r->refusal, PC6262_SERVE_PARAMETER, name,
					    "stream_options has include_usage, and no \"%.60s\"",
					    member->string);
		if (!serve_value_flag(r, "stream_options.include_usage", member,
				      &r->out->include_usage))
			return 0;
	}
	return 1;
}

/* A number for completions, true or false for chats. */
int serve_read_logprobs(serve_reader *r, const char *name, const cJSON *v)
{
	if (r->call == SERVE_CHAT)
		return serve_value_flag(r, name, v, &r->out->sampling.logprobs);
	r->out->sampling.logprobs = 1;
	return read_u32(r, name, v, 0, PCTL_ENGINE_TOP_MAX, &r->out->sampling.n_top);
}

int serve_read_top_logprobs(serve_reader *r, const char *name, const cJSON *v)
{
	r->out->has_top_logprobs = 1;
	return read_u32(r, name, v, 0, PCTL_ENGINE_TOP_MAX, &r->out->sampling.n_top);
}

int serve_read_echo(serve_reader *r, const char *name, const cJSON *v)
{
	return serve_value_flag(r, name, v, &r->out->echo);
}

int serve_read_encoding_format(serve_reader *r, const char *name, const cJSON *v)
{
	if (!cJSON_IsString(v) ||
	    (strcmp(v->valuestring, "float") != 0 && strcmp(v->valuestring, "base64") != 0))
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name,
				    "encoding_format takes \"float\" or \"base64\"");
	r->out->base64 = v->valuestring[0] == 'b';
	return 1;
}

/* Embeddings are not cut: the width that the model has is what may be asked for. */
int serve_read_dimensions(serve_reader *r, const char *name, const cJSON *v)
{
	double d;

	if (!serve_value_whole(r, name, v, 1, WHOLE_MAX, &d))
		return 0;
	return d == r->engine->n_embd ||
	       serve_refuse(r->refusal, PC6263_SERVE_UNSUPPORTED, name,
			    "embeddings have %u dimensions and are not cut to others",
			    r->engine->n_embd);
}

/* Told in the log. */
int serve_read_user(serve_reader *r, const char *name, const cJSON *v)
{
	const size_t n = cJSON_IsString(v) ? strlen(v->valuestring) : 0;

	if (n == 0 || n > SERVE_USER_BYTES ||
	    pctl_utf8_bad(v->valuestring, n, PCTL_UTF8_PLAIN) != n)
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, name,
				    "user takes a text of 1 to %u bytes without control characters",
				    SERVE_USER_BYTES);
	r->out->user = pctl_arena_dup(r->arena, v->valuestring);
	return r->out->user != NULL || serve_refuse(r->refusal, PC2_NOMEM, NULL, "no memory");
}
