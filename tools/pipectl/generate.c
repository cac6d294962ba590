/* What the verbs that make tokens share: their options, the prompt, and how sequences are told; see generate.h. */
#include "generate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"

#define PROMPT_MAX (16u << 20)

pctl_status pctl_app_whole(pctl_app *app, const char *option, uint64_t most, uint64_t *out)
{
	const char *text = pctl_option_value(&app->line, option);

	if (text == NULL || (pctl_num_parse_u64(text, strlen(text), out) && *out <= most))
		return PCTL_OK;
	return pctl_refuse(app->call, PC10_USAGE, "%s wants a number up to %" PRIu64 ", not \"%s\"",
			   option, most, text);
}

pctl_status pctl_app_real(pctl_app *app, const char *option, double least, double most, float *out)
{
	const char *text = pctl_option_value(&app->line, option);
	char *end = NULL;
	double v;

	if (text == NULL)
		return PCTL_OK;
	v = pctl_num_parse_double(text, &end);
	if (*text == '\0' || *end != '\0' || !(v >= least && v <= most))
		return pctl_refuse(app->call, PC10_USAGE,
				   "%s wants a number from %g to %g, not \"%s\"", option, least,
				   most, text);
	*out = (float)v;
	return PCTL_OK;
}

pctl_status pctl_app_sampling(pctl_app *app, pctl_engine_sampling *s)
{
	const struct {
		const char *option;
		double least, most;
		float *out;
	} reals[] = {{"--temperature", 0, 100, &s->temperature},
		     {"--top-p", 0, 1, &s->top_p},
		     {"--min-p", 0, 1, &s->min_p},
		     {"--repetition-penalty", 0.01, 100, &s->repetition_penalty},
		     {"--presence-penalty", -100, 100, &s->presence_penalty},
		     {"--frequency-penalty", -100, 100, &s->frequency_penalty}};
	uint64_t top_k = 0;
	pctl_status status = pctl_app_whole(app, "--seed", UINT64_MAX, &s->seed);

	if (status == PCTL_OK)
		status = pctl_app_whole(app, "--top-k", UINT32_MAX, &top_k);
	for (size_t i = 0; status == PCTL_OK && i < sizeof(reals) / sizeof(reals[0]); i++)
		status = pctl_app_real(app, reals[i].option, reals[i].least, reals[i].most,
				       reals[i].out);
	s->top_k = (uint32_t)top_k;
	return status;
}

/* The prompt as it stands, or as a message of a user. */
pctl_status pctl_app_prompt(pctl_app *app, const pctl_engine *e, uint32_t **out, uint32_t *n)
{
	const char *text = pctl_option_value(&app->line, "--prompt");
	const char *system = pctl_option_value(&app->line, "--system");
	pctl_engine_message messages[2];
	uint32_t n_messages = 0;
	char *input = NULL;
	uint64_t n_input;
	pctl_status status = PCTL_OK;

	if (text == NULL)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"--prompt TEXT is what it goes on from, or - for standard input");
	if (strcmp(text, "-") == 0) {
		status = pctl_file_read("-", PROMPT_MAX, app->call, &input, &n_input);
		text = input;
		/* What stands behind it would be lost. */
		if (status == PCTL_OK && strlen(input) != n_input)
			status = pctl_refuse(app->call, PC10_USAGE,
					     "byte %zu of the prompt is zero, which no text has",
					     strlen(input));
	}
	if (status == PCTL_OK && !pctl_option_has(&app->line, "--chat") && system == NULL) {
		status = e->encode(e->self, text, app->call, out, n);
	} else if (status == PCTL_OK && e->chat == NULL) {
		status = pctl_refuse_at(app->call, PC10_USAGE, NULL,
					"--family names one; see `pipectl tokenizer chat --help`",
					"this model has no chat template");
	} else if (status == PCTL_OK) {
		if (system != NULL)
			messages[n_messages++] = (pctl_engine_message){"system", system, NULL};
		messages[n_messages++] = (pctl_engine_message){"user", text, NULL};
		status = e->chat(e->self, messages, n_messages, app->call, out, n);
	}
	free(input);
	return status;
}

/* ---- text ---- */

void pctl_app_text_begin(pctl_app *app, const pctl_tokenizer *t, int streams, pctl_app_text *out)
{
	*out = (pctl_app_text){.app = app, .status = PCTL_OK, .streams = streams};
	pctl_token_stream_init(&out->stream, t, 0);
}

static void tell(pctl_app_text *t, const pctl_str_buf *text)
{
	if (text->n == 0)
		return;
	pctl_app_progress_clear(t->app);
	fwrite(text->data, 1, text->n, stdout);
	fflush(stdout);
}

int pctl_app_text_token(pctl_app_text *t, uint32_t token)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	if (!t->streams)
		return 1;
	t->status = pctl_token_stream_push(&t->stream, token, t->app->call, &text);
	if (t->status == PCTL_OK)
		tell(t, &text);
	pctl_str_drop(&text);
	return t->status == PCTL_OK;
}

void pctl_app_text_end(pctl_app_text *t)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	if (!t->streams)
		return;
	pctl_token_stream_end(&t->stream, &text);
	tell(t, &text);
	pctl_str_drop(&text);
	printf("\n");
}

double pctl_rate(uint64_t n, uint64_t ns)
{
	return ns == 0 ? 0 : (double)n * 1e9 / (double)ns;
}

void pctl_app_print_sequence(pctl_app *app, const pctl_tokenizer *t,
			     const pctl_generated_sequence *s, int is_told)
{
	pctl_json *j = &app->document;
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_token_stream stream;

	/* As it streams: whole characters, and U+FFFD for what is none. */
	pctl_token_stream_init(&stream, t, 0);
	for (uint32_t i = 0; i < s->n; i++)
		(void)pctl_token_stream_push(&stream, s->tokens[i], app->call, &text);
	pctl_token_stream_end(&stream, &text);
	if (!app->json) {
		if (is_told) {
			fwrite(text.data, 1, text.n, stdout);
			printf("\n");
		}
		pctl_str_drop(&text);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_key(j, "text");
	pctl_json_text(j, text.data == NULL ? "" : text.data, text.n);
	pctl_json_key(j, "tokens");
	pctl_json_array_begin(j);
	for (uint32_t k = 0; k < s->n; k++)
		pctl_json_u32(j, s->tokens[k]);
	pctl_json_array_end(j);
	pctl_json_kv_string(j, "ended_by", pctl_generated_why(s->why));
	pctl_json_object_end(j);
	pctl_str_drop(&text);
}
