/* generate: tokens behind a prompt, as text while they come. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/tensorfile/tensor_file.h"
#include "generate.h"
#include "model/generate/statement.h"
#include "model/generate/hashes.h"

/*
 * text      of the only sequence as it comes; where there are several, or a document is wanted, all is printed behind
 * logits    of every token that was made, sequence by sequence: n_logits rows for each; NULL: not kept
 * hashes    of each sequence's logits, NULL: no statement is made
 * said      what is made again, where `replayed` names it
 */
typedef struct generation {
	pctl_app *app;
	pctl_model_engine *engine;
	pctl_generate_options o;
	pctl_app_text text;
	float *logits;
	uint32_t *n_logits;
	pctl_logit_hashes *hashes;
	pctl_statement said;
	const char *file, *receipt, *replayed;
} generation;

static int made(void *ctx, uint32_t sequence, uint32_t token)
{
	generation *g = ctx;

	(void)sequence;
	return pctl_app_text_token(&g->text, token);
}

static void keep_logits(void *ctx, uint32_t slot, const float *logits)
{
	generation *g = ctx;
	const uint64_t n = pctl_model_engine_of(g->engine)->n_vocab;
	const uint64_t row = (uint64_t)slot * g->o.n_tokens + g->n_logits[slot]++;

	if (g->logits != NULL)
		memcpy(g->logits + row * n, logits, n * sizeof(*logits));
	if (g->hashes != NULL)
		pctl_logit_hashes_add(g->hashes, slot, logits, n);
}

static pctl_status begin_logits(generation *g)
{
	const uint64_t n_vocab = pctl_model_engine_of(g->engine)->n_vocab;
	pctl_status status = PCTL_OK;

	if (g->file == NULL && g->receipt == NULL && g->replayed == NULL)
		return PCTL_OK;
	g->n_logits = calloc(g->o.sequences, sizeof(*g->n_logits));
	if (g->file != NULL)
		g->logits = calloc((uint64_t)g->o.sequences * g->o.n_tokens + 1,
				   n_vocab * sizeof(float));
	if (g->n_logits == NULL || (g->file != NULL && g->logits == NULL))
		return pctl_no_memory(g->app->call, "logits");
	if (g->receipt != NULL || g->replayed != NULL)
		status = pctl_logit_hashes_begin(g->o.sequences, g->app->call, &g->hashes);
	pctl_model_engine_on_logits(g->engine, keep_logits, g);
	return status;
}

/* The statement of what was made: written, or held against the one that is made again. */
static pctl_status state(generation *g, const pctl_generated *out)
{
	pctl_app *app = g->app;
	pctl_signer *signer = NULL;
	const pctl_cid *cids;
	pctl_statement found;
	pctl_status status = PCTL_OK;

	if (g->hashes == NULL)
		return PCTL_OK;
	status = pctl_logit_hashes_end(g->hashes, app->call, &cids);
	if (status == PCTL_OK)
		status = pctl_statement_of(g->engine, &g->o, out, cids, app->arena, app->call,
					   &found);
	if (status == PCTL_OK && g->replayed != NULL)
		status = pctl_statement_compare(&g->said, &found, app->call);
	if (status == PCTL_OK && g->receipt != NULL)
		status = pctl_installation_signer(&app->host, app->call, &signer);
	if (signer != NULL) {
		status = pctl_statement_write(&found, g->receipt, signer, app->call);
		pctl_signer_close(signer);
	}
	return status;
}

/* f32[sequences, tokens, n_vocab]; where a sequence ended sooner, zeros. Of a name that is no file of tensors, the bytes alone. */
static pctl_status write_logits(const generation *g)
{
	const pctl_tensor t = {.name = "logits",
			       .type = {.dtype = PCTL_SCALAR_F32,
					.rank = 3,
					.dim = {g->o.sequences, g->o.n_tokens,
						pctl_model_engine_of(g->engine)->n_vocab}},
			       .data = g->logits};
	pctl_tensor_format format;

	if (g->file == NULL)
		return PCTL_OK;
	if (pctl_tensor_format_of(g->file, &format))
		return pctl_tensor_file_write(g->file, format, &t, 1, g->app->call);
	return pctl_file_write(g->file, g->logits,
			       (uint64_t)g->o.sequences * g->o.n_tokens * t.type.dim[2] *
				       sizeof(float),
			       1, g->app->call);
}

/* By the host's clock and by the device's; building is in neither. */
static void print_work(pctl_json *j, const char *name, const pctl_model_work *w)
{
	pctl_json_key(j, name);
	pctl_json_object_begin(j);
	pctl_json_kv_u64(j, "tokens", w->tokens);
	pctl_json_key(j, "seconds");
	pctl_json_double(j, (double)w->host_ns / 1e9);
	pctl_json_key(j, "device_seconds");
	pctl_json_double(j, (double)w->device_ns / 1e9);
	pctl_json_object_end(j);
}

static void print_adapters(pctl_json *j, const generation *g)
{
	char text[PCTL_CID_TEXT_SIZE];
	const pctl_adapter_use *use;
	const pctl_cid *cid;
	const char *path;

	pctl_json_key(j, "adapters");
	pctl_json_array_begin(j);
	for (uint32_t i = 0; (use = pctl_model_engine_use(g->engine, i, &cid)) != NULL; i++) {
		(void)pctl_adapter_file(use->adapter, &path);
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "file", path);
		pctl_json_kv_string(j, "cid", pctl_cid_format(cid, text));
		pctl_json_key(j, "scale");
		pctl_json_double(j, (double)use->by);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void print_all(pctl_app *app, const generation *g, const pctl_generated *out)
{
	const pctl_engine *e = pctl_model_engine_of(g->engine);
	pctl_model_engine_facts f;
	pctl_json *j = &app->document;

	pctl_model_engine_facts_of(g->engine, &f);
	if (app->json) {
		pctl_json_kv_string(j, "model", e->model_cid);
		print_adapters(j, g);
		pctl_json_kv_u32(j, "prompt_tokens", g->o.n_prompt);
		pctl_json_key(j, "sequences");
		pctl_json_array_begin(j);
	}
	for (uint32_t i = 0; i < out->n_sequences; i++)
		pctl_app_print_sequence(app, pctl_model_engine_tokenizer(g->engine),
					&out->sequences[i], g->o.sequences > 1);
	if (!app->json) {
		fflush(stdout);
		if (!app->quiet)
			fprintf(stderr,
				"%s: %u tokens in, first after %.3f s, then %.2f tokens/s; %" PRIu64
				" submissions, %.1f MiB on the device\n",
				f.device_name == NULL ? "no device" : f.device_name, g->o.n_prompt,
				(double)out->first_ns / 1e9,
				pctl_rate(f.decode.tokens, f.decode.host_ns), f.submits,
				(double)f.total_bytes / 1048576);
		for (uint32_t i = 0; !app->quiet && i < out->n_sequences; i++)
			if (out->sequences[i].why == PCTL_GENERATED_CONTEXT)
				fprintf(stderr,
					"the context of %u tokens is full: sequence %u ends after "
					"%u of %u\n",
					e->context, i, out->sequences[i].n, g->o.n_tokens);
		if (!app->quiet && f.uploaded_bytes != 0)
			fprintf(stderr,
				"weights: %.1f MiB stayed on the device, %.1f MiB came to it for "
				"each token, in %" PRIu64 " submissions\n",
				(double)f.weight_bytes / 1048576,
				(double)f.token_uploaded_bytes / 1048576, f.token_submits);
		if (!app->quiet && g->replayed != NULL)
			fprintf(stderr,
				"the same tokens and logits as were made on %s, signed by %s\n",
				g->said.device_name, g->said.signer);
		return;
	}
	pctl_json_array_end(j);
	pctl_json_kv_string(j, "device", f.device == NULL ? "" : f.device);
	pctl_json_kv_string(j, "device_name", f.device_name == NULL ? "" : f.device_name);
	if (g->replayed != NULL) {
		pctl_json_kv_bool(j, "agrees", 1);
		pctl_json_kv_string(j, "signer", g->said.signer);
		pctl_json_kv_string(j, "made_on", g->said.device_name);
	}
	pctl_json_key(j, "first_token_seconds");
	pctl_json_double(j, (double)out->first_ns / 1e9);
	pctl_json_key(j, "tokens_per_second");
	pctl_json_double(j, pctl_rate(f.decode.tokens, f.decode.host_ns));
	pctl_json_key(j, "build_seconds");
	pctl_json_double(j, (double)f.build_ns / 1e9);
	print_work(j, "prefill", &f.prefill);
	print_work(j, "decode", &f.decode);
	pctl_json_kv_u64(j, "submissions", f.submits);
	pctl_json_kv_u64(j, "dispatches_of_a_token", f.dispatches);
	pctl_json_kv_u64(j, "device_bytes", f.total_bytes);
	pctl_json_kv_u64(j, "peak_device_bytes", f.peak_bytes);
	pctl_json_kv_u64(j, "weight_bytes", f.weight_bytes);
	pctl_json_kv_u64(j, "submissions_of_a_token", f.token_submits);
	pctl_json_kv_u64(j, "uploaded_bytes_of_a_token", f.token_uploaded_bytes);
	pctl_json_kv_u64(j, "uploaded_bytes", f.uploaded_bytes);
	pctl_json_kv_u64(j, "cache_bytes", f.cache_bytes);
	pctl_json_kv_u64(j, "cache_bytes_of_a_token", f.cache_token_bytes);
}

/* The whole question is the statement's: an option that would change it is no part of what is asked. */
static pctl_status asks_alone(pctl_app *app)
{
	static const char *const questions[] = {"--prompt",
						"--chat",
						"--system",
						"--family",
						"--tokens",
						"--batch",
						"--ignore-end",
						"--seed",
						"--temperature",
						"--top-k",
						"--top-p",
						"--min-p",
						"--repetition-penalty",
						"--presence-penalty",
						"--frequency-penalty"};

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		if (pctl_option_has(&app->line, questions[i]))
			return pctl_refuse(
				app->call, PC10_USAGE,
				"--replay asks what a statement says, so %s has no place",
				questions[i]);
	return PCTL_OK;
}

/* The question of the command line, or that of a statement. */
static pctl_status ask(pctl_app *app, generation *g)
{
	uint64_t n_tokens = 128, sequences = 1;
	pctl_status status = PCTL_OK;

	g->file = pctl_option_value(&app->line, "--logits");
	g->receipt = pctl_option_value(&app->line, "--receipt");
	g->replayed = pctl_option_value(&app->line, "--replay");
	if (g->replayed != NULL) {
		status = asks_alone(app);
		if (status == PCTL_OK)
			status = pctl_statement_read(g->replayed, app->arena, app->call, &g->said);
		if (status == PCTL_OK)
			status = pctl_statement_question(&g->said, g->replayed, app->arena,
							 app->call, &g->o);
		return status;
	}
	g->o = (pctl_generate_options){
		.goes_on = (uint32_t)pctl_option_has(&app->line, "--ignore-end"),
		.sampling = {.top_p = 1, .repetition_penalty = 1}};
	status = pctl_app_whole(app, "--tokens", 1u << 24, &n_tokens);
	if (status == PCTL_OK)
		status = pctl_app_whole(app, "--batch", 1024, &sequences);
	if (status == PCTL_OK)
		status = pctl_app_sampling(app, &g->o.sampling);
	g->o.n_tokens = (uint32_t)n_tokens;
	g->o.sequences = (uint32_t)sequences;
	return status;
}

/* Before a token is made: is the model the one that is spoken of, and are the adapters. */
static pctl_status same_model(const generation *g)
{
	pctl_statement here = {0};
	pctl_status status =
		pctl_statement_model(g->engine, g->o.adapter, g->app->arena, g->app->call, &here);

	if (status != PCTL_OK || g->replayed == NULL)
		return status;
	return pctl_statement_compare_model(&g->said, &here, g->app->call);
}

static pctl_status run(pctl_app *app, generation *g)
{
	uint32_t *prompt = NULL;
	pctl_generated out = {0};
	pctl_status status = ask(app, g);

	g->o.token = made;
	g->o.ctx = g;
	if (status == PCTL_OK)
		status = pctl_app_model_engine(app, g->o.sequences, PCTL_LORAS_ALL, &g->engine);
	if (status == PCTL_OK) {
		g->o.adapter = pctl_model_engine_of(g->engine)->n_adapters;
		status = same_model(g);
	}
	if (status == PCTL_OK && g->replayed == NULL) {
		status = pctl_app_prompt(app, pctl_model_engine_of(g->engine), &prompt,
					 &g->o.n_prompt);
		g->o.prompt = prompt;
	}
	if (status == PCTL_OK)
		status = begin_logits(g);
	if (status == PCTL_OK) {
		pctl_app_text_begin(app, pctl_model_engine_tokenizer(g->engine),
				    g->o.sequences == 1 && !app->json, &g->text);
		status = pctl_generate(pctl_model_engine_of(g->engine), &g->o, app->call, &out);
	}
	if (status == PCTL_OK)
		status = g->text.status;
	if (status == PCTL_OK)
		pctl_app_text_end(&g->text);
	if (status == PCTL_OK)
		status = write_logits(g);
	if (status == PCTL_OK)
		status = state(g, &out);
	if (status == PCTL_OK)
		print_all(app, g, &out);
	pctl_generated_clear(&out);
	free(prompt);
	return status;
}

pctl_status pctl_verb_generate(pctl_app *app)
{
	generation g = {.app = app};
	const pctl_status status = run(app, &g);

	pctl_model_engine_close(g.engine);
	pctl_logit_hashes_destroy(g.hashes);
	free(g.logits);
	free(g.n_logits);
	return status;
}
