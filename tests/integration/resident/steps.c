/* Steps of resident runs against plain runs of the same pipeline on the reference, byte for byte: in each step what is read, and the
 * states, which the plain runs hand on themselves. usage: steps HOME DIRECTORY DEVICE STEPS (layer|words|machines|verified|share|fail|cuts) */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipectl/resident.h"

#define MOST 8u
#define CAPACITY 65536u

/* A port of a case. kind: c constant, x changing, s state. after: of a state, the output; fill: how its bytes are made. */
struct input {
	const char *name, *after;
	char kind, fill;
	uint64_t n_bytes;
};

struct setup {
	const char *file;
	struct input in[MOST];
	const char *reads[MOST];
	uint64_t read_bytes[MOST];
	uint32_t n_in, n_reads;
};

static const struct setup LAYER = {"layer.pipe.cfg",
				   {{"x", NULL, 'x', 'f', 128},
				    {"index", NULL, 'x', 'i', 12},
				    {"table", NULL, 'c', 'f', 320},
				    {"w", NULL, 'c', 'f', 1024},
				    {"g", NULL, 'c', 'f', 64},
				    {"h", "h_after", 's', 'f', 128}},
				   {"y", "picked", "total", "h_after"},
				   {128, 192, 4, 128},
				   6,
				   4};
static const struct setup WORDS = {"words.pipe.cfg",
				   {{"bytes", NULL, 'x', 'b', 10},
				    {"keys", NULL, 'x', 'w', 280},
				    {"table", NULL, 'c', 'w', 512},
				    {"log", "log_after", 's', 'b', 18},
				    {"count", "count_after", 's', 'w', 4},
				    {"one", NULL, 'c', 'w', 4}},
				   {"crc", "sorted", "found", "log_after"},
				   {8, 280, 20, 18},
				   6,
				   4};

static const struct setup PRODUCTS = {"products.pipe.cfg",
				      {{"x", NULL, 'x', 'f', 512},
				       {"g", NULL, 'c', 'f', 512},
				       {"wq", NULL, 'c', 'f', 50176},
				       {"wk", NULL, 'c', 'f', 33792},
				       {"wv", NULL, 'c', 'f', 33792},
				       {"wg", NULL, 'c', 'f', 53248},
				       {"wu", NULL, 'c', 'f', 53248},
				       {"wd", NULL, 'c', 'f', 53248}},
				      {"y", "q", "k", "v", "norm", "gate", "up", "act"},
				      {512, 392, 264, 264, 512, 416, 416, 416},
				      8,
				      8};

static const struct setup MACHINES = {
	"machines.pipe.cfg",
	{{"x", NULL, 'x', 'w', 16}, {"s", "s_after", 's', 'w', 16}, {"c", NULL, 'c', 'w', 16}},
	{"s_after", "first", "second"},
	{16, 16, 16},
	3,
	3};

static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void make(const struct input *in, uint64_t seed, uint8_t *out)
{
	for (uint64_t i = 0; i < in->n_bytes; i += in->fill == 'b' ? 1 : 4) {
		const uint64_t r = next(&seed);
		const float f = (float)(int64_t)(r % 4001 - 2000) / 1024.0f;
		const uint32_t w = in->fill == 'i' ? (uint32_t)(r % 5) : (uint32_t)r;

		if (in->fill == 'b')
			out[i] = (uint8_t)(r & 0x7f);
		else if (in->fill == 'f')
			memcpy(out + i, &f, 4);
		else
			memcpy(out + i, &w, 4);
	}
}

static void hear(void *ctx, const pctl_diag *d)
{
	*(uint32_t *)ctx = d->severity == PCTL_SEVERITY_ERROR ? d->code : *(uint32_t *)ctx;
	if (getenv("STEPS_LOUD") != NULL)
		fprintf(stderr, "PC%04u %s\n", d->code, d->message);
}

static void must(pctl_status status, const char *what, uint32_t last)
{
	if (status == PCTL_OK)
		return;
	fprintf(stderr, "%s: %s, PC%04u\n", what, pipectl_status_name(status), last);
	exit(1);
}

static void want(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	exit(1);
}

/* ---- both ways ---------------------------------------------------------------------------- */

struct rig {
	pipectl *p;
	pipectl_pipeline *pl;
	const struct setup *s;
	const char *device;
	uint32_t last, compared;
	uint8_t data[MOST][CAPACITY]; /* of inputs; of states what the plain runs made of them */
	uint8_t first
		[MOST]
		[CAPACITY]; /* as they were when a resident was opened, which has them from here */
};

/* All inputs, or those of a kind that is in `kinds`. */
static uint32_t give(const struct rig *g, const uint8_t data[MOST][CAPACITY], const char *kinds,
		     pipectl_input *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->s->n_in; i++)
		if (strchr(kinds, g->s->in[i].kind) != NULL)
			out[n++] = (pipectl_input){.head = PCTL_HEAD(pipectl_input),
						   .name = g->s->in[i].name,
						   .data = data[i],
						   .n_bytes = g->s->in[i].n_bytes};
	return n;
}

static void plain(struct rig *g, uint8_t out[MOST][CAPACITY])
{
	static const char *const cpu[] = {"cpu"};
	pipectl_input in[MOST];
	const pipectl_run_options how = {
		.head = PCTL_HEAD(pipectl_run_options),
		.backends = cpu,
		.n_backends = 1,
		.inputs = in,
		.n_inputs = give(g, (const uint8_t(*)[CAPACITY])g->data, "cxs", in),
		.flags = PIPECTL_RUN_NO_MEMO};
	pipectl_result *r = NULL;

	must(pipectl_pipeline_run(g->pl, &how, &r), "a plain run", g->last);
	for (uint32_t i = 0; i < pipectl_result_output_count(r); i++) {
		pipectl_output o = {.head = PCTL_HEAD(pipectl_output)};
		const void *data;
		uint64_t n;

		must(pipectl_result_output(r, i, &o), "an output", g->last);
		must(pipectl_result_data(r, i, &data, &n), "its data", g->last);
		for (uint32_t k = 0; k < g->s->n_reads; k++)
			if (strcmp(g->s->reads[k], o.name) == 0)
				memcpy(out[k], data, n);
		for (uint32_t k = 0; k < g->s->n_in; k++)
			if (g->s->in[k].kind == 's' && strcmp(g->s->in[k].after, o.name) == 0)
				memcpy(g->data[k], data, n);
	}
	pipectl_result_release(r);
}

static pctl_status open_one(struct rig *g, const char *kinds, uint32_t verify_ppm,
			    pipectl_resident *sharing, pipectl_resident **out)
{
	const char *changing[MOST];
	pipectl_setting states[MOST];
	pipectl_input in[MOST];
	const pipectl_run_options how = {
		.head = PCTL_HEAD(pipectl_run_options),
		.backends = &g->device,
		.n_backends = 1,
		.inputs = in,
		.n_inputs = give(g, (const uint8_t(*)[CAPACITY])g->first, kinds, in),
		.verify_ppm = verify_ppm};
	pipectl_resident_options o = {.head = PCTL_HEAD(pipectl_resident_options),
				      .changing = changing,
				      .states = states,
				      .reads = g->s->reads,
				      .n_reads = g->s->n_reads,
				      .sharing = sharing,
				      .history_bytes = 1u << 20};

	for (uint32_t i = 0; i < g->s->n_in; i++) {
		if (sharing == NULL)
			memcpy(g->first[i], g->data[i], CAPACITY);
		if (g->s->in[i].kind == 'x')
			changing[o.n_changing++] = g->s->in[i].name;
		if (g->s->in[i].kind == 's')
			states[o.n_states++] =
				(pipectl_setting){g->s->in[i].name, g->s->in[i].after};
	}
	return pipectl_resident_open(g->pl, &how, &o, out);
}

static pctl_status step(struct rig *g, pipectl_resident *r, uint8_t out[MOST][CAPACITY],
			pipectl_step *took)
{
	const void *in[MOST];
	uint64_t in_bytes[MOST];
	void *to[MOST];
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->s->n_in; i++)
		if (g->s->in[i].kind == 'x') {
			in[n] = g->data[i];
			in_bytes[n++] = g->s->in[i].n_bytes;
		}
	for (uint32_t i = 0; i < g->s->n_reads; i++)
		to[i] = out[i];
	return pipectl_resident_step(r, in, in_bytes, to, g->s->read_bytes, took, NULL);
}

static void load(struct rig *g, const char *directory, const struct setup *s)
{
	char path[512];

	g->s = s;
	snprintf(path, sizeof(path), "%s/%s", directory, s->file);
	must(pipectl_pipeline_load(g->p, path, NULL, 0, &g->pl), path, g->last);
	for (uint32_t i = 0; i < s->n_in; i++)
		make(&s->in[i], 1000 + i, g->data[i]);
	if (s == &WORDS)
		memset(g->data[4], 0, 4);
}

static void refresh(struct rig *g, uint64_t number)
{
	for (uint32_t i = 0; i < g->s->n_in; i++)
		if (g->s->in[i].kind == 'x')
			make(&g->s->in[i], number * 100 + i, g->data[i]);
}

/* A step both ways, with the same bytes. */
static void compare(struct rig *g, pipectl_resident *r, uint64_t number, uint32_t verified)
{
	static uint8_t mine[MOST][CAPACITY], right[MOST][CAPACITY];
	pipectl_step took = {.head = PCTL_HEAD(pipectl_step)};

	refresh(g, number);
	must(step(g, r, mine, &took), "a step", g->last);
	plain(g, right);
	want(took.submits == 1, "a step is one submission");
	want(took.verified == verified, "a step was verified, or was not");
	for (uint32_t i = 0; i < g->s->n_reads; i++) {
		if (memcmp(mine[i], right[i], g->s->read_bytes[i]) != 0) {
			fprintf(stderr, "step %" PRIu64 ": output %s differs\n", number,
				g->s->reads[i]);
			exit(1);
		}
		g->compared++;
	}
}

/* ---- what is shown ------------------------------------------------------------------------ */

static void ordinary(struct rig *g, uint64_t steps)
{
	pipectl_resident_facts f = {.head = PCTL_HEAD(pipectl_resident_facts)};
	pipectl_resident *r = NULL;

	must(open_one(g, "cxs", 0, NULL, &r), "opening", g->last);
	for (uint64_t i = 0; i < steps; i++)
		compare(g, r, i, 0);
	must(pipectl_resident_describe(r, &f), "facts", g->last);
	want(f.steps == steps && f.dispatches != 0 && f.pool_bytes <= f.live_bytes, "facts");
	want(f.barriers + 1 < f.dispatches + f.transfers, "barriers stand where data needs them");
	must(pipectl_resident_check(r, steps), "a check", g->last);
	want(strcmp(pipectl_resident_evidence(r, steps - 1), "verified") == 0, "it is verified");
	printf("%s %s: %u dispatches, %u transfers, %u barriers, %" PRIu64
	       " bytes in pools, %" PRIu64 " side by side\n",
	       g->device, g->s->file, f.dispatches, f.transfers, f.barriers, f.pool_bytes,
	       f.live_bytes);
	pipectl_resident_release(r);
}

/* Each step again on the reference, from the state that the device had. */
static void verified(struct rig *g, uint64_t steps)
{
	pipectl_resident *r = NULL;
	const uint32_t is_device = strcmp(g->device, "cpu") != 0;

	must(open_one(g, "cxs", 1000000, NULL, &r), "opening", g->last);
	for (uint64_t i = 0; i < steps; i++)
		compare(g, r, i, is_device);
	pipectl_resident_release(r);
}

/* Two that share weights and state take turns; the first is released first. */
static void share(struct rig *g, uint64_t steps)
{
	pipectl_resident_facts a = {.head = PCTL_HEAD(pipectl_resident_facts)}, b = a;
	pipectl_resident *r[2] = {NULL, NULL};

	must(open_one(g, "cxs", 0, NULL, &r[0]), "opening", g->last);
	for (uint64_t i = 0; i < 3; i++)
		compare(g, r[0], i, 0);
	must(open_one(g, "x", 0, r[0], &r[1]), "opening a second one", g->last);
	for (uint64_t i = 3; i < steps; i++)
		compare(g, r[i % 2], i, 0);
	must(pipectl_resident_describe(r[0], &a), "facts", g->last);
	must(pipectl_resident_describe(r[1], &b), "facts", g->last);
	want(b.constant_bytes == 0 && a.total_bytes == b.total_bytes && b.steps == steps,
	     "what is shared lies there once");
	pipectl_resident_release(r[0]);
	compare(g, r[1], steps, 0);
	must(pipectl_resident_check(r[1], steps + 1), "a check of both", g->last);
	pipectl_resident_release(r[1]);
}

/* A step that fails leaves the state as it was. */
static void fail(struct rig *g)
{
	static uint8_t mine[MOST][CAPACITY];
	const uint32_t far = 7;
	pipectl_resident *r = NULL;

	must(open_one(g, "cxs", 0, NULL, &r), "opening", g->last);
	compare(g, r, 1, 0);
	for (uint32_t i = 0; i < 2; i++) {
		refresh(g, 9);
		memcpy(g->data[1] + 8, &far, 4);
		g->last = 0;
		want(step(g, r, mine, NULL) == PCTL_E_EXEC && g->last == 5205,
		     "an index out of range is told");
		compare(g, r, 2 + i, 0);
	}
	must(pipectl_resident_check(r, 3), "a check", g->last);
	pipectl_resident_release(r);
}

/* What is fused, or is one dispatch, is cut wherever somebody reads what lies within: the last four outputs in every choice. */
static void cuts(struct rig *g, uint64_t steps)
{
	const struct setup *whole = g->s;

	for (uint32_t cut = 0; cut < 16; cut++) {
		pipectl_resident_facts f = {.head = PCTL_HEAD(pipectl_resident_facts)};
		struct setup some = *whole;
		pipectl_resident *r = NULL;

		some.n_reads = 4;
		for (uint32_t i = 4; i < whole->n_reads; i++)
			if (cut >> (i - 4) & 1) {
				some.reads[some.n_reads] = whole->reads[i];
				some.read_bytes[some.n_reads++] = whole->read_bytes[i];
			}
		g->s = &some;
		must(open_one(g, "cxs", 0, NULL, &r), "opening", g->last);
		for (uint64_t i = 0; i < steps; i++)
			compare(g, r, i, 0);
		must(pipectl_resident_describe(r, &f), "facts", g->last);
		printf("%s cut %u: %u dispatches\n", g->device, cut, f.dispatches);
		pipectl_resident_release(r);
	}
	g->s = whole;
}

int main(int argc, char **argv)
{
	struct rig *g = calloc(1, sizeof(*g));
	pipectl_options o = {
		.head = PCTL_HEAD(pipectl_options), .diagnostic = hear, .ctx = &g->last};
	uint64_t steps;
	const char *what;

	if (argc != 6 || g == NULL)
		return 2;
	o.home = argv[1];
	g->device = argv[3];
	steps = strtoull(argv[4], NULL, 10);
	what = argv[5];
	must(pipectl_open(&o, &g->p), "opening an installation", g->last);
	load(g, argv[2],
	     strcmp(what, "words") == 0	     ? &WORDS
	     : strcmp(what, "machines") == 0 ? &MACHINES
	     : strcmp(what, "cuts") == 0     ? &PRODUCTS
					     : &LAYER);
	if (strcmp(what, "share") == 0)
		share(g, steps);
	else if (strcmp(what, "cuts") == 0)
		cuts(g, steps);
	else if (strcmp(what, "fail") == 0)
		fail(g);
	else if (strcmp(what, "verified") == 0)
		verified(g, steps);
	else
		ordinary(g, steps);
	pipectl_pipeline_release(g->pl);
	pipectl_close(g->p);
	printf("%s %s: %u outputs compared\n", g->device, what, g->compared);
	free(g);
	return 0;
}
