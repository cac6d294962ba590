/* Passes lines of hex through core/chain for messages.py: `request`, `response`, `execute` decode and encode again,
 * `uniform` gives the block of a document, `block` the document of a block, `job HEX HEIGHT SEQUENCE` an id. The answer is
 * a line: ok and hex, or the codes of what was refused. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "chain/messages/message.h"
#include "chain/messages/uniform.h"
#include "compiler/wgsl/wgsl.h"

#define LINE_MAX_BYTES (8u << 20)

static char codes[4096];

static void keep(void *ctx, const pctl_diag *d)
{
	const size_t n = strlen(codes);

	(void)ctx;
	snprintf(codes + n, sizeof(codes) - n, "%s%u", n == 0 ? "" : " ", d->code);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = keep};

static pctl_status request(const uint8_t *in, size_t n, uint8_t **out, uint64_t *n_out)
{
	pctl_request r;
	pctl_status status = pctl_request_decode(in, n, &call, &r);

	if (status == PCTL_OK)
		status = pctl_request_encode(&r, &call, out, n_out);
	pctl_request_destroy(&r);
	return status;
}

static pctl_status response(const uint8_t *in, size_t n, uint8_t **out, uint64_t *n_out)
{
	pctl_response r;
	pctl_status status = pctl_response_decode(in, n, &call, &r);

	if (status == PCTL_OK)
		status = pctl_response_encode(&r, &call, out, n_out);
	pctl_response_destroy(&r);
	return status;
}

/* The message inside a request, as its id is taken over it. */
static pctl_status execute(const uint8_t *in, size_t n, uint8_t **out, uint64_t *n_out)
{
	pctl_request r;
	pctl_status status = pctl_request_decode(in, n, &call, &r);
	const uint8_t *bytes = status == PCTL_OK ? pctl_execute_bytes(&r, n_out) : NULL;

	if (status == PCTL_OK && (*out = malloc(*n_out + 1)) == NULL)
		status = PCTL_E_NOMEM;
	if (status == PCTL_OK)
		memcpy(*out, bytes, *n_out);
	pctl_request_destroy(&r);
	return status;
}

static pctl_status job(const uint8_t *in, size_t n, const char *rest, uint8_t **out,
		       uint64_t *n_out)
{
	uint64_t height = 0, sequence = 0;

	if (sscanf(rest, "%" SCNu64 " %" SCNu64, &height, &sequence) != 2)
		return PCTL_E_USAGE;
	*out = malloc(PCTL_DIGEST_BYTES);
	*n_out = PCTL_DIGEST_BYTES;
	return *out == NULL ? PCTL_E_NOMEM : pctl_job_id(in, n, height, sequence, &call, *out);
}

static int answer(const pctl_program *p, char *line)
{
	const char *verb = strtok(line, " \n"), *hex = strtok(NULL, " \n"),
		   *rest = strtok(NULL, "\n");
	const size_t n = hex == NULL ? 0 : strlen(hex) / 2;
	uint8_t *in = malloc(n + 1), *out = NULL;
	uint64_t n_out = 0;
	pctl_status status = PCTL_E_USAGE;

	codes[0] = '\0';
	if (verb == NULL || hex == NULL || in == NULL) {
		free(in);
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		const char two[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		in[i] = (uint8_t)strtoul(two, NULL, 16);
	}
	if (strcmp(verb, "request") == 0)
		status = request(in, n, &out, &n_out);
	else if (strcmp(verb, "response") == 0)
		status = response(in, n, &out, &n_out);
	else if (strcmp(verb, "execute") == 0)
		status = execute(in, n, &out, &n_out);
	else if (strcmp(verb, "uniform") == 0)
		status = pctl_uniform_decode(p, in, n, &call, &out, &n_out);
	else if (strcmp(verb, "block") == 0)
		status = pctl_uniform_encode(p, in, n, &call, &out, &n_out);
	else if (strcmp(verb, "job") == 0 && rest != NULL)
		status = job(in, n, rest, &out, &n_out);
	if (status == PCTL_OK) {
		printf("ok ");
		for (uint64_t i = 0; i < n_out; i++)
			printf("%02x", out[i]);
		printf("\n");
	} else {
		printf("refused %s\n", codes);
	}
	fflush(stdout);
	free(out);
	free(in);
	return 0;
}

int main(int argc, char **argv)
{
	static char line[LINE_MAX_BYTES];
	const pctl_wgsl_options options = {.file = "uniform.wgsl"};
	pctl_program *p;
	char *text;
	uint64_t n;
	int failed = 0;

	if (argc != 2 || pctl_file_read(argv[1], 1u << 20, &call, &text, &n) != PCTL_OK)
		return 2;
	if (pctl_wgsl_compile(text, n, &options, &call, &p) != PCTL_OK)
		return 2;
	while (!failed && fgets(line, sizeof(line), stdin) != NULL)
		failed = answer(p, line);
	pctl_program_destroy(p);
	free(text);
	return failed;
}
