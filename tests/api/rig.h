/* An opened installation with a home of its own for tests of pipectl.h: what was said is counted, and a cancel can be asked
 * for at the n-th question. The header of the library is all that a test sees of it. */
#ifndef PIPECTL_TESTS_API_RIG_H
#define PIPECTL_TESTS_API_RIG_H

#include "main.h"

#include <stdlib.h>
#include <unistd.h>

#include "pipectl/pipectl.h"

#define RANK PIPECTL_SOURCE_DIR "/pipelines/rank.pipe.cfg"

/* cancel_at: 0: never; from the n-th question on the answer is yes. last: the code of the last error, words: its message. */
typedef struct rig {
	char home[64];
	pipectl *p;
	uint32_t n_errors, last;
	uint32_t cancel_at, n_asked;
	char words[512];
} rig;

static void rig_hear(void *ctx, const pctl_diag *d)
{
	rig *r = ctx;

	assert_non_null(d->message);
	if (d->severity != PCTL_SEVERITY_ERROR)
		return;
	r->n_errors++;
	r->last = d->code;
	snprintf(r->words, sizeof(r->words), "%s", d->message);
}

static uint32_t rig_cancel(void *ctx)
{
	rig *r = ctx;

	r->n_asked++;
	return r->cancel_at != 0 && r->n_asked >= r->cancel_at;
}

/* A second one on the same home is opened with `of`. */
static inline void rig_open(rig *r, const rig *of)
{
	pipectl_options o = {.head = PCTL_HEAD(pipectl_options),
			     .ctx = r,
			     .diagnostic = rig_hear,
			     .cancel = rig_cancel};

	*r = (rig){.home = "/tmp/pipectl-api-XXXXXX"};
	if (of != NULL)
		memcpy(r->home, of->home, sizeof(r->home));
	else
		assert_non_null(mkdtemp(r->home));
	o.home = r->home;
	assert_int_equal(pipectl_open(&o, &r->p), PCTL_OK);
}

static inline void rig_close(rig *r, int with_home)
{
	char command[96];

	pipectl_close(r->p);
	snprintf(command, sizeof(command), "rm -rf %s", r->home);
	assert_true(!with_home || system(command) == 0);
}

/* The call was refused, in words, with this code. */
#define REFUSED(r, code, call)                                 \
	do {                                                   \
		(r)->n_errors = 0;                             \
		assert_int_not_equal((call), PCTL_OK);         \
		assert_int_not_equal((r)->n_errors, 0);        \
		assert_int_equal((r)->last, (uint32_t)(code)); \
	} while (0)

/* Rank of a small graph on the reference. */
static inline pctl_status rig_rank(rig *r, const char *iterations, uint32_t flags,
				   pipectl_result **out)
{
	static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 2}};
	static const char *const cpu[] = {"cpu"};
	static const uint64_t dims[] = {4, 2};
	const pipectl_input in = {.head = PCTL_HEAD(pipectl_input),
				  .name = "edges",
				  .data = edges,
				  .n_bytes = sizeof(edges),
				  .dtype = "u32",
				  .dims = dims,
				  .rank = 2};
	const pipectl_run_options how = {.head = PCTL_HEAD(pipectl_run_options),
					 .backends = cpu,
					 .n_backends = 1,
					 .inputs = &in,
					 .n_inputs = 1,
					 .flags = PIPECTL_RUN_NO_MEMO | flags};
	const pipectl_setting set = {"iterations", iterations};
	pipectl_pipeline *pl = NULL;
	pctl_status status = pipectl_pipeline_load(r->p, RANK, &set, 1, &pl);

	*out = NULL;
	if (status == PCTL_OK)
		status = pipectl_pipeline_run(pl, &how, out);
	/* What a result tells outlives the pipeline. */
	pipectl_pipeline_release(pl);
	return status;
}

/* The CID of the first output, "" where there is none. */
static inline void rig_cid(pipectl_result *r, char cid[PIPECTL_CID_SIZE])
{
	pipectl_output o = {.head = PCTL_HEAD(pipectl_output)};

	cid[0] = '\0';
	if (pipectl_result_output(r, 0, &o) == PCTL_OK)
		memcpy(cid, o.cid, PIPECTL_CID_SIZE);
}

#endif
