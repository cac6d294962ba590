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

double pctl_rate(uint64_t n, uint64_t ns);
/* In the document; for people the text alone, where is_told. */
void pctl_app_print_sequence(pctl_app *app, const pctl_tokenizer *t,
			     const pctl_generated_sequence *s, int is_told);

#endif
