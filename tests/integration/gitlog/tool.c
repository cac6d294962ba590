/* Drives a log of blocks from the command line, for run.py: one operation a process, the answer on standard output, the
 * codes of refusals on standard error. `final` in the log's parent stands for the SQLite file that names the commit. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/vec.h"
#include "chain/history/gitlog.h"
#include "faults.h"

static void tell(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%04" PRIu32 " %s\n", d->code, d->message);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = tell};

typedef PCTL_VEC(pctl_gitlog_file) file_list;

static int add(file_list *list, const char *path, char *data, uint64_t n)
{
	const pctl_gitlog_file f = {strdup(path), data, n, 0, 0};

	return f.path != NULL && PCTL_VEC_PUSH(list, f);
}

/* Files from standard input: lines of PATH and the number of bytes, then so many bytes and a newline. */
static int read_files(file_list *list)
{
	char path[1024];
	uint64_t n;

	while (scanf("%1023s %" SCNu64, path, &n) == 2) {
		char *data = malloc(n + 1);

		if (data == NULL || getchar() != '\n' || fread(data, 1, n, stdin) != n ||
		    !add(list, path, data, n))
			return 0;
	}
	return 1;
}

static void drop_files(file_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		free((char *)list->items[i].path);
		free((void *)list->items[i].data);
	}
	free(list->items);
}

static const pctl_gitlog_oid *oid_of(const char *text, pctl_gitlog_oid *buf)
{
	return pctl_gitlog_oid_parse(text, buf) ? buf : NULL;
}

static void print_oid(const char *name, const pctl_gitlog_oid *oid)
{
	char hex[PCTL_GITLOG_OID_TEXT_SIZE];

	printf("%s%s\n", name, pctl_gitlog_oid_format(oid, hex));
}

/* ---- a chain of blocks -------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

/* What a block of n_jobs small jobs holds, made from its height alone. */
static int make_block(uint64_t height, uint32_t n_jobs, file_list *list)
{
	static const struct {
		const char *path;
		uint32_t width, changes;
	} kinds[] = {{"results", 32, 1},
		     {"clock_to_jobs", 8, 1},
		     {"receipts/all", 32, 1},
		     {"edges", 24, 1},
		     {"balances", 8, 0}};

	for (uint32_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		const uint64_t n = (uint64_t)kinds[k].width * n_jobs;
		char *data = malloc(n + 1);

		if (data == NULL)
			return 0;
		for (uint64_t i = 0; i < n; i += 8) {
			const uint64_t v =
				mix((kinds[k].changes ? height << 40 : 0) ^ (uint64_t)k << 32 ^ i);

			memcpy(data + i, &v, 8);
		}
		if (!add(list, kinds[k].path, data, n))
			return 0;
	}
	return 1;
}

static pctl_status write_block(pctl_gitlog *log, const pctl_gitlog_oid *parent, uint64_t height,
			       uint32_t n_jobs, pctl_gitlog_oid *out)
{
	file_list list = {NULL, 0, 0};
	char message[64];
	pctl_status status = PCTL_E_NOMEM;

	snprintf(message, sizeof(message), "block %" PRIu64 "\n", height);
	if (make_block(height, n_jobs, &list))
		status = pctl_gitlog_write(log, parent, list.items, list.n, message, height * 3,
					   &call, out);
	drop_files(&list);
	return status;
}

static pctl_status read_final(const char *path, uint64_t *height, pctl_gitlog_oid *oid)
{
	char *text = NULL, hex[64] = "";
	uint64_t n;
	pctl_status status;

	*height = 0;
	if (!pctl_file_exists(path))
		return PCTL_OK;
	status = pctl_file_read(path, 1000, &call, &text, &n);
	if (status == PCTL_OK && (sscanf(text, "%" SCNu64 " %63s", height, hex) != 2 ||
				  !pctl_gitlog_oid_parse(hex, oid)))
		status = PCTL_E_STORE;
	free(text);
	return status;
}

static pctl_status write_final(const char *path, uint64_t height, const pctl_gitlog_oid *oid)
{
	char text[128], hex[PCTL_GITLOG_OID_TEXT_SIZE];
	const int n = snprintf(text, sizeof(text), "%" PRIu64 " %s\n", height,
			       pctl_gitlog_oid_format(oid, hex));

	return pctl_file_write(path, text, (uint64_t)n, 1, &call);
}

/* As a node does it: repair at start, then write, name, point, up to block `to`. */
static pctl_status chain(pctl_gitlog *log, const char *final, uint64_t to, uint32_t n_jobs)
{
	pctl_gitlog_oid tip, next;
	uint64_t height;
	pctl_status status = read_final(final, &height, &tip);

	if (status == PCTL_OK)
		status = pctl_gitlog_repair(log, height > 0 ? &tip : NULL, &call);
	while (status == PCTL_OK && height < to) {
		status = write_block(log, height > 0 ? &tip : NULL, height + 1, n_jobs, &next);
		if (status == PCTL_OK && getenv("GITLOG_PLANT") != NULL) /* the wrong order */
			status = pctl_gitlog_point(log, &next, &call);
		if (status == PCTL_OK)
			status = write_final(final, height + 1, &next);
		if (status != PCTL_OK)
			break;
		height++;
		tip = next;
		status = pctl_gitlog_point(log, &tip, &call);
		if (status == PCTL_OK) {
			printf("%" PRIu64 " ", height);
			print_oid("", &tip);
			fflush(stdout);
		}
	}
	return status;
}

/* ---- bench -------------------------------------------------------------------------------- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static pctl_status bench(pctl_gitlog *log, uint64_t n_blocks, uint32_t n_jobs)
{
	const double start = now();
	pctl_gitlog_oid tip, next;
	pctl_status status = PCTL_OK;
	double took;

	for (uint64_t i = 0; status == PCTL_OK && i < n_blocks; i++) {
		status = write_block(log, i > 0 ? &tip : NULL, i + 1, n_jobs, &next);
		tip = next;
		if (status == PCTL_OK)
			status = pctl_gitlog_point(log, &tip, &call);
	}
	took = now() - start;
	if (status == PCTL_OK)
		printf("{\"blocks\": %" PRIu64 ", \"jobs\": %" PRIu32 ", \"file_bytes\": %" PRIu64
		       ", \"blocks_per_s\": %.2f}\n",
		       n_blocks, n_jobs, (uint64_t)n_jobs * 104, (double)n_blocks / took);
	return status;
}

/* ---- operations --------------------------------------------------------------------------- */

static int show(void *ctx, const pctl_gitlog_commit *c)
{
	(void)ctx;
	printf("%" PRIu64 " ", c->clock);
	print_oid("", &c->oid);
	return 0;
}

static pctl_status write_stdin(pctl_gitlog *log, char **argv)
{
	file_list list = {NULL, 0, 0};
	pctl_gitlog_oid parent, out;
	pctl_status status = PCTL_E_NOMEM;

	if (read_files(&list))
		status = pctl_gitlog_write(log, oid_of(argv[0], &parent), list.items, list.n,
					   argv[2], strtoull(argv[1], NULL, 10), &call, &out);
	if (status == PCTL_OK)
		print_oid("", &out);
	drop_files(&list);
	return status;
}

static pctl_status operate(pctl_gitlog *log, const char *verb, int argc, char **argv)
{
	pctl_gitlog_oid buf;
	const pctl_gitlog_oid *oid = argc > 0 ? oid_of(argv[0], &buf) : NULL;
	uint64_t n;
	void *data;
	pctl_status status;

	if (strcmp(verb, "write") == 0 && argc == 3)
		return write_stdin(log, argv);
	if (strcmp(verb, "point") == 0 && oid != NULL)
		return pctl_gitlog_point(log, oid, &call);
	if (strcmp(verb, "repair") == 0)
		return pctl_gitlog_repair(log, oid, &call);
	if (strcmp(verb, "walk") == 0 && oid != NULL)
		return pctl_gitlog_walk(log, oid, &call, show, NULL);
	if (strcmp(verb, "chain") == 0 && argc == 3)
		return chain(log, argv[0], strtoull(argv[1], NULL, 10),
			     (uint32_t)strtoul(argv[2], NULL, 10));
	if (strcmp(verb, "bench") == 0 && argc == 2)
		return bench(log, strtoull(argv[0], NULL, 10),
			     (uint32_t)strtoul(argv[1], NULL, 10));
	if (strcmp(verb, "verify") == 0 && oid != NULL) {
		status = pctl_gitlog_verify(log, oid, &call, &n);
		printf("%" PRIu64 "\n", n);
		return status;
	}
	if (strcmp(verb, "cat") == 0 && oid != NULL && argc == 2) {
		status = pctl_gitlog_read(log, oid, argv[1], &call, &data, &n);
		if (status == PCTL_OK)
			fwrite(data, 1, n, stdout);
		free(data);
		return status;
	}
	fprintf(stderr, "usage: tool VERB DIR ...\n");
	return PCTL_E_USAGE;
}

/* The largest file this process may write, as a disk that is full from there on. */
static void limit_files(void)
{
	const char *text = getenv("GITLOG_FILE_LIMIT");
	struct rlimit limit;

	if (text == NULL || getrlimit(RLIMIT_FSIZE, &limit) != 0)
		return;
	signal(SIGXFSZ, SIG_IGN);
	limit.rlim_cur = strtoull(text, NULL, 10);
	setrlimit(RLIMIT_FSIZE, &limit);
}

int main(int argc, char **argv)
{
	pctl_gitlog *log = NULL;
	pctl_status status = PCTL_E_USAGE;

	if (argc >= 3) {
		limit_files();
		faults_begin();
		status = pctl_gitlog_open(argv[2], &call, &log);
		if (status == PCTL_OK)
			status = operate(log, argv[1], argc - 3, argv + 3);
		pctl_gitlog_close(log);
		faults_end();
	}
	return pctl_status_exit(status);
}
