/* vm generate: a language model in a machine of the GPU VM, an instance a layer, a submission a token. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/tensorfile/tensor_file.h"
#include "generate.h"
#include "model/generate/machine_engine.h"
#include "runtime/exec/run.h"

/* logits: of each token that was made; NULL: not kept. */
typedef struct generation {
	pctl_app *app;
	pctl_model_engine *text;
	pctl_machine_engine *engine;
	pctl_generate_options o;
	pctl_app_text words;
	const char *file;
	float *logits;
	uint32_t n_logits;
} generation;

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static int made(void *ctx, uint32_t sequence, uint32_t token)
{
	generation *g = ctx;

	(void)sequence;
	return pctl_app_text_token(&g->words, token);
}

static void keep_logits(void *ctx, uint32_t slot, const float *logits)
{
	generation *g = ctx;
	const uint64_t n = pctl_machine_engine_of(g->engine)->n_vocab;

	(void)slot;
	memcpy(g->logits + g->n_logits++ * n, logits, n * sizeof(*logits));
}

/* ---- asking ---------------------------------------------------------------------------------- */

static pctl_status ask(pctl_app *app, generation *g, pctl_machine_engine_options *o)
{
	const char *const *backends;
	uint64_t n_tokens = 128;
	float target = 0, epsilon = 0;
	uint32_t n_backends = 0;
	pctl_run_request q;
	pctl_status status = pctl_app_run_request(app, &q);

	g->o = (pctl_generate_options){
		.sequences = 1,
		.goes_on = (uint32_t)pctl_option_has(&app->line, "--ignore-end"),
		.sampling = {.top_p = 1, .repetition_penalty = 1},
		.token = made,
		.ctx = g};
	g->file = pctl_option_value(&app->line, "--logits");
	if (status == PCTL_OK)
		status = pctl_app_whole(app, "--tokens", 1u << 24, &n_tokens);
	if (status == PCTL_OK)
		status = pctl_app_sampling(app, &g->o.sampling);
	if (status == PCTL_OK)
		status = pctl_app_real(app, "--target", 0, 3e38, &target);
	if (status == PCTL_OK)
		status = pctl_app_real(app, "--epsilon", 0, 3e38, &epsilon);
	if (status == PCTL_OK)
		status = pctl_app_whole(app, "--heap", UINT64_MAX, &o->llm.heap_bytes);
	if (status == PCTL_OK)
		status = pctl_app_whole(app, "--budget", UINT64_MAX, &o->llm.budget_bytes);
	if (status == PCTL_OK)
		status = pctl_app_values(app, "--backend", &backends, &n_backends);
	if (status == PCTL_OK && q.verify_ppm % 1000000u != 0)
		status = pctl_refuse(app->call, PC10_USAGE,
				     "a machine is verified in whole or not at all: --verify all");
	if (status != PCTL_OK)
		return status;
	g->o.n_tokens = (uint32_t)n_tokens;
	o->llm.device = n_backends == 0 ? NULL : backends[0];
	o->llm.run_flags = q.flags & PCTL_RUN_DEBUG;
	o->llm.is_verified = q.verify_ppm != 0;
	o->llm.target = bits_of(target);
	o->sampling = g->o.sampling;
	o->program = (pctl_llm_program_options){
		.acts = (uint32_t)pctl_option_has(&app->line, "--act"),
		.skipping = (uint32_t)pctl_option_has(&app->line, "--skip"),
		.has_clock = 1,
		.epsilon = bits_of(epsilon)};
	return PCTL_OK;
}

/* Layers that are passed by: active = 0 in their control words. */
static pctl_status skip(generation *g)
{
	static const float passed_by[4] = {1, 0, 0, 0};
	pctl_app *app = g->app;
	pctl_machine *m = pctl_llm_machine(pctl_machine_engine_llm(g->engine));
	const char *const *layers;
	uint32_t n = 0;
	pctl_status status = pctl_app_values(app, "--skip", &layers, &n);

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		pctl_machine_range r = {PCTL_MACHINE_CONTROL, 0, 0, 0, 0, sizeof(passed_by)};
		uint64_t layer;

		if (!pctl_num_parse_u64(layers[i], strlen(layers[i]), &layer) ||
		    layer >= pctl_machine_desc(m)->instances)
			return pctl_refuse(app->call, PC10_USAGE,
					   "--skip wants a layer below %" PRIu32 ", not \"%s\"",
					   pctl_machine_desc(m)->instances, layers[i]);
		r.instance = (uint32_t)layer;
		status = pctl_machine_write(m, &r, passed_by, app->call);
	}
	return status;
}

static pctl_status begin_logits(generation *g)
{
	if (g->file == NULL)
		return PCTL_OK;
	g->logits = calloc((uint64_t)g->o.n_tokens + 1u,
			   pctl_machine_engine_of(g->engine)->n_vocab * sizeof(float));
	if (g->logits == NULL)
		return pctl_no_memory(g->app->call, "logits");
	pctl_machine_engine_on_logits(g->engine, keep_logits, g);
	return PCTL_OK;
}

/* As generate writes them: f32[1, tokens, n_vocab]. */
static pctl_status write_logits(const generation *g)
{
	const pctl_tensor t = {
		.name = "logits",
		.type = {.dtype = PCTL_SCALAR_F32,
			 .rank = 3,
			 .dim = {1, g->o.n_tokens, pctl_machine_engine_of(g->engine)->n_vocab}},
		.data = g->logits};
	pctl_tensor_format format;

	if (g->file == NULL)
		return PCTL_OK;
	if (pctl_tensor_format_of(g->file, &format))
		return pctl_tensor_file_write(g->file, format, &t, 1, g->app->call);
	return pctl_file_write(g->file, g->logits, 4ull * t.type.dim[1] * t.type.dim[2], 1,
			       g->app->call);
}

/* ---- telling --------------------------------------------------------------------------------- */

static void tell_layer(pctl_app *app, uint32_t layer, const float metrics[6],
		       const float control[4], const float statistics[4])
{
	pctl_json *j = &app->document;

	if (!app->json) {
		if (!app->quiet)
			fprintf(stderr,
				"layer %" PRIu32
				": norm %.9g, largest %.9g, %s; scale %.9g, mean norm %.9g over "
				"%.0f\n",
				layer, (double)metrics[0], (double)metrics[1],
				metrics[5] != 0 ? "anomaly" : "ok", (double)control[0],
				(double)statistics[1], (double)statistics[2]);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_u32(j, "layer", layer);
	pctl_json_key(j, "activation_norm");
	pctl_json_double(j, (double)metrics[0]);
	pctl_json_key(j, "max_abs");
	pctl_json_double(j, (double)metrics[1]);
	pctl_json_kv_u32(j, "layer_status", metrics[5] != 0);
	pctl_json_key(j, "scale_factor");
	pctl_json_double(j, (double)control[0]);
	pctl_json_kv_bool(j, "active", control[3] != 0);
	pctl_json_key(j, "mean_norm");
	pctl_json_double(j, (double)statistics[1]);
	pctl_json_key(j, "drift");
	pctl_json_double(j, (double)statistics[3]);
	pctl_json_object_end(j);
}

static pctl_status tell_layers(const generation *g)
{
	pctl_app *app = g->app;
	pctl_machine *m = pctl_llm_machine(pctl_machine_engine_llm(g->engine));
	pctl_status status = PCTL_OK;

	if (app->json) {
		pctl_json_key(&app->document, "layers");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_machine_desc(m)->instances; i++) {
		const pctl_machine_range of_metrics = {PCTL_MACHINE_METRICS, i, 0, 0, 0, 24};
		const pctl_machine_range of_control = {PCTL_MACHINE_CONTROL, i, 0, 0, 0, 16};
		const pctl_machine_range of_statistics = {PCTL_MACHINE_GLOBALS,		 0, 0, 0,
							  4u * PCTL_VM_HEAD + 16ull * i, 16};
		float metrics[6], control[4], statistics[4];

		status = pctl_machine_read(m, &of_metrics, metrics, app->call);
		if (status == PCTL_OK)
			status = pctl_machine_read(m, &of_control, control, app->call);
		if (status == PCTL_OK)
			status = pctl_machine_read(m, &of_statistics, statistics, app->call);
		if (status == PCTL_OK)
			tell_layer(app, i, metrics, control, statistics);
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return status;
}

static void tell_number(pctl_json *j, const char *key, uint32_t n)
{
	if (n != UINT32_MAX)
		pctl_json_kv_u32(j, key, n);
}

static pctl_status tell_advice(const generation *g)
{
	pctl_app *app = g->app;
	pctl_json *j = &app->document;
	pctl_machine_advice a;
	pctl_status status =
		pctl_machine_advise(pctl_llm_machine(pctl_machine_engine_llm(g->engine)),
				    pctl_machine_engine_program(g->engine), app->call, &a);

	if (status != PCTL_OK)
		return status;
	if (!app->json) {
		if (!app->quiet)
			fprintf(stderr, "memory: %.1f of %.1f MiB used%s\n",
				(double)a.used_bytes / 1048576, (double)a.budget_bytes / 1048576,
				a.pressed ? ", more than nine tenths" : "");
		return PCTL_OK;
	}
	pctl_json_key(j, "advice");
	pctl_json_object_begin(j);
	pctl_json_kv_u64(j, "used_bytes", a.used_bytes);
	pctl_json_kv_u64(j, "budget_bytes", a.budget_bytes);
	pctl_json_kv_bool(j, "pressed", a.pressed != 0);
	tell_number(j, "evict", a.evict);
	tell_number(j, "prefetch", a.prefetch);
	tell_number(j, "slow", a.slow);
	pctl_json_key(j, "layer_ns");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < a.n_ticks; i++)
		pctl_json_u64(j, a.ticks[i]);
	pctl_json_array_end(j);
	pctl_json_object_end(j);
	return PCTL_OK;
}

static void tell_document(const generation *g, const pctl_generated *out, uint64_t n_forward)
{
	pctl_json *j = &g->app->document;
	const pctl_llm *llm = pctl_machine_engine_llm(g->engine);
	const pctl_llm_facts *f = pctl_llm_facts_of(llm);
	const pctl_vm_desc *d = pctl_machine_desc(pctl_llm_machine(llm));
	const pctl_kept_plan_stats *s = pctl_machine_stats(pctl_machine_engine_program(g->engine));

	pctl_json_kv_string(j, "model", pctl_machine_engine_of(g->engine)->model_cid);
	pctl_json_kv_string(j, "heap", f->name);
	pctl_json_kv_string(j, "device", pctl_machine_device(pctl_llm_machine(llm)));
	pctl_json_kv_u32(j, "prompt_tokens", g->o.n_prompt);
	pctl_json_key(j, "sequences");
	pctl_json_array_begin(j);
	pctl_app_print_sequence(g->app, pctl_model_engine_tokenizer(g->text), &out->sequences[0],
				0);
	pctl_json_array_end(j);
	pctl_json_kv_u32(j, "instances", d->instances);
	pctl_json_kv_u32(j, "width", d->width);
	pctl_json_kv_u32(j, "n_embd", d->n_embd);
	pctl_json_kv_u64(j, "weights", f->weights);
	pctl_json_kv_u64(j, "weight_bytes", f->weight_bytes);
	pctl_json_kv_u64(j, "kv_bytes", f->kv_bytes);
	pctl_json_kv_u64(j, "constant_bytes", f->constant_bytes);
	pctl_json_key(j, "first_token_seconds");
	pctl_json_double(j, (double)out->first_ns / 1e9);
	pctl_json_key(j, "tokens_per_second");
	pctl_json_double(j, pctl_rate(out->n_later, out->later_ns));
	pctl_json_kv_u64(j, "tokens_run", n_forward);
	pctl_json_kv_u64(j, "submissions", s->submits);
	pctl_json_kv_u64(j, "dispatches_of_a_token", s->dispatches);
	pctl_json_kv_u64(j, "barriers_of_a_token", s->barriers);
	pctl_json_kv_u64(j, "device_ns_of_a_token", s->device_ns);
}

static pctl_status tell(const generation *g, const pctl_generated *out)
{
	pctl_app *app = g->app;
	const pctl_kept_plan_stats *s = pctl_machine_stats(pctl_machine_engine_program(g->engine));
	const uint64_t n_forward = s->rounds;
	pctl_status status;

	if (app->json)
		tell_document(g, out, n_forward);
	fflush(stdout);
	status = tell_layers(g);
	if (status == PCTL_OK)
		status = tell_advice(g);
	if (status == PCTL_OK && !app->json && !app->quiet)
		fprintf(stderr,
			"%s: %u tokens in, first after %.3f s, then %.2f tokens/s; %" PRIu64
			" submissions for %" PRIu64 " tokens, %" PRIu64 " dispatches each\n",
			pctl_machine_device(pctl_llm_machine(pctl_machine_engine_llm(g->engine))),
			g->o.n_prompt, (double)out->first_ns / 1e9,
			pctl_rate(out->n_later, out->later_ns), s->submits, n_forward,
			s->dispatches);
	return status;
}

/* ---- the verb -------------------------------------------------------------------------------- */

static pctl_status run(pctl_app *app, generation *g)
{
	pctl_machine_engine_options o = {.text = NULL};
	pctl_generated out = {0};
	uint32_t *prompt = NULL;
	pctl_status status = ask(app, g, &o);

	if (status == PCTL_OK)
		status = pctl_app_model_engine(app, 1, PCTL_LORAS_NONE, &g->text);
	if (status == PCTL_OK)
		status = pctl_app_prompt(app, pctl_model_engine_of(g->text), &prompt,
					 &g->o.n_prompt);
	g->o.prompt = prompt;
	if (status == PCTL_OK)
		status = pctl_installation_policy(&app->host, app->call);
	if (status == PCTL_OK) {
		o.text = g->text;
		o.timeout_ms = app->host.policy->time_ms;
		status = pctl_machine_engine_open(&app->host, &o, app->call, &g->engine);
	}
	if (status == PCTL_OK)
		status = skip(g);
	if (status == PCTL_OK)
		status = begin_logits(g);
	if (status == PCTL_OK) {
		pctl_app_text_begin(app, pctl_model_engine_tokenizer(g->text), !app->json,
				    &g->words);
		status = pctl_generate(pctl_machine_engine_of(g->engine), &g->o, app->call, &out);
	}
	if (status == PCTL_OK)
		status = g->words.status;
	if (status == PCTL_OK)
		pctl_app_text_end(&g->words);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		status = write_logits(g);
	if (status == PCTL_OK)
		status = tell(g, &out);
	pctl_generated_clear(&out);
	free(prompt);
	return status;
}

pctl_status pctl_verb_vm_generate(pctl_app *app)
{
	generation g = {.app = app};
	const pctl_status status = run(app, &g);

	pctl_machine_engine_close(g.engine);
	pctl_model_engine_close(g.text);
	free(g.logits);
	return status;
}
