/* A language model by libpipectl in sixty lines: text behind a prompt, as it comes, and a signed statement of how it was made.
 *   cc example_model.c $(pkg-config --cflags --libs pipectl) && ./a.out MODEL.gguf "Once upon a time" 32 > text */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pipectl/model.h>

static void show(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%04u: %s\n", (unsigned)d->code, d->message);
}

static uint32_t print(void *ctx, const pipectl_generated_token *t)
{
	(void)ctx;
	fwrite(t->text, 1, t->n_bytes, stdout);
	fflush(stdout);
	return 1; /* go on */
}

int main(int argc, char **argv)
{
	const pipectl_options options = {.head = PCTL_HEAD(pipectl_options), .diagnostic = show};
	pipectl_generate_options how = {.head = PCTL_HEAD(pipectl_generate_options),
					.flags = PIPECTL_GENERATE_RECEIPT,
					.seed = 1,
					.temperature = 0.8f,
					.top_p = 0.95f,
					.token = print};
	pipectl *p = NULL;
	pipectl_model *model = NULL;
	pipectl_engine *engine = NULL;
	pipectl_generation *g = NULL;
	const char *receipt = NULL;
	uint64_t n = 0;
	pctl_status status = argc < 4 ? PCTL_E_USAGE : pipectl_open(&options, &p);

	if (status == PCTL_OK)
		status = pipectl_model_open(p, argv[1], NULL, &model);
	if (status == PCTL_OK)
		status = pipectl_model_encode(model, argv[2], strlen(argv[2]),
					      PIPECTL_ENCODE_BEGIN | PIPECTL_ENCODE_ADDED,
					      &how.prompt, &how.n_prompt);
	if (status == PCTL_OK)
		status = pipectl_engine_open(model, NULL, &engine);
	how.n_tokens = status == PCTL_OK ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
	if (status == PCTL_OK)
		status = pipectl_generate(engine, &how, &g);
	if (status == PCTL_OK)
		status = pipectl_generation_receipt(g, &receipt, &n);
	if (status == PCTL_OK)
		fwrite(receipt, 1, n, stderr);
	pipectl_generation_release(g);
	pipectl_engine_release(engine);
	pipectl_model_release(model);
	pipectl_close(p);
	return status == PCTL_OK ? 0 : 1;
}
