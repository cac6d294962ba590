/* Work that takes long, of pipectl.h: cancelled at every question, done in threads at once, proofs and audits with their
 * documents, and structures of other versions. */
#include "rig.h"

#include <pthread.h>

static void api__cancelled_at_every_question(void **state)
{
	char want[PIPECTL_CID_SIZE], cid[PIPECTL_CID_SIZE];
	pipectl_result *result;
	uint32_t n_asked, n_cancelled = 0;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	assert_int_equal(rig_rank(&r, "5", 0, &result), PCTL_OK);
	rig_cid(result, want);
	pipectl_result_release(result);
	n_asked = r.n_asked;
	assert_int_not_equal(n_asked, 0);
	for (uint32_t at = 1; at <= n_asked; at += n_asked / 60 + 1) {
		pctl_status status;

		r.n_asked = r.n_errors = 0;
		r.cancel_at = at;
		status = rig_rank(&r, "5", 0, &result);
		/* A question may be one less in a run that finds what another one built. */
		if (status == PCTL_OK) {
			rig_cid(result, cid);
			assert_string_equal(cid, want);
			pipectl_result_release(result);
			continue;
		}
		assert_int_equal(status, PCTL_E_CANCELLED);
		assert_null(result);
		assert_int_not_equal(r.n_errors, 0);
		n_cancelled++;
		r.cancel_at = 0;
		assert_int_equal(rig_rank(&r, "5", 0, &result), PCTL_OK);
		rig_cid(result, cid);
		assert_string_equal(cid, want);
		pipectl_result_release(result);
	}
	assert_int_not_equal(n_cancelled, 0);
	rig_close(&r, 1);
}

/* ---- threads ------------------------------------------------------------------------------ */

#define THREADS 4u

typedef struct thread_work {
	const rig *of;
	char cids[3][PIPECTL_CID_SIZE];
	uint32_t done;
} thread_work;

/* Nothing is asserted here: the test looks at what came of it. */
static void *work(void *arg)
{
	thread_work *w = arg;
	const pipectl_options o = {.head = PCTL_HEAD(pipectl_options), .home = w->of->home};
	rig r = {.n_errors = 0};

	if (pipectl_open(&o, &r.p) != PCTL_OK)
		return NULL;
	for (uint32_t i = 0; i < 3; i++) {
		pipectl_result *result;

		if (rig_rank(&r, i == 0 ? "1" : i == 1 ? "2" : "3", 0, &result) != PCTL_OK)
			break;
		rig_cid(result, w->cids[i]);
		pipectl_result_release(result);
		w->done++;
	}
	pipectl_close(r.p);
	return NULL;
}

static void api__threads_with_a_handle_each(void **state)
{
	thread_work w[THREADS];
	pthread_t threads[THREADS];
	rig r;

	(void)state;
	rig_open(&r, NULL);
	for (uint32_t i = 0; i < THREADS; i++) {
		w[i] = (thread_work){.of = &r};
		assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
	}
	for (uint32_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		assert_int_equal(w[i].done, 3);
		assert_memory_equal(w[i].cids, w[0].cids, sizeof(w[i].cids));
	}
	assert_string_not_equal(w[0].cids[0], w[0].cids[1]);
	rig_close(&r, 1);
}

/* A handle goes from thread to thread, one at a time. */
static void *run_it(void *arg)
{
	thread_work *w = arg;
	pipectl_result *result;
	rig *r = (rig *)(uintptr_t)w->of;

	if (rig_rank(r, "2", 0, &result) == PCTL_OK) {
		rig_cid(result, w->cids[w->done++]);
		pipectl_result_release(result);
	}
	return NULL;
}

static void api__a_handle_in_other_threads(void **state)
{
	thread_work w;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	w = (thread_work){.of = &r};
	for (uint32_t i = 0; i < 3; i++) {
		pthread_t t;

		assert_int_equal(pthread_create(&t, NULL, run_it, &w), 0);
		assert_int_equal(pthread_join(t, NULL), 0);
		assert_int_equal(w.done, i + 1);
		assert_string_equal(w.cids[i], w.cids[0]);
	}
	rig_close(&r, 1);
}

/* ---- proofs and audits -------------------------------------------------------------------- */

static pipectl_certify_options asked(const char *device)
{
	return (pipectl_certify_options){.head = PCTL_HEAD(pipectl_certify_options),
					 .device = device,
					 .level = "L1",
					 .ops = "int.popcount@1"};
}

static void api__a_proof_says_what_it_shows(void **state)
{
	pipectl_certify_options o = asked("cpu");
	char *json;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	o.cases = 10;
	REFUSED(&r, PC5520_REFUSED, pipectl_certify(r.p, &o, &json));
	assert_non_null(strstr(json, "\"cases\""));
	assert_non_null(strstr(json, "PC5520"));
	pipectl_free(json);
	o = asked("mock:wrap=cpu+lane=1");
	o.cases = 10;
	REFUSED(&r, PC5521_FAILED, pipectl_certify(r.p, &o, &json));
	assert_non_null(strstr(json, "PC5521"));
	pipectl_free(json);
	o = asked("cpu");
	o.level = "L9";
	REFUSED(&r, PC11_API_USE, pipectl_certify(r.p, &o, &json));
	pipectl_free(json);
	o = asked("cpu");
	r.cancel_at = 20;
	r.n_asked = 0;
	assert_int_equal(pipectl_certify(r.p, &o, &json), PCTL_E_CANCELLED);
	assert_non_null(strstr(json, "cancelled"));
	pipectl_free(json);
	rig_close(&r, 1);
}

static void api__an_audit_names_who_lies(void **state)
{
	static const uint32_t edges[][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 2}};
	const char *devices[] = {"cpu", "mock:wrap=cpu",
				 "mock:wrap=cpu+flip-bit@iterate/4:element=3"};
	const pipectl_input in = {.head = PCTL_HEAD(pipectl_input),
				  .name = "edges",
				  .data = edges,
				  .n_bytes = sizeof(edges)};
	pipectl_audit_options o = {.head = PCTL_HEAD(pipectl_audit_options),
				   .devices = devices,
				   .inputs = &in,
				   .n_devices = 2,
				   .n_inputs = 1,
				   .repeat = 1,
				   .flags = PIPECTL_AUDIT_KEEP};
	const pipectl_setting six = {"iterations", "6"};
	pipectl_pipeline *pl;
	char *json;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	assert_int_equal(pipectl_pipeline_load(r.p, RANK, &six, 1, &pl), PCTL_OK);
	assert_int_equal(pipectl_audit(pl, &o, &json), PCTL_OK);
	assert_non_null(strstr(json, "\"agreed\": true"));
	pipectl_free(json);
	o.n_devices = 3;
	REFUSED(&r, PC5612_AUDIT_MISMATCH, pipectl_audit(pl, &o, &json));
	assert_non_null(strstr(json, "\"agreed\": false"));
	assert_non_null(strstr(json, "\"outcome\": \"differs\""));
	pipectl_free(json);
	o.flags = 8;
	REFUSED(&r, PC11_API_USE, pipectl_audit(pl, &o, &json));
	pipectl_free(json);
	pipectl_pipeline_release(pl);
	rig_close(&r, 1);
}

/* ---- structures --------------------------------------------------------------------------- */

static void api__structures_of_other_versions(void **state)
{
	struct {
		pipectl_port port;
		uint64_t younger;
	} later = {.port = {.head = {sizeof(later), 1, 0}}, .younger = 7};
	struct {
		pipectl_run_options options;
		uint64_t younger;
	} more = {.options = {.head = {sizeof(more), 1, 0}}, .younger = 1};
	pipectl_port shorter = {.head = {offsetof(pipectl_port, source), 1, 0}, .source = "kept"};
	pipectl_port headless = {.name = NULL};
	const pipectl_setting six = {"iterations", "6"};
	pipectl_setting param;
	pipectl_pipeline *pl;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	assert_int_equal(pipectl_pipeline_load(r.p, RANK, &six, 1, &pl), PCTL_OK);
	assert_int_equal(pipectl_pipeline_input(pl, 0, &later.port), PCTL_OK);
	assert_string_equal(later.port.type, "u32[m,2]");
	assert_int_equal(later.younger, 0);
	assert_int_equal(pipectl_pipeline_input(pl, 0, &shorter), PCTL_OK);
	assert_string_equal(shorter.name, "edges");
	assert_string_equal(shorter.source, "kept");
	REFUSED(&r, PC11_API_USE, pipectl_pipeline_input(pl, 0, &headless));
	REFUSED(&r, PC11_API_USE, pipectl_pipeline_check(pl, &more.options, NULL, 0));
	more.younger = 0;
	assert_int_equal(pipectl_pipeline_check(pl, &more.options, NULL, 0), PCTL_OK);
	assert_int_equal(pipectl_pipeline_param_count(pl), 3);
	assert_int_equal(pipectl_pipeline_param(pl, 1, &param), PCTL_OK);
	assert_string_equal(param.name, "iterations");
	assert_string_equal(param.value, "6");
	REFUSED(&r, PC11_API_USE, pipectl_pipeline_param(pl, 3, &param));
	assert_null(param.name);
	pipectl_pipeline_release(pl);
	rig_close(&r, 1);
}

PCTL_TESTS_MAIN(PCTL_TEST(api__cancelled_at_every_question),
		PCTL_TEST(api__threads_with_a_handle_each),
		PCTL_TEST(api__a_handle_in_other_threads),
		PCTL_TEST(api__a_proof_says_what_it_shows), PCTL_TEST(api__an_audit_names_who_lies),
		PCTL_TEST(api__structures_of_other_versions))
