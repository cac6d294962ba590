/* A client of the node in C, over frame.h and message.h alone, as a consensus engine would be.
 *   node_client SOCKET drive SENDER WGSL       upload, put, credit, execute, block end, query, get; prints each
 *   node_client SOCKET submit SENDER SHADER INPUT OUTPUT_BYTES N WINDOW
 *                                              N jobs, WINDOW of them at a time; prints how many a second */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "chain/node/frame.h"
#include "chain/messages/message.h"
#include "runtime/ipc/process.h"
#include "foundation/base/clock.h"

#define TIMEOUT_MS 120000u

static void print(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%04u %s\n", d->code, d->message);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = print};

static void give_up(const char *what)
{
	fprintf(stderr, "node_client: %s\n", what);
	exit(1);
}

static int join(const char *path)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(where.sun_path))
		give_up("the path is too long");
	strcpy(where.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&where, sizeof(where)) != 0)
		give_up("nobody listens");
	return fd;
}

static void ask(int fd, const pctl_request *r)
{
	uint8_t *bytes;
	uint64_t n;

	if (pctl_request_encode(r, &call, &bytes, &n) != PCTL_OK ||
	    pctl_frame_send(fd, bytes, (uint32_t)n, TIMEOUT_MS, &call) != PCTL_OK)
		give_up("cannot send");
	free(bytes);
}

/* The next response, which must be of this kind. */
static pctl_response hear(int fd, uint32_t kind)
{
	pctl_response r;
	uint8_t *bytes;
	uint32_t n;

	if (pctl_frame_receive(fd, TIMEOUT_MS, &call, &bytes, &n) != PCTL_OK || bytes == NULL ||
	    pctl_response_decode(bytes, n, &call, &r) != PCTL_OK)
		give_up("no response");
	free(bytes);
	if (r.kind == PCTL_MSG_ERROR)
		fprintf(stderr, "error PC%04u %s\n", r.as.error.code, r.as.error.message);
	if (r.kind != kind)
		give_up("a response of another kind");
	return r;
}

static pctl_response talk(int fd, const pctl_request *r)
{
	ask(fd, r);
	return hear(fd, r->kind);
}

static pctl_request execute(const char *sender, const char *shader, const char *input,
			    uint64_t output_bytes)
{
	return (pctl_request){.kind = PCTL_MSG_EXECUTE,
			      .as.execute = {.sender = sender,
					     .shader_cid = shader,
					     .input = input,
					     .dispatch = {1, 1, 1},
					     .gas_limit = 1000000,
					     .uniform_cid = "",
					     .entry = "",
					     .output_bytes = output_bytes}};
}

/* ---- one of everything ---------------------------------------------------------------------- */

static uint8_t *read_file(const char *path, size_t *n)
{
	uint8_t *bytes = malloc(PCTL_MESSAGE_SOURCE_MAX);
	FILE *f = fopen(path, "rb");

	if (bytes == NULL || f == NULL)
		give_up("cannot read the shader");
	*n = fread(bytes, 1, PCTL_MESSAGE_SOURCE_MAX, f);
	fclose(f);
	return bytes;
}

static void drive(int fd, const char *sender, const char *path)
{
	static const uint8_t input[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0};
	size_t n;
	uint8_t *source = read_file(path, &n);
	pctl_response upload, put, job, block, result, got;
	pctl_request r = {.kind = PCTL_MSG_UPLOAD,
			  .as.upload = {.sender = sender,
					.source = source,
					.n_source = n,
					.description = "",
					.implements = ""}};

	upload = talk(fd, &r);
	printf("shader %s ticks %u\n", upload.as.upload.shader_cid,
	       upload.as.upload.profile.n_ticks);
	r = (pctl_request){.kind = PCTL_MSG_PUT, .as.put = {.data = input, .n_data = 16}};
	put = talk(fd, &r);
	printf("input %s\n", put.as.put.cid);
	r = (pctl_request){.kind = PCTL_MSG_LEDGER,
			   .as.ledger = {.sender = sender,
					 .op = PCTL_LEDGER_CREDIT,
					 .to = sender,
					 .amount = 1000000000}};
	got = talk(fd, &r);
	printf("sequence %" PRIu64 "\n", got.as.ack.sequence);
	pctl_response_destroy(&got);
	r = execute(sender, upload.as.upload.shader_cid, put.as.put.cid, 16);
	job = talk(fd, &r);
	printf("job %s clock %" PRIu64 "\n", job.as.execute.job_id, job.as.execute.logical_clock);
	r = (pctl_request){.kind = PCTL_MSG_BLOCK_END, .as.block = {.height = 0}};
	block = talk(fd, &r);
	printf("block %" PRIu64 " jobs %u root %s\n", block.as.block.height, block.as.block.n_jobs,
	       block.as.block.state_root);
	r = (pctl_request){.kind = PCTL_MSG_QUERY, .as.query = {.job_id = job.as.execute.job_id}};
	result = talk(fd, &r);
	printf("status %u output %s gas %" PRIu64 " %s\n", result.as.query.status,
	       result.as.query.output_cid, result.as.query.gas_used, result.as.query.error);
	r = (pctl_request){.kind = PCTL_MSG_GET, .as.get = {.cid = result.as.query.output_cid}};
	got = talk(fd, &r);
	printf("bytes ");
	for (uint64_t i = 0; i < got.as.get.n_data; i++)
		printf("%02x", got.as.get.data[i]);
	printf("\n");
	pctl_response_destroy(&upload);
	pctl_response_destroy(&put);
	pctl_response_destroy(&job);
	pctl_response_destroy(&block);
	pctl_response_destroy(&result);
	pctl_response_destroy(&got);
	free(source);
}

/* ---- many jobs ------------------------------------------------------------------------------ */

static void submit(int fd, char **a)
{
	const uint64_t n = strtoull(a[4], NULL, 10), window = strtoull(a[5], NULL, 10);
	const pctl_request r = execute(a[0], a[1], a[2], strtoull(a[3], NULL, 10));
	const uint64_t start = pctl_clock_ms();
	double seconds;

	for (uint64_t done = 0; done < n;) {
		const uint64_t some = n - done < window ? n - done : window;

		for (uint64_t i = 0; i < some; i++)
			ask(fd, &r);
		for (uint64_t i = 0; i < some; i++) {
			pctl_response answer = hear(fd, PCTL_MSG_EXECUTE);

			pctl_response_destroy(&answer);
		}
		done += some;
	}
	seconds = (double)(pctl_clock_ms() - start) / 1000;
	printf("%" PRIu64 " submits, %" PRIu64 " at a time, %.3f s, %.0f a second\n", n, window,
	       seconds, seconds > 0 ? (double)n / seconds : 0);
}

int main(int argc, char **argv)
{
	int fd;

	if (argc < 3)
		give_up("usage: node_client SOCKET drive|submit ...");
	fd = join(argv[1]);
	if (strcmp(argv[2], "drive") == 0 && argc == 5)
		drive(fd, argv[3], argv[4]);
	else if (strcmp(argv[2], "submit") == 0 && argc == 9)
		submit(fd, argv + 3);
	else
		give_up("usage");
	close(fd);
	return 0;
}
