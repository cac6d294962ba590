/* What the verbs that make tokens of a model share. */
#ifndef PIPECTL_TOOLS_GENERATE_H
#define PIPECTL_TOOLS_GENERATE_H

#include "model.h"
#include "model/generate/generate.h"

/* An option's number, as it stands where it was not given; PC0010. */
pctl_status pctl_app_whole(pctl_app *app, const char *option, uint64_t most, uint64_t *out);
pctl_status pctl_app_real(pctl_app *app, const char *option, double least, double most, float *out);
/* --seed, --temperature, --top-k and so on. */
pctl_status pctl_app_sampling(pctl_app *app, pctl_engine_sampling *s);
/* The tokens of --prompt as it stands, or with --chat and --system as messages; *out is released with free(). */
pctl_status pctl_app_prompt(pctl_app *app, const pctl_engine *e, uint32_t **out, uint32_t *n);

/* Text of the only sequence as it comes, on standard output; streams: 0: nothing is printed. status: what went wrong with it. */
typedef struct pctl_app_text {
	pctl_app *app;
	pctl_token_stream stream;
	pctl_status status;
	int streams;
} pctl_app_text;
void pctl_app_text_begin(pctl_app *app, const pctl_tokenizer *t, int streams, pctl_app_text *out);
/* A token; 0: it could not be told. */
int pctl_app_text_token(pctl_app_text *t, uint32_t token);
/* What waits of a character that is not whole, and a newline. */
void pctl_app_text_end(pctl_app_text *t);

double pctl_rate(uint64_t n, uint64_t ns);
/* In the document; for people the text alone, where is_told. */
void pctl_app_print_sequence(pctl_app *app, const pctl_tokenizer *t,
			     const pctl_generated_sequence *s, int is_told);

#endif
