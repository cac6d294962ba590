/* Pipelines that stay on a device, of resident.h: what is refused, and by what code; steps that fail, are cancelled or lose their
 * worker; words that kernels are checked by. That steps give the bytes of runs is tests/integration/resident. */
#include "rig.h"

#include <dirent.h>
#include <signal.h>

#include "pipectl/resident.h"

#define WORDS PIPECTL_SOURCE_DIR "/tests/integration/resident/words.pipe.cfg"
#define LAYER PIPECTL_SOURCE_DIR "/tests/integration/resident/layer.pipe.cfg"

static const char *const CPU[] = {"cpu"};

/* ---- a pipeline of one shader that counts -------------------------------------------------- */

/* Loops as often as a buffer says, on a budget of turns, below a declared maximum of a uniform. */
static const char SHADER[] = "//# max u.n = 8\n"
			     "//# max turns = 100\n"
			     "struct U { n : u32, }\n"
			     "@group(0) @binding(0) var<uniform> u : U;\n"
			     "@group(0) @binding(1) var<storage, read> x : array<u32>;\n"
			     "@group(0) @binding(2) var<storage, read> s : array<u32>;\n"
			     "@group(0) @binding(3) var<storage, read_write> y : array<u32>;\n"
			     "@compute @workgroup_size(4)\n"
			     "fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
			     "  if (id.x >= arrayLength(&y)) { return; }\n"
			     "  var n = s[id.x];\n"
			     "  for (var i = 0u; i < u.n; i++) { n += 1u; }\n"
			     "  var k = x[id.x];\n"
			     "  loop { if (k == 0u) { break; } k -= 1u; n += 10u; }\n"
			     "  y[id.x] = n;\n"
			     "}\n";
/* Where it writes is in its data. */
static const char SCATTER[] =
	"@group(0) @binding(1) var<storage, read> x : array<u32>;\n"
	"@group(0) @binding(3) var<storage, read_write> y : array<u32>;\n"
	"@compute @workgroup_size(4)\n"
	"fn main(@builtin(global_invocation_id) id : vec3<u32>) { y[x[id.x]] = id.x; }\n";
static const char COUNTING[] =
	"pipeline : { name = \"counting\"; class = \"integer\";\n"
	"  inputs : { u : { type = \"u32[1]\"; }; x : { type = \"u32[4]\"; }; s : { type = "
	"\"u32[4]\"; }; };\n"
	"  jobs = ( { id = \"count\"; shader = \"count.wgsl\"; dispatch = ( 1 );\n"
	"    in : { u = \"$u\"; x = \"$x\"; s = \"$s\"; }; out : { y = \"u32[4]\"; }; } );\n"
	"  outputs : { y = \"count.y\"; }; };\n";
static const char SCATTERED[] = "pipeline : { name = \"scattered\"; class = \"integer\"; inputs : "
				"{ x : { type = \"u32[4]\"; }; };\n"
				"  jobs = ( { id = \"put\"; shader = \"scatter.wgsl\"; dispatch = "
				"( 1 ); in : { x = \"$x\"; };\n"
				"    out : { y = \"u32[4]\"; }; } );\n"
				"  outputs : { y = \"put.y\"; }; };\n";
static const char TERNARY[] =
	"pipeline : { name = \"ternary\"; class = \"strict\";\n"
	"  inputs : { a : { type = \"f32[1,4]\"; }; b : { type = \"ternary[4,4]\"; }; };\n"
	"  jobs = ( { id = \"mm\"; op = \"tensor.matmul@1\"; in : { a = \"$a\"; b = \"$b\"; }; } "
	");\n"
	"  outputs : { y = \"mm.y\"; }; };\n";

static void put_file(const rig *r, const char *name, const char *text, char path[128])
{
	FILE *f;

	snprintf(path, 128, "%s/%s", r->home, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fputs(text, f) >= 0, 1);
	assert_int_equal(fclose(f), 0);
}

static pipectl_pipeline *load(rig *r, const char *path)
{
	pipectl_pipeline *pl = NULL;

	assert_int_equal(pipectl_pipeline_load(r->p, path, NULL, 0, &pl), PCTL_OK);
	return pl;
}

static pipectl_pipeline *load_text(rig *r, const char *text, const char *shader)
{
	char path[128];

	put_file(r, text == COUNTING ? "count.wgsl" : "scatter.wgsl", shader, path);
	put_file(r, "p.pipe.cfg", text, path);
	return load(r, path);
}

/* ---- opening ------------------------------------------------------------------------------ */

struct asked {
	const char *changing[3], *reads[3];
	pipectl_setting states[3];
	pipectl_input in[6];
	pipectl_resident_options o;
	pipectl_run_options run;
};

static void ask(struct asked *a)
{
	*a = (struct asked){
		.o = {.head = PCTL_HEAD(pipectl_resident_options), .history_bytes = 1u << 16},
		.run = {.head = PCTL_HEAD(pipectl_run_options), .backends = CPU, .n_backends = 1}};
	a->o.changing = a->changing;
	a->o.reads = a->reads;
	a->o.states = a->states;
	a->run.inputs = a->in;
}

static void zero(struct asked *a, const char *name, const char *bytes)
{
	a->in[a->run.n_inputs++] =
		(pipectl_input){.head = PCTL_HEAD(pipectl_input), .name = name, .source = bytes};
}

/* bytes and keys change, log and count are states, log is read. */
static void ask_words(struct asked *a)
{
	ask(a);
	zero(a, "bytes", "zero:10");
	zero(a, "keys", "zero:280");
	zero(a, "table", "zero:512");
	zero(a, "log", "zero:18");
	zero(a, "count", "zero:4");
	zero(a, "one", "zero:4");
	a->changing[0] = "bytes";
	a->changing[1] = "keys";
	a->states[0] = (pipectl_setting){"log", "log_after"};
	a->states[1] = (pipectl_setting){"count", "count_after"};
	a->reads[0] = "log_after";
	a->o.n_changing = a->o.n_states = 2;
	a->o.n_reads = 1;
}

static pctl_status step_words(pipectl_resident *r, uint8_t first, uint8_t out[18])
{
	static const uint8_t keys[280] = {0};
	uint8_t bytes[10] = {0};
	const void *in[] = {bytes, keys};
	const uint64_t in_bytes[] = {10, 280}, out_bytes[] = {18};
	void *to[] = {out};

	bytes[0] = first;
	return pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL);
}

static void api__names_and_types_are_checked(void **state)
{
	pipectl_resident *r = NULL, *other = NULL;
	pipectl_pipeline *pl, *layer;
	struct asked a;
	rig g, h;

	(void)state;
	rig_open(&g, NULL);
	pl = load(&g, WORDS);
	layer = load(&g, LAYER);
	ask_words(&a);
	a.changing[0] = "byts";
	REFUSED(&g, 5252, pipectl_resident_open(pl, &a.run, &a.o, &r));
	a.changing[0] = "log"; /* a state as well */
	REFUSED(&g, 5252, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.reads[0] = "log";
	REFUSED(&g, 5252, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.states[0].value = "found"; /* of another shape */
	REFUSED(&g, 5252, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.states[0].value = NULL; /* the other one gets bytes */
	REFUSED(&g, 5252, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.o.changing = NULL;
	REFUSED(&g, 11, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.states[1].name = NULL;
	REFUSED(&g, 11, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.run.flags = PIPECTL_RUN_RECEIPT;
	REFUSED(&g, 11, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.run.n_inputs = 5; /* `one` has no data */
	REFUSED(&g, 4014, pipectl_resident_open(pl, &a.run, &a.o, &r));
	ask_words(&a);
	a.o.memory_bytes = 1000;
	REFUSED(&g, 5204, pipectl_resident_open(pl, &a.run, &a.o, &r));
	assert_null(r);
	ask_words(&a);
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r), PCTL_OK);
	/* What shares has the same states, and is of one handle. */
	a.o.sharing = r;
	a.run.n_inputs = 0;
	a.o.n_states = 1;
	REFUSED(&g, 5252, pipectl_resident_open(layer, &a.run, &a.o, &other));
	REFUSED(&g, 5252, pipectl_resident_open(pl, &a.run, &a.o, &other));
	a.states[0].name = "table";
	a.states[0].value = NULL;
	REFUSED(&g, 5252, pipectl_resident_open(pl, &a.run, &a.o, &other));
	rig_open(&h, NULL);
	pipectl_pipeline_release(layer);
	layer = load(&h, WORDS);
	REFUSED(&h, 11, pipectl_resident_open(layer, &a.run, &a.o, &other));
	pipectl_pipeline_release(layer);
	rig_close(&h, 1);
	assert_null(other);
	pipectl_resident_release(r);
	pipectl_resident_release(NULL);
	pipectl_pipeline_release(pl);
	rig_close(&g, 1);
}

static void api__what_a_run_decides_by_its_data_is_refused(void **state)
{
	pipectl_resident *r = NULL;
	pipectl_pipeline *pl;
	struct asked a;
	rig g;

	(void)state;
	rig_open(&g, NULL);
	pl = load(&g, RANK); /* how many nodes there are is found in the edges */
	ask(&a);
	zero(&a, "edges", "zero:32");
	a.changing[0] = "edges";
	a.reads[0] = "ranks";
	a.o.n_changing = a.o.n_reads = 1;
	REFUSED(&g, 5250, pipectl_resident_open(pl, &a.run, &a.o, &r));
	pipectl_pipeline_release(pl);
	pl = load_text(&g, SCATTERED, SCATTER);
	ask(&a);
	zero(&a, "x", "zero:16");
	a.changing[0] = "x";
	a.reads[0] = "y";
	a.o.n_changing = a.o.n_reads = 1;
	REFUSED(&g, 5250, pipectl_resident_open(pl, &a.run, &a.o, &r));
	pipectl_pipeline_release(pl);
	/* A uniform with a maximum that a state feeds. */
	pl = load_text(&g, COUNTING, SHADER);
	ask(&a);
	zero(&a, "u", "zero:4");
	zero(&a, "x", "zero:16");
	zero(&a, "s", "zero:16");
	a.states[0] = (pipectl_setting){"u", NULL};
	a.reads[0] = "y";
	a.o.n_states = a.o.n_reads = 1;
	REFUSED(&g, 5250, pipectl_resident_open(pl, &a.run, &a.o, &r));
	assert_null(r);
	pipectl_pipeline_release(pl);
	rig_close(&g, 1);
}

/* ---- steps -------------------------------------------------------------------------------- */

static pctl_status step_counting(pipectl_resident *r, uint32_t u, uint32_t x, uint32_t y[4])
{
	const uint32_t xs[4] = {x, 0, 1, 2};
	const void *in[] = {&u, xs};
	const uint64_t in_bytes[] = {4, 16}, out_bytes[] = {16};
	void *to[] = {y};

	return pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL);
}

/* Maxima of uniforms hold in each step, and so does the budget of turns; the state is as it was after both. */
static void api__steps_are_held_to_what_kernels_declare(void **state)
{
	pipectl_resident *r = NULL;
	pipectl_pipeline *pl;
	uint32_t y[4];
	struct asked a;
	rig g;

	(void)state;
	rig_open(&g, NULL);
	pl = load_text(&g, COUNTING, SHADER);
	ask(&a);
	zero(&a, "u", "zero:4");
	zero(&a, "x", "zero:16");
	zero(&a, "s", "zero:16");
	a.changing[0] = "u";
	a.changing[1] = "x";
	a.states[0] = (pipectl_setting){"s", "y"};
	a.reads[0] = "y";
	a.o.n_changing = 2;
	a.o.n_states = a.o.n_reads = 1;
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r), PCTL_OK);
	assert_int_equal(step_counting(r, 2, 3, y), PCTL_OK);
	assert_int_equal(y[0], 32);
	REFUSED(&g, 4135, step_counting(r, 9, 3, y));
	REFUSED(&g, 5226, step_counting(r, 1, 1000, y));
	REFUSED(&g, 5226, step_counting(r, 1, 1001, y));
	assert_int_equal(step_counting(r, 1, 3, y), PCTL_OK);
	assert_int_equal(y[0], 32 + 31);
	assert_int_equal(y[3], 22 + 21);
	assert_int_equal(pipectl_resident_check(r, 2), PCTL_OK);
	assert_string_equal(pipectl_resident_evidence(r, 1), "verified");
	pipectl_resident_release(r);
	pipectl_pipeline_release(pl);
	rig_close(&g, 1);
}

static void api__codes_of_narrow_types_are_looked_at(void **state)
{
	static const float ones[4] = {1, 1, 1, 1};
	uint8_t b[4] = {0x55, 0x55, 0x55, 0x55};
	const void *in[] = {ones, b};
	const uint64_t in_bytes[] = {16, 4}, out_bytes[] = {16};
	float y[4];
	void *to[] = {y};
	pipectl_resident *r = NULL;
	pipectl_pipeline *pl;
	struct asked a;
	rig g;

	(void)state;
	rig_open(&g, NULL);
	pl = load_text(&g, TERNARY, "");
	ask(&a);
	zero(&a, "a", "zero:16");
	zero(&a, "b", "zero:4");
	a.changing[0] = "a";
	a.changing[1] = "b";
	a.reads[0] = "y";
	a.o.n_changing = 2;
	a.o.n_reads = 1;
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r), PCTL_OK);
	assert_int_equal(pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL),
			 PCTL_OK);
	b[2] = 0xaa; /* the code of -2, which stands for nothing */
	REFUSED(&g, 4213, pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL));
	pipectl_resident_release(r);
	pipectl_pipeline_release(pl);
	rig_close(&g, 1);
}

static void api__a_step_is_told_apart_from_misuse(void **state)
{
	pipectl_resident_port port = {.head = PCTL_HEAD(pipectl_resident_port)};
	pipectl_resident_facts f = {.head = PCTL_HEAD(pipectl_resident_facts)};
	uint8_t bytes[10] = {0}, keys[280] = {0}, out[18];
	const void *in[] = {bytes, keys};
	uint64_t in_bytes[] = {10, 280}, out_bytes[] = {18};
	void *to[] = {out};
	pipectl_resident *r = NULL;
	pipectl_pipeline *pl;
	struct asked a;
	rig g;

	(void)state;
	rig_open(&g, NULL);
	pl = load(&g, WORDS);
	ask_words(&a);
	a.o.history_bytes = 0;
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r), PCTL_OK);
	REFUSED(&g, 11, pipectl_resident_step(r, NULL, in_bytes, to, out_bytes, NULL, NULL));
	REFUSED(&g, 11, pipectl_resident_step(r, in, in_bytes, to, NULL, NULL, NULL));
	in_bytes[1] = 279;
	REFUSED(&g, 5252, pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL));
	in_bytes[1] = 280;
	in[0] = NULL;
	REFUSED(&g, 5252, pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL));
	in[0] = bytes;
	out_bytes[0] = 20;
	REFUSED(&g, 5252, pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL));
	out_bytes[0] = 18;
	assert_int_equal(pipectl_resident_step(r, in, in_bytes, to, out_bytes, NULL, NULL),
			 PCTL_OK);
	REFUSED(&g, 5253, pipectl_resident_check(r, 1)); /* nothing was kept */
	REFUSED(&g, 5253, pipectl_resident_check(r, 2));
	assert_int_equal(pipectl_resident_input(r, 1, &port), PCTL_OK);
	assert_string_equal(port.name, "keys");
	assert_string_equal(port.dtype, "u32");
	assert_int_equal(port.dims[0], 70);
	assert_int_equal(pipectl_resident_output(r, 0, &port), PCTL_OK);
	assert_int_equal(port.n_bytes, 18);
	REFUSED(&g, 11, pipectl_resident_input(r, 2, &port));
	REFUSED(&g, 11, pipectl_resident_output(r, 1, &port));
	assert_int_equal(pipectl_resident_describe(r, &f), PCTL_OK);
	assert_int_equal(f.steps, 1);
	assert_int_equal(f.state_bytes, 2 * (20 + 4));
	assert_true(f.gas != 0 && f.total_bytes > f.constant_bytes + f.state_bytes);
	assert_string_equal(f.evidence, "verified"); /* by the reference itself */
	pipectl_resident_release(r);
	/* A history that is full is none. */
	ask_words(&a);
	a.o.history_bytes = 500;
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r), PCTL_OK);
	assert_int_equal(step_words(r, 1, out), PCTL_OK);
	assert_int_equal(pipectl_resident_check(r, 1), PCTL_OK);
	assert_int_equal(step_words(r, 2, out), PCTL_OK);
	REFUSED(&g, 5253, pipectl_resident_check(r, 1));
	pipectl_resident_release(r);
	pipectl_pipeline_release(pl);
	rig_close(&g, 1);
}

/* A state begins as its input says and a step that is cancelled leaves it; what is read only is never changed. */
static void api__a_cancelled_step_leaves_the_state(void **state)
{
	uint8_t out[18];
	pipectl_resident *r = NULL;
	pipectl_pipeline *pl;
	struct asked a;
	rig g;

	(void)state;
	rig_open(&g, NULL);
	pl = load(&g, WORDS);
	ask_words(&a);
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r), PCTL_OK);
	pipectl_pipeline_release(pl); /* the resident has it still */
	assert_int_equal(step_words(r, 7, out), PCTL_OK);
	assert_int_equal(out[4], 7);
	g.n_asked = 0;
	g.cancel_at = 1;
	assert_int_equal(step_words(r, 8, out), PCTL_E_CANCELLED);
	g.cancel_at = 0;
	assert_int_equal(step_words(r, 9, out), PCTL_OK);
	assert_int_equal(out[4], 9);
	assert_int_equal(pipectl_resident_check(r, 2), PCTL_OK);
	pipectl_resident_release(r);
	rig_close(&g, 1);
}

/* ---- a worker that dies ------------------------------------------------------------------- */

#define FAMILY_MAX 64u

/* The parent of a process, 0 where it is none any more. */
static pid_t parent_of(pid_t pid)
{
	char path[64], text[256] = "", *end;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	if (fgets(text, sizeof(text), f) == NULL || (end = strrchr(text, ')')) == NULL ||
	    end[2] == 'Z' || sscanf(end + 1, " %*c %d", &parent) != 1)
		parent = 0;
	fclose(f);
	return parent;
}

/* Children of `parent`, behind the n that are in `family`. */
static uint32_t add_children(pid_t parent, pid_t *family, uint32_t n)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	assert_non_null(proc);
	while ((e = readdir(proc)) != NULL && n < FAMILY_MAX)
		if (atoi(e->d_name) > 0 && parent_of((pid_t)atoi(e->d_name)) == parent)
			family[n++] = (pid_t)atoi(e->d_name);
	closedir(proc);
	return n;
}

/* Workers of this process are killed, with what watches over them, and are dead when this returns: how many there were. */
static uint32_t kill_workers(void)
{
	pid_t family[FAMILY_MAX];
	uint32_t n = add_children(getpid(), family, 0), tries = 0;

	for (uint32_t i = 0; i < n; i++)
		n = add_children(family[i], family, n);
	for (uint32_t i = 0; i < n; i++)
		(void)kill(family[i], SIGKILL);
	for (uint32_t i = 0; i < n; i++)
		while (parent_of(family[i]) != 0 && tries++ < 120000)
			usleep(1000);
	return n;
}

static void api__a_dead_worker_ends_a_resident(void **state)
{
	uint8_t out[18], right[18];
	pipectl_resident *r[3] = {NULL, NULL, NULL};
	pipectl_pipeline *pl;
	struct asked a;
	rig g;

	(void)state;
	rig_open(&g, NULL);
	pl = load(&g, WORDS);
	ask_words(&a);
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r[0]), PCTL_OK);
	a.run.n_inputs = 2;
	a.o.sharing = r[0];
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r[1]), PCTL_OK);
	assert_int_equal(step_words(r[0], 3, right), PCTL_OK);
	assert_true(kill_workers() != 0);
	g.n_errors = 0;
	assert_int_equal(step_words(r[0], 4, out), PCTL_E_DEVICE_LOST);
	assert_int_not_equal(g.n_errors, 0);
	/* And whoever shares its state. */
	REFUSED(&g, 5251, step_words(r[0], 4, out));
	REFUSED(&g, 5251, step_words(r[1], 4, out));
	REFUSED(&g, 5251, pipectl_resident_open(pl, &a.run, &a.o, &r[2]));
	/* The step that was made is still one that can be checked. */
	assert_int_equal(pipectl_resident_check(r[1], 1), PCTL_OK);
	pipectl_resident_release(r[0]);
	pipectl_resident_release(r[1]);
	ask_words(&a);
	assert_int_equal(pipectl_resident_open(pl, &a.run, &a.o, &r[2]), PCTL_OK);
	assert_int_equal(step_words(r[2], 3, out), PCTL_OK);
	assert_memory_equal(out, right, 18);
	pipectl_resident_release(r[2]);
	pipectl_pipeline_release(pl);
	rig_close(&g, 1);
}

PCTL_TESTS_MAIN(PCTL_TEST(api__names_and_types_are_checked),
		PCTL_TEST(api__what_a_run_decides_by_its_data_is_refused),
		PCTL_TEST(api__steps_are_held_to_what_kernels_declare),
		PCTL_TEST(api__codes_of_narrow_types_are_looked_at),
		PCTL_TEST(api__a_step_is_told_apart_from_misuse),
		PCTL_TEST(api__a_cancelled_step_leaves_the_state),
		PCTL_TEST(api__a_dead_worker_ends_a_resident))
