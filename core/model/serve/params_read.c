/* A body to parameters: JSON, names, values. Every name is one of params.def or refused. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "foundation/base/json_read.h"
#include "model/serve/params_private.h"

#define DEPTH_MAX 32u
#define NAMES_MAX 64u

typedef struct known {
	const char *name;
	uint32_t calls;
	int (*read)(serve_reader *r, const char *name, const cJSON *v);
} known;

typedef struct unsupported {
	const char *name;
	uint32_t calls;
	const char *neutral;
} unsupported;

static const known params[] = {
#define SERVE_PARAM(name, calls, read) {name, calls, serve_##read},
#include "model/serve/params.def"
#undef SERVE_PARAM
};
static const unsupported refused[] = {
#define SERVE_UNSUPPORTED(name, calls, neutral) {name, calls, neutral},
#include "model/serve/params.def"
#undef SERVE_UNSUPPORTED
};
#define N_PARAMS (sizeof(params) / sizeof(params[0]))
#define N_REFUSED (sizeof(refused) / sizeof(refused[0]))

/* Depth, and names that stand twice in an object. */
static int is_plain(serve_reader *r, const cJSON *v, uint32_t depth)
{
	const cJSON *a, *b;

	if (depth > DEPTH_MAX)
		return serve_refuse(r->refusal, PC6260_SERVE_JSON, NULL,
				    "it is nested deeper than %u", DEPTH_MAX);
	if (cJSON_IsObject(v) && cJSON_GetArraySize(v) > (int)NAMES_MAX)
		return serve_refuse(r->refusal, PC6260_SERVE_JSON, NULL,
				    "an object has more than %u names", NAMES_MAX);
	cJSON_ArrayForEach(a, v)
	{
		if (cJSON_IsObject(v)) {
			for (b = a->next; b != NULL; b = b->next)
				if (strcmp(a->string, b->string) == 0)
					return serve_refuse(r->refusal, PC6260_SERVE_JSON, NULL,
							    "\"%.60s\" stands twice in an object",
							    a->string);
		}
		if ((cJSON_IsObject(a) || cJSON_IsArray(a)) && !is_plain(r, a, depth + 1))
			return 0;
	}
	return 1;
}

static cJSON *parse(serve_reader *r, const char *body, size_t n)
{
	const char *why;
	size_t bad;
	cJSON *json;

	if (!pctl_json_good(body, n, &bad, &why)) {
		(void)serve_refuse(r->refusal, PC6260_SERVE_JSON, NULL, "byte %zu: %s", bad, why);
		return NULL;
	}
	json = cJSON_ParseWithLength(body, n);
	if (json == NULL)
		(void)serve_refuse(r->refusal, PC2_NOMEM, NULL, "no memory for the request");
	else if (!cJSON_IsObject(json))
		(void)serve_refuse(r->refusal, PC6260_SERVE_JSON, NULL, "it is not an object");
	else if (is_plain(r, json, 1))
		return json;
	cJSON_Delete(json);
	return NULL;
}

/* Names of OpenAI's that change nothing as they are given. */
static int check_unsupported(serve_reader *r, const unsupported *u, const cJSON *v)
{
	cJSON *neutral = u->neutral == NULL ? NULL : cJSON_Parse(u->neutral);
	const int same = neutral != NULL && cJSON_Compare(neutral, v, 1);

	cJSON_Delete(neutral);
	if (same)
		return 1;
	return serve_refuse(r->refusal, PC6263_SERVE_UNSUPPORTED, u->name,
			    "%s is not supported%s%s", u->name,
			    u->neutral == NULL ? "" : "; what changes nothing is ",
			    u->neutral == NULL ? "" : u->neutral);
}

static int refuse_name(serve_reader *r, const char *name)
{
	const char *names[N_PARAMS];
	uint32_t n = 0;
	const char *near;

	for (size_t i = 0; i < N_PARAMS; i++)
		if (params[i].calls & r->call)
			names[n++] = params[i].name;
	near = pctl_str_nearest(name, names, n);
	return serve_refuse(r->refusal, PC6262_SERVE_PARAMETER, name,
			    "this call has no parameter \"%.60s\"%s%s%s", name,
			    near == NULL ? "" : "; did you mean \"", near == NULL ? "" : near,
			    near == NULL ? "" : "\"?");
}

static int read_member(serve_reader *r, const cJSON *v)
{
	for (size_t i = 0; i < N_PARAMS; i++) {
		if (!(params[i].calls & r->call) || strcmp(params[i].name, v->string) != 0)
			continue;
		return cJSON_IsNull(v) || params[i].read(r, v->string, v);
	}
	for (size_t i = 0; i < N_REFUSED; i++) {
		if ((refused[i].calls & r->call) && strcmp(refused[i].name, v->string) == 0)
			return cJSON_IsNull(v) || check_unsupported(r, &refused[i], v);
	}
	return refuse_name(r, v->string);
}

/* What must be there, and what goes only with another. */
static int check_whole(serve_reader *r)
{
	serve_params *p = r->out;
	const char *what = r->call == SERVE_CHAT	 ? "messages"
			   : r->call == SERVE_EMBEDDINGS ? "input"
							 : "prompt";

	if (!r->has_model)
		return serve_refuse(r->refusal, PC6265_SERVE_MISSING, "model",
				    "model is missing; it is \"%s\"", r->engine->model_name);
	if (p->n_prompts == 0 && p->n_messages == 0)
		return serve_refuse(r->refusal, PC6265_SERVE_MISSING, what, "%s is missing", what);
	if (p->has_stream_options && !p->stream)
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, "stream_options",
				    "stream_options goes with stream = true alone");
	if (p->has_top_logprobs && !p->sampling.logprobs)
		return serve_refuse(r->refusal, PC6264_SERVE_VALUE, "top_logprobs",
				    "top_logprobs goes with logprobs = true alone");
	if (p->echo && p->sampling.logprobs)
		return serve_refuse(r->refusal, PC6263_SERVE_UNSUPPORTED, "logprobs",
				    "logprobs of a prompt that is echoed are not supported");
	if (r->call == SERVE_COMPLETIONS && !p->has_max_tokens)
		p->max_tokens = 16;
	return 1;
}

int serve_params_read(uint32_t call, const char *body, size_t n, const pctl_engine *engine,
		      const pctl_serve_limits *limits, pctl_arena *arena, serve_params *out,
		      serve_refusal *refusal)
{
	serve_reader r = {.call = call,
			  .engine = engine,
			  .limits = limits,
			  .arena = arena,
			  .out = out,
			  .refusal = refusal};
	cJSON *json;
	const cJSON *v;
	int fine = 1;

	*out = (serve_params){.n = 1};
	out->sampling =
		(pctl_engine_sampling){.temperature = 1, .top_p = 1, .repetition_penalty = 1};
	*refusal = (serve_refusal){.code = 0};
	json = parse(&r, body, n);
	if (json == NULL)
		return 0;
	for (v = json->child; fine && v != NULL; v = v->next)
		fine = read_member(&r, v);
	cJSON_Delete(json);
	return fine && check_whole(&r);
}
