/* Opening the model that the command line names; see model.h. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain.h"
#include "foundation/base/num.h"

#define USUAL_CHUNK 64u
#define USUAL_SINGLES 16u /* where nobody asks for chunks */

void pctl_app_fact_size(pctl_app *app, const char *name, uint64_t v)
{
	if (app->json)
		pctl_json_kv_u64(&app->document, name, v);
	else
		printf("  %-14s %" PRIu64 "\n", name, v);
}

void pctl_app_fact_number(pctl_app *app, const char *name, double v)
{
	if (app->json) {
		pctl_json_key(&app->document, name);
		pctl_json_double(&app->document, v);
	} else {
		printf("  %-14s %.9g\n", name, v);
	}
}

void pctl_app_fact_word(pctl_app *app, const char *name, const char *v)
{
	if (app->json)
		pctl_json_kv_string(&app->document, name, v);
	else
		printf("  %-14s %s\n", name, v);
}

/* What stands behind the last `mark` of a text as a scale; 1 where there is no mark. */
static pctl_status scale_of(pctl_app *app, const char *text, char mark, size_t *n, float *out)
{
	const char *at = strrchr(text, mark);
	char *end = NULL;
	double v;

	*n = at == NULL ? strlen(text) : (size_t)(at - text);
	*out = 1;
	if (at == NULL)
		return PCTL_OK;
	v = pctl_num_parse_double(at + 1, &end);
	if (at[1] == '\0' || *end != '\0' || !(v >= -1e6 && v <= 1e6))
		return pctl_refuse_at(
			app->call, PC10_USAGE, NULL,
			mark == '=' ? "a file with = in its name has its scale behind it: FILE=1"
				    : "a file with a comma in its name has its scale behind it: "
				      "NAME=FILE,1",
			"--lora: \"%s\" is no scale from -1e6 to 1e6", at + 1);
	*out = (float)v;
	return PCTL_OK;
}

pctl_status pctl_app_loras(pctl_app *app, uint32_t form, pctl_engine_lora **out, uint32_t *n_out)
{
	pctl_engine_lora *all = pctl_arena_array(app->arena, app->line.n_given + 1u, sizeof(*all));
	pctl_status status = PCTL_OK;
	const char *text;
	size_t n;

	*out = all;
	*n_out = 0;
	if (all == NULL)
		return pctl_no_memory(app->call, "adapters");
	while (status == PCTL_OK && form != PCTL_LORAS_NONE &&
	       (text = pctl_option_at(&app->line, "--lora", *n_out)) != NULL) {
		pctl_engine_lora *l = &all[(*n_out)++];
		const char *equals = strchr(text, '=');

		if (form == PCTL_LORAS_NAMED) {
			if (equals == NULL || equals == text || equals[1] == '\0')
				return pctl_refuse(app->call, PC10_USAGE,
						   "--lora wants NAME=FILE[,SCALE], not \"%s\"",
						   text);
			l->name = pctl_arena_dup_n(app->arena, text, (size_t)(equals - text));
			text = equals + 1;
		}
		status = scale_of(app, text, form == PCTL_LORAS_NAMED ? ',' : '=', &n, &l->by);
		l->path = pctl_arena_dup_n(app->arena, text, n);
		if (status == PCTL_OK && n == 0)
			status = pctl_refuse(app->call, PC10_USAGE, "--lora names no file");
	}
	return status == PCTL_OK && pctl_arena_failed(app->arena)
		       ? pctl_no_memory(app->call, "adapters")
		       : status;
}

pctl_status pctl_app_model_engine(pctl_app *app, uint64_t slots, uint32_t loras,
				  pctl_model_engine **out)
{
	pctl_engine_lora *adapters = NULL;
	pctl_model_engine_options o = {.model = pctl_option_value(&app->line, "--model"),
				       .tokenizer = pctl_option_value(&app->line, "--tokenizer"),
				       .family = pctl_option_value(&app->line, "--family"),
				       .slots = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots};
	uint64_t chunk, context = 0;
	pctl_status status = pctl_app_number(app, "--chunk", USUAL_CHUNK, &chunk);

	*out = NULL;
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--context", 0, &context);
	if (status == PCTL_OK && o.model == NULL)
		status = pctl_refuse(app->call, PC10_USAGE, "--model FILE says which model");
	if (status == PCTL_OK)
		status = pctl_app_run_request(app, &o.request);
	if (status == PCTL_OK)
		status = pctl_app_loras(app, loras, &adapters, &o.n_loras);
	o.loras = adapters;
	o.singles = pctl_option_has(&app->line, "--chunk") ? 0 : USUAL_SINGLES;
	o.chunk = chunk > UINT32_MAX ? UINT32_MAX : (uint32_t)chunk;
	o.context = context > UINT32_MAX ? UINT32_MAX : (uint32_t)context;
	return status == PCTL_OK ? pctl_model_engine_open(&app->host, &o, app->call, out) : status;
}
