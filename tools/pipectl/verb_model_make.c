/* Verbs over models that make something: synth, convert, pipeline. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "foundation/base/num.h"
#include "model/convert/convert.h"
#include "model/pipeline/pipeline.h"
#include "model/synth/adapter.h"
#include "model/synth/synth.h"

#define CONTEXT \
	4096u /* positions, where nothing is said: keys and values of more take memory that few want to give */

/* A number behind an option; what is there stays where it is not given. */
static pctl_status number(pctl_app *app, const char *option, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, option);

	if (text == NULL || pctl_num_parse_u64(text, strlen(text), out))
		return PCTL_OK;
	return pctl_refuse(app->call, PC10_USAGE, "%s wants a number, not \"%s\"", option, text);
}

static pctl_status bytes(pctl_app *app, const char *option, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, option);

	if (text == NULL || pctl_num_parse_bytes(text, strlen(text), out))
		return PCTL_OK;
	return pctl_refuse(app->call, PC10_USAGE, "%s wants a size, as 4GiB, not \"%s\"", option,
			   text);
}

static const char *weight_types(const pctl_app *app)
{
	const char *known = "there are ";
	const pctl_dtype *t;

	for (uint32_t i = 0, n = 0; known != NULL && (t = pctl_dtype_row(i)) != NULL; i++)
		if (pctl_model_dtype_good(t))
			known = pctl_arena_printf(app->arena, "%s%s%s", known, n++ == 0 ? "" : ", ",
						  t->name);
	return known;
}

/* --type: an element type of weights. */
static pctl_status weights(pctl_app *app, uint32_t *out)
{
	const char *text = pctl_option_value(&app->line, "--type");
	const pctl_dtype *t = text == NULL ? NULL : pctl_dtype_named(text, strlen(text));

	if (text == NULL)
		return PCTL_OK;
	if (t == NULL || !pctl_model_dtype_good(t))
		return pctl_refuse_at(app->call, PC10_USAGE, NULL, weight_types(app),
				      "--type: weights cannot be \"%s\"", text);
	*out = t->id;
	return PCTL_OK;
}

static pctl_status written(pctl_app *app, const char *path)
{
	if (app->json)
		pctl_json_kv_string(&app->document, "file", path);
	else if (!app->quiet)
		printf("%s\n", path);
	return PCTL_OK;
}

/* ---- synth ---- */

static pctl_status sizes(pctl_app *app, pctl_model_shape *s)
{
	const char *names[32], *near;
	pctl_setting *set;
	uint32_t n, k = 0;
	uint64_t v;
	pctl_status status = number(app, "--layers", &s->n_layers);

	if (status == PCTL_OK)
		status = number(app, "--vocab", &s->n_vocab);
	if (status == PCTL_OK)
		status = number(app, "--context", &s->n_context);
	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--set", &set, &n);
	while (k < 32 && (names[k] = pctl_synth_size_name(k)) != NULL)
		k++;
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		if (!pctl_num_parse_u64(set[i].value, strlen(set[i].value), &v))
			status = pctl_refuse(app->call, PC10_USAGE,
					     "--set %s wants a number, not \"%s\"", set[i].name,
					     set[i].value);
		else if (!pctl_synth_set(s, set[i].name, v)) {
			near = pctl_str_nearest(set[i].name, names, k);
			status = pctl_refuse_at(
				app->call, PC10_USAGE, NULL,
				near == NULL ? "n_embd, n_heads, n_ff and the like"
					     : pctl_arena_printf(app->arena, "did you mean \"%s\"?",
								 near),
				"--set: a model has no size \"%s\"", set[i].name);
		}
	}
	return status;
}

/* --target: what the adapter is for, by the roles' names. */
static pctl_status targets(pctl_app *app, const pctl_model_role **out, uint32_t *n)
{
	pctl_model_role *roles =
		pctl_arena_array(app->arena, app->line.n_given + 1u, sizeof(*roles));
	const char *text;

	*out = roles;
	*n = 0;
	if (roles == NULL)
		return pctl_no_memory(app->call, "options");
	while ((text = pctl_option_at(&app->line, "--target", *n)) != NULL) {
		uint32_t i = 0;

		while (pctl_adapter_role(i) != PCTL_ROLES &&
		       strcmp(pctl_model_role_name(pctl_adapter_role(i)), text) != 0)
			i++;
		if (pctl_adapter_role(i) == PCTL_ROLES)
			return pctl_refuse_at(app->call, PC10_USAGE, NULL,
					      "there are q, k, v, qkv, o, gate, up, gate_up, down, "
					      "shared_gate, shared_up, shared_down and output",
					      "--target: adapters are not for \"%s\"", text);
		roles[(*n)++] = pctl_adapter_role(i);
	}
	return PCTL_OK;
}

/* An adapter in place of the model. */
static pctl_status synth_adapter(pctl_app *app, const pctl_model_shape *s, uint64_t seed,
				 uint32_t dtype)
{
	const char *const alpha = pctl_option_value(&app->line, "--alpha");
	pctl_synth_adapter a = {
		.path = pctl_option_value(&app->line, "--out"), .seed = seed, .dtype = dtype};
	char *end = NULL;
	pctl_status status = number(app, "--lora", &a.rank);

	a.alpha = alpha == NULL ? 2 * (double)a.rank : pctl_num_parse_double(alpha, &end);
	if (status == PCTL_OK && alpha != NULL && (*alpha == '\0' || *end != '\0'))
		status = pctl_refuse(app->call, PC10_USAGE, "--alpha wants a number, not \"%s\"",
				     alpha);
	if (status == PCTL_OK &&
	    (pctl_option_has(&app->line, "--tokenizer") || pctl_option_has(&app->line, "--shard")))
		status = pctl_refuse(app->call, PC10_USAGE,
				     "an adapter is one file without a tokenizer: --lora goes with "
				     "neither --tokenizer nor --shard");
	if (status == PCTL_OK && dtype != PCTL_SCALAR_F32 && dtype != PCTL_SCALAR_F16 &&
	    dtype != PCTL_SCALAR_BF16)
		status = pctl_refuse(app->call, PC10_USAGE,
				     "--type: matrices of adapters are f32, f16 or bf16");
	if (status == PCTL_OK)
		status = targets(app, &a.roles, &a.n_roles);
	return status == PCTL_OK ? pctl_synth_adapter_write(s, &a, app->call) : status;
}

pctl_status pctl_verb_model_synth(pctl_app *app)
{
	const char *shape = pctl_option_value(&app->line, "--shape"),
		   *out = pctl_option_value(&app->line, "--out");
	uint64_t seed = 0, shard = 0;
	uint32_t dtype = PCTL_SCALAR_F32;
	pctl_model_shape s;
	pctl_status status;

	if (shape == NULL || out == NULL)
		return pctl_refuse(app->call, PC10_USAGE,
				   "model synth wants --shape NAME and --out FILE");
	status = pctl_synth_shape_named(shape, app->call, &s);
	if (status == PCTL_OK)
		status = sizes(app, &s);
	if (status == PCTL_OK)
		status = number(app, "--seed", &seed);
	if (status == PCTL_OK)
		status = bytes(app, "--shard", &shard);
	if (status == PCTL_OK)
		status = weights(app, &dtype);
	if (status == PCTL_OK && !pctl_option_has(&app->line, "--lora") &&
	    (pctl_option_has(&app->line, "--alpha") || pctl_option_has(&app->line, "--target")))
		status = pctl_refuse(
			app->call, PC10_USAGE,
			"--alpha and --target are of an adapter: --lora RANK makes one");
	if (status == PCTL_OK && pctl_option_has(&app->line, "--lora"))
		status = synth_adapter(app, &s, seed, dtype);
	else if (status == PCTL_OK)
		status = pctl_synth_write(&s, seed, out, dtype, shard,
					  pctl_option_value(&app->line, "--tokenizer"),
					  pctl_app_progress(app), app->call);
	pctl_app_progress_clear(app);
	return status == PCTL_OK ? written(app, out) : status;
}

/* ---- convert ---- */

pctl_status pctl_verb_model_convert(pctl_app *app)
{
	const char *out = app->line.arguments[1];
	const char *tokenizer = pctl_option_value(&app->line, "--tokenizer");
	const int none = pctl_option_has(&app->line, "--no-tokenizer");
	uint32_t dtype = PCTL_SCALAR_NONE;
	uint64_t shard = 0;
	pctl_model *m;
	pctl_status status = weights(app, &dtype);

	if (status == PCTL_OK && none && tokenizer != NULL)
		status = pctl_refuse(app->call, PC10_USAGE,
				     "--tokenizer and --no-tokenizer exclude each other");
	if (status == PCTL_OK)
		status = bytes(app, "--shard", &shard);
	if (status == PCTL_OK)
		status = pctl_model_open(app->line.arguments[0], app->call, &m);
	if (status != PCTL_OK)
		return status;
	status = pctl_model_convert(m, out, dtype, shard,
				    none		? PCTL_CONVERT_TOKENIZER_NONE
				    : tokenizer != NULL ? PCTL_CONVERT_TOKENIZER_FILE
							: PCTL_CONVERT_TOKENIZER_SAME,
				    tokenizer, pctl_app_progress(app), app->call);
	pctl_app_progress_clear(app);
	pctl_model_close(m);
	return status == PCTL_OK ? written(app, out) : status;
}

/* ---- pipeline ---- */

/* All that --lora names, as one set. */
static pctl_status adapters(pctl_app *app, const pctl_model *m, pctl_adapters *out)
{
	pctl_engine_lora *loras;
	pctl_adapter_ask *asks;
	uint32_t n;
	pctl_status status = pctl_app_loras(app, PCTL_LORAS_ALL, &loras, &n);

	if (status != PCTL_OK)
		return status;
	asks = pctl_arena_array(app->arena, n, sizeof(*asks));
	if (asks == NULL)
		return pctl_no_memory(app->call, "adapters");
	for (uint32_t i = 0; i < n; i++)
		asks[i] = (pctl_adapter_ask){loras[i].path, 1, loras[i].by};
	return pctl_adapters_open(m, asks, n, app->call, out);
}

pctl_status pctl_verb_model_pipeline(pctl_app *app)
{
	pctl_model_plan plan = {.batch = 1, .chunk = 1, .set = 1};
	pctl_adapters loras = {.n = 0};
	pctl_model *m;
	char *text = NULL;
	pctl_status status = pctl_model_open(app->line.arguments[0], app->call, &m);

	if (status != PCTL_OK)
		return status;
	plan.context = pctl_model_shape_of(m)->n_context;
	plan.context = plan.context < CONTEXT ? plan.context : CONTEXT;
	plan.all_logits = pctl_option_has(&app->line, "--all-logits");
	plan.unrolled = pctl_option_has(&app->line, "--unrolled");
	status = number(app, "--batch", &plan.batch);
	if (status == PCTL_OK)
		status = number(app, "--chunk", &plan.chunk);
	if (status == PCTL_OK)
		status = number(app, "--context", &plan.context);
	if (status == PCTL_OK)
		status = adapters(app, m, &loras);
	plan.adapters = loras.uses;
	plan.n_adapters = loras.n;
	if (status == PCTL_OK)
		status = pctl_model_pipeline(m, &plan, app->call, &text);
	pctl_adapters_close(&loras);
	pctl_model_close(m);
	if (status == PCTL_OK && app->json)
		pctl_json_kv_string(&app->document, "pipeline", text);
	else if (status == PCTL_OK)
		fputs(text, stdout);
	free(text);
	return status;
}
