/* Keys of runs and of jobs: whatever changes the answer, or what was allowed, changes the key; nothing else does. A job's key
 * knows nothing of the jobs beside it. */
#include "test_graph_fake.h"

#include "runtime/exec/run_private.h"

#define PIPELINE(class, params, in, type, jobs)                                                   \
	"pipeline : { name = \"p\"; class = \"" class "\"; params : { t = " params                \
						      "; }; inputs : { " in " : { type = \"" type \
						      "\"; }; }; jobs = ( " jobs                  \
						      " ); outputs : { y = \"j.y\"; }; };"
#define JOB(id, op, in, count)                                                                     \
	"{ id = \"" id "\"; op = \"" op "\"; in : { x = \"$" in "\"; }; repeat : { count = " count \
	"; carry : { x = \"y\"; }; }; }"

struct question {
	const char *text, *data, *schedule_id, *digest, *other_digest;
};

/* job: of the pipeline's first job, or NULL. */
static void keys_of(const struct question *q, uint8_t key[PCTL_DIGEST_BYTES],
		    uint8_t job[PCTL_DIGEST_BYTES])
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_graph_options options = {.ops = &fake_source, .kernels = k};
	const pctl_setting in[1] = {{"d", q->data}};
	pctl_run_options o = {
		.ops = &fake_source, .ins = in, .n_ins = 1, .schedule_id = q->schedule_id};
	pctl_running r = {.o = &o, .call = call};
	pctl_run_result result = {.n_inputs = 0};
	pctl_run_output inputs[1];
	pctl_data_source *sources[1] = {NULL};
	pctl_value *values[1] = {NULL};
	pctl_tensor_type types[1] = {{0, 0, {0}}};
	pctl_run_node nodes[2] = {{NULL}, {NULL}};
	uint8_t second[2][PCTL_DIGEST_BYTES];
	uint32_t known;
	pctl_policy *policy;
	pctl_pipeline *p;
	pctl_graph *g;

	fake_digest = q->digest;
	fake_other_digest = q->other_digest;
	assert_int_equal(pctl_pipeline_read_text("p.cfg", q->text, strlen(q->text), call, &p),
			 PCTL_OK);
	assert_int_equal(pctl_graph_resolve(p, &options, call, NULL, NULL, &g), PCTL_OK);
	assert_int_equal(pctl_policy_default(call, &policy), PCTL_OK);
	o.policy = policy;
	result.arena = pctl_arena_create();
	result.inputs = inputs;
	r.result = &result;
	r.graph = g;
	r.sources = sources;
	r.inputs = values;
	r.input_types = types;
	r.dims = pctl_map_create();
	assert_int_equal(pctl_run_bind_inputs(&r), PCTL_OK);
	assert_int_equal(pctl_run_key(&r, key), PCTL_OK);
	r.nodes = nodes;
	nodes[0].node = &g->nodes[0];
	nodes[1].node = g->n_nodes > 1 ? &g->nodes[1] : NULL;
	if (job != NULL) {
		assert_int_equal(pctl_run_job_key(&r, &nodes[0], job, &known), PCTL_OK);
		assert_int_equal(known, 1);
	}
	/* What a job before it gives has no name yet, and then has one. */
	if (job != NULL && nodes[1].node != NULL) {
		assert_int_equal(pctl_run_job_key(&r, &nodes[1], second[0], &known), PCTL_OK);
		assert_int_equal(known, 0);
		nodes[0].known[0] = 1;
		nodes[0].out[0] = r.input_types[0];
		for (uint32_t i = 0; i < 2; i++) {
			nodes[0].cid[0].digest[0] = (uint8_t)i;
			assert_int_equal(pctl_run_job_key(&r, &nodes[1], second[i], &known),
					 PCTL_OK);
			assert_int_equal(known, 1);
		}
		assert_memory_not_equal(second[0], second[1], PCTL_DIGEST_BYTES);
	}
	pctl_value_release(values[0]);
	pctl_source_close(sources[0]);
	pctl_map_destroy(r.dims);
	pctl_arena_destroy(result.arena);
	pctl_policy_destroy(policy);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
}

static void key_of(const struct question *q, uint8_t key[PCTL_DIGEST_BYTES])
{
	keys_of(q, key, NULL);
}

static void keys(void **state)
{
	static const struct question base = {
		PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		"zero:64", "s1", "d1", "o1"};
	static const struct question same[] = {
		/* How the job is called, and how its op's version is given, is no part of the question. */
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1..4", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
	};
	static const struct question others[] = {
		{PIPELINE("strict", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
		{PIPELINE("integer", "2", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[m]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.inc@1", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "3")),
		 "zero:64", "s1", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:68", "s1", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s2", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d2", "o1"},
		/* A library that is only loaded: the op may use it in its plan. */
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d1", "o2"},
	};
	enum { MOST = sizeof(others) / sizeof(others[0]) + 1 };
	uint8_t key[MOST][PCTL_DIGEST_BYTES], again[PCTL_DIGEST_BYTES];

	(void)state;
	key_of(&base, key[0]);
	for (uint32_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		key_of(&same[i], again);
		assert_memory_equal(key[0], again, PCTL_DIGEST_BYTES);
	}
	for (uint32_t i = 1; i < MOST; i++) {
		key_of(&others[i - 1], key[i]);
		for (uint32_t m = 0; m < i; m++)
			assert_memory_not_equal(key[m], key[i], PCTL_DIGEST_BYTES);
	}
}

#define TWO(count, second)                                                            \
	PIPELINE("integer", "1", "d", "u32[n]",                                       \
		 JOB("j", "fake.plan@1", "d", count) ", { id = \"k\"; op = \"" second \
						     "\"; in : { x = \"j.y\"; }; }")

static void keys_of_jobs(void **state)
{
	static const struct question base = {TWO("2", "fake.plan@1"), "zero:64", "s1", "d1", "o1"};
	static const struct question same[] = {
		{TWO("2", "fake.inc@1"), "zero:64", "s1", "d1", "o1"}, /* another second job */
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d1", "o1"}, /* none */
		{PIPELINE("integer", "2", "d", "u32[m]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d1",
		 "o1"}, /* a parameter it does not ask for, a name of a size */
	};
	static const struct question others[] = {
		{TWO("3", "fake.plan@1"), "zero:64", "s1", "d1", "o1"},
		{TWO("2", "fake.plan@1"), "zero:68", "s1", "d1", "o1"},
		{TWO("2", "fake.plan@1"), "zero:64", "s2", "d1", "o1"},
		{TWO("2", "fake.plan@1"), "zero:64", "s1", "d2", "o1"},
		{TWO("2", "fake.plan@1"), "zero:64", "s1", "d1", "o2"},
		{PIPELINE("strict", "1", "d", "u32[n]", JOB("j", "fake.plan@1", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
		{PIPELINE("integer", "1", "d", "u32[n]", JOB("j", "fake.inc@1", "d", "2")),
		 "zero:64", "s1", "d1", "o1"},
	};
	enum { MOST = sizeof(others) / sizeof(others[0]) + 1 };
	uint8_t key[MOST][PCTL_DIGEST_BYTES], run[PCTL_DIGEST_BYTES];

	(void)state;
	keys_of(&base, run, key[0]);
	assert_memory_not_equal(run, key[0], PCTL_DIGEST_BYTES);
	for (uint32_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		keys_of(&same[i], run, key[1]);
		assert_memory_equal(key[0], key[1], PCTL_DIGEST_BYTES);
	}
	for (uint32_t i = 1; i < MOST; i++) {
		keys_of(&others[i - 1], run, key[i]);
		for (uint32_t m = 0; m < i; m++)
			assert_memory_not_equal(key[m], key[i], PCTL_DIGEST_BYTES);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(keys), PCTL_TEST(keys_of_jobs))
