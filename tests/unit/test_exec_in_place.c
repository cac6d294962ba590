/* Outputs in the place of inputs (SEMANTICS.md 17.7): what a plan must be like, and runs on the reference both ways: the same bytes, less
 * memory, and the input whole wherever somebody else reads it. */
#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "planted/planted.h"
#include "runtime/exec/resident.h"
#include "runtime/plugin/registry.h"

#define N 256u
#define BYTES (N * 4u)
#define TEXT_OF(expression)                                               \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"\tif (id.x < arrayLength(&y)) { " expression " }\n}\n"
/* Writes every second element anew; the other ones stay. */
#define PUT TEXT_OF("if (id.x % 2u == 0u) { y[id.x] = y[id.x] * 3u + x[id.x]; }")
#define ADD TEXT_OF("y[id.x] = x[id.x] + 1u;")

/* ---- the library: p.add adds 1; p.put(x, by) is x with every second element 3 x + by ------------- */

static const pctl_port one_in[] = {{"x", "u32[n]", "data", 0, 0}};
static const pctl_port one_out[] = {{"y", "u32[n]", "data", 0, 0}};
static const pctl_port put_in[] = {{"by", "u32[n]", "data", 0, 0}, {"x", "u32[n]", "data", 0, 0}};
static const pctl_port put_out[] = {{"y", "u32[n]", "data", PCTL_PORT_IN_PLACE(1), 0}};
#define OP(name, in, out)                                                                         \
	{                                                                                         \
		PCTL_HEAD(pctl_op_desc), name, "an op", "exactly", 1, PCTL_OPDEF_PLAN, 'A',       \
			PCTL_CLASS_INTEGER, 1, sizeof(in) / sizeof((in)[0]), 1, 0, in, out, NULL, \
			NULL, NULL                                                                \
	}
static const pctl_op_desc ops[] = {OP("p.add", one_in, one_out), OP("p.put", put_in, put_out)};

static uint32_t n_inferred, n_planned; /* how often the library was asked */

static pctl_status infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			 pctl_op_result *out)
{
	(void)inst;
	(void)call;
	n_inferred++;
	out->out[0] = q->in[0];
	return PCTL_OK;
}

static pctl_status kernel(const pctl_plan_sink *s, const char *text, uint32_t from, uint32_t to)
{
	const pctl_plan_binding b[2] = {{0, 0, from, 0, 0, 0}, {0, 1, to, 0, 0, 0}};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "k",
				    .wgsl = text,
				    .bindings = b,
				    .n_bindings = 2,
				    .groups = {N / 64, 1, 1}};

	return s->kernel(s->ctx, &k);
}

/* Buffers: by 0, x 1, y 2. In two copies, of which the order is free. */
static pctl_status good(const pctl_plan_sink *s)
{
	pctl_status status = s->copy(s->ctx, 1, BYTES / 2, 2, BYTES / 2, BYTES / 2);

	if (status == PCTL_OK)
		status = s->copy(s->ctx, 1, 0, 2, 0, BYTES / 2);
	return status == PCTL_OK ? kernel(s, PUT, 0, 2) : status;
}

static pctl_status fails(const pctl_plan_sink *s)
{
	const pctl_plan_assert a = {.head = PCTL_HEAD(pctl_plan_assert),
				    .buffer = 2,
				    .bytes = 4,
				    .expected = 0xdeadu,
				    .message = "found %v"};
	const pctl_status status = good(s);

	return status == PCTL_OK ? s->assert_equal(s->ctx, &a) : status;
}

/* Reads the input again after it wrote the output. */
static pctl_status reads_late(const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, BYTES, &t);

	if (status == PCTL_OK)
		status = good(s);
	return status == PCTL_OK ? kernel(s, ADD, 1, t) : status;
}

static pctl_status copies_late(const pctl_plan_sink *s)
{
	pctl_status status = kernel(s, ADD, 0, 2);

	return status == PCTL_OK ? s->copy(s->ctx, 1, 0, 2, 0, BYTES) : status;
}

static pctl_status copies_shifted(const pctl_plan_sink *s)
{
	pctl_status status = s->copy(s->ctx, 1, 0, 2, 4, BYTES - 4);

	return status == PCTL_OK ? kernel(s, PUT, 0, 2) : status;
}

static pctl_status copies_elsewhere(const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, BYTES, &t);

	if (status == PCTL_OK)
		status = good(s);
	return status == PCTL_OK ? s->copy(s->ctx, 1, 0, t, 0, BYTES) : status;
}

static pctl_status (*put_with)(const pctl_plan_sink *s) = good;

static pctl_status plan(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	(void)inst;
	(void)call;
	(void)caps;
	(void)flags;
	n_planned++;
	return q->op == 0 ? kernel(sink, ADD, 0, 1) : put_with(sink);
}

static const pctl_oplib library = {.head = PCTL_HEAD(pctl_oplib), .infer = infer, .plan = plan};

static uint32_t count(void *ctx)
{
	(void)ctx;
	return sizeof(ops) / sizeof(ops[0]);
}

static void at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	(void)ctx;
	*out = (pctl_op_ref){&library, NULL, &ops[i], i, 0, "p", "d1"};
}

static const pctl_op_source source = {NULL, count, at};

/* ---- runs on the reference ----------------------------------------------------------------------- */

struct bench {
	char home[64];
	pctl_diag_list *l;
	const pctl_call *call;
	pctl_registry *registry;
	pctl_kernels *kernels;
	pctl_store *store;
	pctl_policy *policy;
	pctl_gas_schedule *schedule;
};

static void bench_open(struct bench *b)
{
	static const char *const dirs[] = {PIPECTL_BINARY_DIR "/plugins.d"};
	pctl_registry_options ro = {.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
				    .dirs = dirs,
				    .n_dirs = 1,
				    .worker = PIPECTL_BINARY_DIR "/bin/pipectl-worker"};

	memset(b, 0, sizeof(*b));
	strcpy(b->home, "/tmp/pipectl-place-XXXXXX");
	assert_non_null(mkdtemp(b->home));
	b->l = pctl_diag_list_create();
	b->call = pctl_diag_list_call(b->l);
	ro.home = b->home;
	assert_int_equal(pctl_registry_open(&ro, b->call, &b->registry), PCTL_OK);
	b->kernels = pctl_kernels_create(&source);
	assert_int_equal(pctl_store_open_memory(b->call, &b->store), PCTL_OK);
	assert_int_equal(pctl_policy_default(b->call, &b->policy), PCTL_OK);
	assert_int_equal(pctl_gas_schedule_read(PIPECTL_SOURCE_DIR "/conf/gas/structured-3.cfg",
						b->call, &b->schedule),
			 PCTL_OK);
}

static void bench_close(struct bench *b)
{
	char command[128];

	pctl_gas_schedule_destroy(b->schedule);
	pctl_policy_destroy(b->policy);
	pctl_store_close(b->store);
	pctl_kernels_destroy(b->kernels);
	pctl_registry_close(b->registry);
	pctl_diag_list_destroy(b->l);
	snprintf(command, sizeof(command), "rm -rf %s", b->home);
	assert_int_equal(system(command), 0);
}

struct given {
	uint32_t words[2][N];
	pctl_input_bytes in[2];
};

static void give(struct given *g)
{
	static const char *const names[] = {"d", "e"};

	for (uint32_t k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < N; i++)
			g->words[k][i] = i * 2654435761u + k;
		g->in[k] = (pctl_input_bytes){names[k], g->words[k], BYTES, {0, 0, {0}}};
	}
}

static pctl_status run(struct bench *b, const char *text, uint32_t flags, pctl_run_result **out,
		       pctl_pipeline **p, pctl_graph **graph)
{
	pctl_graph_options go = {.ops = &source, .kernels = b->kernels};
	struct given g;
	pctl_run_options o = {.registry = b->registry,
			      .ops = &source,
			      .store = b->store,
			      .schedule = b->schedule,
			      .policy = b->policy,
			      .given = g.in,
			      .n_given = 2,
			      .flags = flags | PCTL_RUN_IN_PROCESS | PCTL_RUN_FRESH};
	static const char *const backends[] = {"cpu"};
	pctl_status status;

	o.backends = backends;
	o.n_backends = 1;
	give(&g);
	assert_int_equal(pctl_pipeline_read_text("p.cfg", text, strlen(text), b->call, p), PCTL_OK);
	assert_int_equal(pctl_graph_resolve(*p, &go, b->call, NULL, NULL, graph), PCTL_OK);
	status = pctl_run(*graph, &o, b->call, out);
	return status;
}

static uint32_t put(uint32_t i, uint32_t x, uint32_t by)
{
	return i % 2 == 0 ? x * 3 + by : x;
}

#define HEAD                                                                                      \
	"pipeline : { name = \"p\"; class = \"integer\"; inputs : { d : { type = \"u32[n]\"; }; " \
	"e : { type = \"u32[n]\"; }; }; "
#define JOB_ADD(id, x) "{ id = \"" id "\"; op = \"p.add@1\"; in : { x = \"" x "\"; }; }"
#define JOB_PUT(id, x, by) \
	"{ id = \"" id "\"; op = \"p.put@1\"; in : { x = \"" x "\"; by = \"" by "\"; }; }"
static const struct {
	const char *what, *text;
	uint32_t saved; /* of values of BYTES: how much less lies there at once */
} cases[] = {
	{"what another job made, and nobody else reads",
	 HEAD "jobs = ( " JOB_ADD("a", "$d") ", " JOB_PUT(
		 "b", "a.y", "$e") " ); outputs : { y = \"b.y\"; }; };",
	 1},
	{"an input of the run, which stays what it is with whoever gave it",
	 HEAD "jobs = ( " JOB_PUT("b", "$d", "$e") " ); outputs : { y = \"b.y\"; }; };", 1},
	{"one place through several jobs",
	 HEAD "jobs = ( " JOB_ADD("a", "$d") ", " JOB_PUT("b", "a.y", "$e") ", " JOB_PUT(
		 "c", "b.y", "$e") ", " JOB_PUT("f", "c.y",
						"$e") " ); outputs : { y = \"f.y\"; }; };",
	 1},
	{"another job reads it afterwards",
	 HEAD "jobs = ( " JOB_ADD("a", "$d") ", " JOB_PUT("b", "a.y", "$e") ", " JOB_PUT(
		 "c", "b.y", "a.y") " ); outputs : { y = \"c.y\"; }; };",
	 0},
	{"it is an output of the pipeline",
	 HEAD "jobs = ( " JOB_ADD("a", "$d") ", " JOB_PUT(
		 "b", "a.y", "$e") " ); outputs : { y = \"b.y\"; a = \"a.y\"; }; };",
	 0},
	{"the job reads it twice",
	 HEAD "jobs = ( " JOB_ADD("a", "$d") ", " JOB_PUT(
		 "b", "a.y", "a.y") " ); outputs : { y = \"b.y\"; z = \"b.y\"; }; "
				    "};",
	 0},
	{"a repeat goes between two buffers",
	 HEAD "jobs = ( { id = \"b\"; op = \"p.put@1\"; in : { x = \"$d\"; by = \"$e\"; }; repeat "
	      ": { count = 3; carry : { x "
	      "= \"y\"; }; }; } ); outputs : { y = \"b.y\"; }; };",
	 0},
};

static void both_ways(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	put_with = good;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_run_result *r[2];
		pctl_pipeline *p[2];
		pctl_graph *g[2];

		for (uint32_t k = 0; k < 2; k++)
			if (run(&b, cases[i].text, k == 0 ? 0 : PCTL_RUN_NO_PLACES, &r[k], &p[k],
				&g[k]) != PCTL_OK)
				fail_msg("%s: %s", cases[i].what,
					 pctl_diag_list_at(b.l, 0)->message);
		assert_int_equal(r[0]->n_outputs, r[1]->n_outputs);
		for (uint32_t k = 0; k < r[0]->n_outputs; k++)
			assert_int_equal(
				pctl_cid_compare(&r[0]->outputs[k].cid, &r[1]->outputs[k].cid), 0);
		assert_int_equal(r[0]->gas, r[1]->gas);
		if (r[1]->peak_bytes - r[0]->peak_bytes != (uint64_t)cases[i].saved * BYTES)
			fail_msg("%s: %llu bytes at once, and %llu", cases[i].what,
				 (unsigned long long)r[0]->peak_bytes,
				 (unsigned long long)r[1]->peak_bytes);
		for (uint32_t k = 0; k < 2; k++) {
			pctl_run_result_destroy(r[k]);
			pctl_graph_destroy(g[k]);
			pctl_pipeline_destroy(p[k]);
		}
	}
	bench_close(&b);
}

/* The bytes are right, by other means than a run. */
static void right(void **state)
{
	pctl_run_result *r;
	pctl_pipeline *p;
	pctl_graph *g;
	struct bench b;
	struct given in;
	uint32_t want[N];
	pctl_cid cid;

	(void)state;
	give(&in);
	bench_open(&b);
	put_with = good;
	assert_int_equal(run(&b, cases[2].text, 0, &r, &p, &g), PCTL_OK);
	for (uint32_t i = 0; i < N; i++) {
		want[i] = in.words[0][i] + 1;
		for (uint32_t k = 0; k < 3; k++)
			want[i] = put(i, want[i], in.words[1][i]);
	}
	assert_int_equal(pctl_cid_of(want, sizeof(want), b.call, &cid), PCTL_OK);
	assert_int_equal(pctl_cid_compare(&cid, &r->outputs[0].cid), 0);
	pctl_run_result_destroy(r);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	bench_close(&b);
}

/* A job that fails when it has written gives nothing to anybody. */
static void failing(void **state)
{
	pctl_run_result *r;
	pctl_pipeline *p;
	pctl_graph *g;
	struct bench b;

	(void)state;
	bench_open(&b);
	put_with = fails;
	assert_int_equal(run(&b, cases[0].text, 0, &r, &p, &g), PCTL_E_EXEC);
	assert_null(r);
	assert_int_equal(pctl_diag_list_at(b.l, 0)->code, PC5205_JOB_FAILED);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	bench_close(&b);
}

static const struct {
	pctl_status (*plan)(const pctl_plan_sink *s);
	const char *fault, *names;
} bad[] = {
	{reads_late, "an op reads an input again after it wrote the output in its place", "step 4"},
	{copies_late, "an op copies an input over what it wrote of the output in its place",
	 "step 2"},
	{copies_shifted, "an op moves the bytes of an input in whose place its output lies",
	 "step 1"},
	{copies_elsewhere, "an op copies an input in whose place its output lies to a temporary",
	 "step 4"},
};

static void bad_plans(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const uint32_t before = pctl_diag_list_count(b.l);
		pctl_run_result *r;
		pctl_pipeline *p;
		pctl_graph *g;

		put_with = bad[i].plan;
		/* Whether or not it would lie there in this run. */
		assert_int_equal(run(&b, cases[i % 2 == 0 ? 0 : 4].text, 0, &r, &p, &g),
				 PCTL_E_PLUGIN);
		assert_int_equal(pctl_diag_list_at(b.l, before)->code, PC4132_PLAN);
		assert_non_null(strstr(pctl_diag_list_at(b.l, before)->message, bad[i].names));
		planted(bad[i].fault, "p.put", "PC4132", pctl_diag_list_at(b.l, before)->message);
		pctl_graph_destroy(g);
		pctl_pipeline_destroy(p);
	}
	put_with = good;
	bench_close(&b);
}

/* Layers that ask the same are answered once, and each failure is of its own job. */
static void asked_once(void **state)
{
	static const char text[] = HEAD "jobs = ( { id = \"g\"; repeat : { count = 9; start : { x "
					"= \"$d\"; }; carry : { x = "
					"\"b.y\"; }; }; jobs = ( " JOB_ADD("a", "@x") ", " JOB_PUT(
						"b", "a.y", "$e") " ); } ); "
								  "outputs : { y = \"g.x\"; }; };";
	pctl_run_result *r;
	pctl_pipeline *p;
	pctl_graph *g;
	struct bench b;
	struct given in;
	uint32_t want[N];
	pctl_cid cid;

	(void)state;
	give(&in);
	bench_open(&b);
	put_with = good;
	n_inferred = n_planned = 0;
	assert_int_equal(run(&b, text, 0, &r, &p, &g), PCTL_OK);
	assert_int_equal(r->n_jobs, 18);
	assert_in_range(n_inferred, 2, 4); /* a plan of one input asks whether it is a view */
	/* At most for the canonical plan and for the device's. */
	assert_in_range(n_planned, 2, 4);
	for (uint32_t i = 0; i < N; i++) {
		want[i] = in.words[0][i];
		for (uint32_t k = 0; k < 9; k++)
			want[i] = put(i, want[i] + 1, in.words[1][i]);
	}
	assert_int_equal(pctl_cid_of(want, sizeof(want), b.call, &cid), PCTL_OK);
	assert_int_equal(pctl_cid_compare(&cid, &r->outputs[0].cid), 0);
	pctl_run_result_destroy(r);
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	put_with = fails;
	assert_int_equal(run(&b, text, 0, &r, &p, &g), PCTL_E_EXEC);
	assert_non_null(strstr(pctl_diag_list_at(b.l, 0)->message, "g.0.b"));
	pctl_graph_destroy(g);
	pctl_pipeline_destroy(p);
	put_with = good;
	bench_close(&b);
}

/* ---- states of resident runs --------------------------------------------------------------------- */

#define STATE_HEAD                                                                             \
	HEAD "jobs = ( " JOB_ADD("a", "$e") ", " JOB_ADD("look", "$d") ", " JOB_PUT("b", "$d", \
										    "a.y")
#define STATE_END " ); outputs : { d_after = \"b.y\"; old = \"look.y\"; }; };"
/* The same, where the pipeline itself says what is state. */
#define STATE_DECLARED                                                                             \
	"pipeline : { name = \"p\"; class = \"integer\"; inputs : { e : { type = \"u32[n]\"; }; "  \
	"}; "                                                                                      \
	"state : { d : { type = \"u32[n]\"; next = \"b.y\"; }; }; jobs = ( " JOB_ADD(              \
		"a",                                                                               \
		"$e") ", " JOB_ADD("look",                                                         \
				   "$d") ", " JOB_PUT("b", "$d",                                   \
						      "a.y") " ); outputs : { d_after = \"b.y\"; " \
							     "old = \"look.y\"; }; };"

static pctl_status open_resident(struct bench *b, const char *text, uint32_t flags, struct given *g,
				 pctl_pipeline **p, pctl_graph **graph, pctl_resident **out)
{
	static const char *const backends[] = {"cpu"}, *const changing[] = {"e"},
				 *const reads[] = {"d_after", "old"};
	static const pctl_resident_state states[] = {{"d", "d_after"}};
	const pctl_graph_options go = {.ops = &source, .kernels = b->kernels};
	const pctl_run_options o = {.registry = b->registry,
				    .ops = &source,
				    .store = b->store,
				    .schedule = b->schedule,
				    .policy = b->policy,
				    .given = g->in,
				    .n_given = 2,
				    .backends = backends,
				    .n_backends = 1,
				    .flags = flags | PCTL_RUN_IN_PROCESS};
	const pctl_resident_options how = {.changing = changing,
					   .states = states,
					   .reads = reads,
					   .n_changing = 1,
					   .n_states = strstr(text, "state :") == NULL,
					   .n_reads = 2,
					   .history_bytes = 1u << 20};

	give(g);
	assert_int_equal(pctl_pipeline_read_text("p.cfg", text, strlen(text), b->call, p), PCTL_OK);
	assert_int_equal(pctl_graph_resolve(*p, &go, b->call, NULL, NULL, graph), PCTL_OK);
	return pctl_resident_open(*graph, &o, &how, b->call, out);
}

/* A state is written where it lies, without a copy, unless a job reads it afterwards or places are forbidden; the bytes are those of
 * steps that copy. */
static void states_in_place(void **state)
{
	static const struct {
		const char *text;
		uint32_t flags, buffers, copies;
	} kinds[] = {{STATE_HEAD STATE_END, 0, 1, 0},
		     {STATE_HEAD STATE_END, PCTL_RUN_NO_PLACES, 2, 2},
		     {STATE_DECLARED, 0, 1, 0},
		     {STATE_HEAD ", " JOB_PUT("late", "$d", "b.y") STATE_END, 0, 2, 4}};

	(void)state;
	put_with = good;
	for (uint32_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		uint32_t want[N], e[N], got[2][N];
		const pctl_resident_input in = {e, BYTES};
		const pctl_resident_output out[2] = {{got[0], BYTES}, {got[1], BYTES}};
		pctl_resident *r;
		pctl_resident_facts f;
		pctl_pipeline *p;
		pctl_graph *graph;
		struct given g;
		struct bench b;

		bench_open(&b);
		assert_int_equal(
			open_resident(&b, kinds[k].text, kinds[k].flags, &g, &p, &graph, &r),
			PCTL_OK);
		memcpy(want, g.words[0], sizeof(want));
		for (uint32_t round = 0; round < 6; round++) {
			for (uint32_t i = 0; i < N; i++)
				e[i] = round * 1000u + i;
			assert_int_equal(pctl_resident_step(r, &in, out, b.call, NULL, NULL),
					 PCTL_OK);
			for (uint32_t i = 0; i < N; i++) {
				assert_int_equal(got[1][i], want[i] + 1u);
				want[i] = put(i, want[i], e[i] + 1u);
				assert_int_equal(got[0][i], want[i]);
			}
		}
		pctl_resident_facts_of(r, &f);
		assert_int_equal(f.state_bytes, kinds[k].buffers * BYTES);
		assert_int_equal(f.transfers, kinds[k].copies);
		assert_int_equal(pctl_resident_check(r, 6, b.call), PCTL_OK);
		pctl_resident_close(r);
		pctl_graph_destroy(graph);
		pctl_pipeline_destroy(p);
		bench_close(&b);
	}
}

/* What was written where it lies cannot be taken back: a step that fails ends such a resident, and not one that copies. */
static void a_failed_step_in_place(void **state)
{
	(void)state;
	put_with = fails;
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t e[N] = {0}, got[2][N];
		const pctl_resident_input in = {e, BYTES};
		const pctl_resident_output out[2] = {{got[0], BYTES}, {got[1], BYTES}};
		pctl_resident *r;
		pctl_pipeline *p;
		pctl_graph *graph;
		struct given g;
		struct bench b;

		bench_open(&b);
		assert_int_equal(open_resident(&b, STATE_HEAD STATE_END,
					       k == 0 ? 0 : PCTL_RUN_NO_PLACES, &g, &p, &graph, &r),
				 PCTL_OK);
		assert_int_equal(pctl_resident_step(r, &in, out, b.call, NULL, NULL), PCTL_E_EXEC);
		assert_int_equal(pctl_resident_step(r, &in, out, b.call, NULL, NULL),
				 k == 0 ? PCTL_E_DEVICE_LOST : PCTL_E_EXEC);
		pctl_resident_close(r);
		pctl_graph_destroy(graph);
		pctl_pipeline_destroy(p);
		bench_close(&b);
	}
	put_with = good;
}

PCTL_TESTS_MAIN(PCTL_TEST(asked_once), PCTL_TEST(both_ways), PCTL_TEST(right), PCTL_TEST(failing),
		PCTL_TEST(bad_plans), PCTL_TEST(states_in_place), PCTL_TEST(a_failed_step_in_place))
