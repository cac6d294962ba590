/* libpipectl in sixty lines: ranks of the nodes of a small graph by the shipped pipeline, from memory and back into memory.
 *   cc example.c $(pkg-config --cflags --libs pipectl) && ./a.out PREFIX/share/pipectl/pipelines/rank.pipe.cfg */
#include <inttypes.h>
#include <stdio.h>

#include <pipectl/pipectl.h>

/* Where it is, what it is, and what to do about it: a program shows these as it likes. */
static void show(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%04" PRIu32 " %s:%" PRIu32 ":%" PRIu32 ": %s%s%s\n", d->code,
		d->pos.file == NULL ? "-" : d->pos.file, d->pos.line, d->pos.column, d->message,
		d->hint == NULL ? "" : "; ", d->hint == NULL ? "" : d->hint);
}

static void print(pipectl_result *r)
{
	pipectl_summary s = {.head = PCTL_HEAD(pipectl_summary)};
	pipectl_output o = {.head = PCTL_HEAD(pipectl_output)};
	const void *data;
	uint64_t n;

	if (pipectl_result_summary(r, &s) != PCTL_OK ||
	    pipectl_result_output(r, 0, &o) != PCTL_OK ||
	    pipectl_result_data(r, 0, &data, &n) != PCTL_OK)
		return;
	printf("%s %s %s[%" PRIu64 "], gas %" PRIu64 ", %s\n", o.name, o.cid, o.dtype, o.dims[0],
	       s.gas, o.evidence);
	for (uint64_t i = 0; i < n / sizeof(uint64_t); i++)
		printf("node %" PRIu64 " rank %" PRIu64 "\n", i, ((const uint64_t *)data)[i]);
}

int main(int argc, char **argv)
{
	static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 2}};
	static const uint64_t dims[] = {4, 2};
	const pipectl_input in = {.head = PCTL_HEAD(pipectl_input),
				  .name = "edges",
				  .data = edges,
				  .n_bytes = sizeof(edges),
				  .dtype = "u32",
				  .dims = dims,
				  .rank = 2};
	const pipectl_run_options how = {
		.head = PCTL_HEAD(pipectl_run_options), .inputs = &in, .n_inputs = 1};
	const pipectl_options options = {.head = PCTL_HEAD(pipectl_options), .diagnostic = show};
	const pipectl_setting iterations = {"iterations", "20"};
	pipectl *p = NULL;
	pipectl_pipeline *pl = NULL;
	pipectl_result *r = NULL;
	pctl_status status = argc < 2 ? PCTL_E_USAGE : pipectl_open(&options, &p);

	if (status == PCTL_OK)
		status = pipectl_pipeline_load(p, argv[1], &iterations, 1, &pl);
	if (status == PCTL_OK)
		status = pipectl_pipeline_run(pl, &how, &r);
	if (status == PCTL_OK)
		print(r);
	pipectl_result_release(r);
	pipectl_pipeline_release(pl);
	pipectl_close(p);
	return status == PCTL_OK ? 0 : 1;
}
