/* Random programs of resident runs on a fake device, for the tests of what is done with them: copies, fills and kernels whose workgroups stand in a
 * buffer, over spans that share nothing while it is found what they give. The device does what lies between two barriers in any order. */
#ifndef PIPECTL_TESTS_UNIT_TEST_EXEC_RESIDENT_FAKE_H
#define PIPECTL_TESTS_UNIT_TEST_EXEC_RESIDENT_FAKE_H

#include "fakes/memory.h"
#include "foundation/diag/diag.h"
#include "runtime/exec/resident_private.h"
#include "runtime/exec/value.h"

#define SPANS 40u
#define COMMANDS 160u
#define MOST_WORDS 96u
#define MOST_GROUPS 0x7fffffffu
#define PROGRAMS PCTL_TEST_SHARE(300u)
#define WEIGHTS 12u

static uint64_t seed_;

static uint32_t below(uint32_t n)
{
	uint64_t z = seed_ += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) % n);
}

/* ---- the device --------------------------------------------------------------------------- */

static uint64_t most_buffer_bytes;
static pctl_list *last_list;
static int backwards; /* 1: what lies between two barriers is done from its end */

static pctl_status caps(pctl_device *d, const pctl_call *call, pctl_device_caps *out)
{
	pctl_status status = fake_device_caps(d, call, out);

	out->max_buffer_bytes = out->max_binding_bytes = most_buffer_bytes;
	out->memory_bytes = 1u << 20;
	return status;
}

static void run_list(const pctl_list *l)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i <= l->n; i++) {
		if (i < l->n && l->commands[i].what != FAKE_BARRIER)
			continue;
		for (uint32_t k = first; k < i; k++)
			fake_run(&l->commands[backwards ? i - 1 - (k - first) : k]);
		first = i + 1;
	}
}

static pctl_status list_end(pctl_list *l, const pctl_call *call)
{
	last_list = l;
	return fake_list_end(l, call);
}

static const pctl_backend template = {FAKE_TABLE};

/* ---- a program ---------------------------------------------------------------------------- */

struct bench {
	pctl_backend table;
	struct pctl_instance inst;
	pctl_diag_list *said;
	pctl_pipeline pipeline;
	pctl_pipe_job job;
	pctl_graph_node node;
	pctl_graph graph;
	pctl_policy policy;
	pctl_run_node run_node;
	pctl_resident_family family;
	pctl_resident_held held;
	pctl_resident *r;
	uint32_t held_number;
	uint8_t right[SPANS + WEIGHTS][4 * MOST_WORDS]; /* what every span holds in the end */
	uint8_t known[SPANS + WEIGHTS];
	pctl_value *inputs[WEIGHTS];
	uint32_t n_weights; /* spans behind the others: constant inputs */
};

static void open_bench(struct bench *b, uint64_t most)
{
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "fake", .id = "fake:0"};
	pctl_resident *r = calloc(1, sizeof(*r));

	memset(b, 0, sizeof(*b));
	assert_non_null(r);
	most_buffer_bytes = most;
	b->table = template;
	b->table.device_caps = caps;
	b->table.list_end = list_end;
	b->said = pctl_diag_list_create();
	o.table = &b->table;
	o.inst = &b->inst;
	b->r = r;
	r->call = pctl_diag_list_call(b->said);
	assert_int_equal(pctl_session_open(&o, r->call, &r->s), PCTL_OK);
	r->t = pctl_session_table(r->s);
	r->dev = pctl_session_device(r->s);
	r->arena = pctl_arena_create();
	b->pipeline.name = "p";
	b->job.id = "j";
	b->node.job = &b->job;
	b->run_node.node = &b->node;
	b->graph.pipeline = &b->pipeline;
	r->run.graph = &b->graph;
	r->run.nodes = &b->run_node;
	r->o.policy = &b->policy;
	b->held = (pctl_resident_held){.n_bytes = 4 * MOST_WORDS};
	b->family.states = &b->held;
	b->family.n_states = r->n_states = 1;
	b->family.makers = &b->r;
	b->family.n_makers = 1;
	r->run.inputs = b->inputs;
	r->number = 1; /* states are made here */
	r->held = &b->held_number;
	r->family = &b->family;
}

static void close_bench(struct bench *b)
{
	pctl_resident *r = b->r;

	pctl_resident_release(r);
	for (uint32_t i = 0; i < 2; i++)
		if (b->held.buffers[i] != NULL)
			r->t->buffer_destroy(r->dev, b->held.buffers[i]);
	if (b->family.slot != NULL)
		r->t->buffer_destroy(r->dev, b->family.slot);
	for (uint32_t i = 0; i < b->n_weights; i++)
		pctl_value_release(b->inputs[i]);
	pctl_session_close(r->s);
	free(r->segments);
	free(r->uploads);
	free(r->spans);
	free(r->commands);
	pctl_arena_destroy(r->arena);
	free(r);
	pctl_diag_list_destroy(b->said);
}

static void put(struct bench *b, uint32_t kind, const pctl_resident_range *ranges, uint32_t n,
		uint32_t word)
{
	pctl_resident_command *c = &b->r->commands[b->r->n_commands];

	*c = (pctl_resident_command){
		.kind = kind, .n_ranges = n, .word = word, .place = b->r->n_commands};
	c->ranges = pctl_arena_array(b->r->arena, n, sizeof(*ranges));
	memcpy(c->ranges, ranges, n * sizeof(*ranges));
	b->r->n_commands++;
}

static void fill(struct bench *b, uint32_t span, uint32_t at, uint32_t words)
{
	const pctl_resident_range to = {span, 1, 0, 0, 4 * at, 4 * words};
	const uint32_t word = below(UINT32_MAX);

	put(b, PCTL_STEP_FILL, &to, 1, word);
	for (uint32_t i = 0; i < words; i++)
		memcpy(b->right[span] + 4 * (at + i), &word, 4);
}

static void copy(struct bench *b, uint32_t from, uint32_t from_at, uint32_t to, uint32_t to_at,
		 uint32_t words)
{
	const pctl_resident_range ranges[2] = {{to, 1, 0, 0, 4 * to_at, 4 * words},
					       {from, 0, 0, 0, 4 * from_at, 4 * words}};

	put(b, PCTL_STEP_COPY, ranges, 2, 0);
	memmove(b->right[to] + 4 * to_at, b->right[from] + 4 * from_at, 4 * words);
}

/* A kernel of the fake: as often as `counts` says at counts_at, but no more than the limit, it adds 1 to words of `to`. */
static void add(struct bench *b, uint32_t counts, uint32_t counts_at, uint32_t to, uint32_t to_at,
		uint32_t words)
{
	const pctl_resident_range ranges[2] = {{to, 1, 0, 0, 4 * to_at, 4 * words},
					       {counts, 0, 0, 0, 4 * counts_at, 12}};
	pctl_step *step = pctl_arena_array(b->r->arena, 1, sizeof(*step));
	uint32_t by, word;

	assert_non_null(step);
	*step = (pctl_step){.kind = PCTL_STEP_KERNEL,
			    .n_bindings = 1,
			    .groups = {MOST_GROUPS, 1, 1},
			    .counts = 1};
	put(b, PCTL_STEP_KERNEL, ranges, 2, 0);
	b->r->commands[b->r->n_commands - 1].step = step;
	memcpy(&by, b->right[counts] + 4 * counts_at, 4);
	by = by < MOST_GROUPS ? by : MOST_GROUPS;
	for (uint32_t i = 0; i < words; i++) {
		memcpy(&word, b->right[to] + 4 * (to_at + i), 4);
		word += by;
		memcpy(b->right[to] + 4 * (to_at + i), &word, 4);
	}
}

static uint32_t words_of(const struct bench *b, uint32_t span)
{
	return (uint32_t)(b->r->spans[span].n_bytes / 4);
}

/* Each in two words at most of four; what pads it is zero. */
static void make_weights(struct bench *b)
{
	uint32_t number;

	for (uint32_t i = 0; i < b->n_weights; i++) {
		const uint32_t n = 1 + below(4 * MOST_WORDS);

		for (uint32_t k = 0; k < n; k++)
			b->right[SPANS + i][k] = (uint8_t)below(256);
		b->inputs[i] = pctl_value_from_bytes(b->right[SPANS + i], n);
		assert_non_null(b->inputs[i]);
		assert_int_equal(pctl_resident_add_span(b->r, PCTL_SPAN_INPUT, i,
							(n + 3) & ~UINT64_C(3), &number),
				 PCTL_OK);
		b->known[SPANS + i] = 1;
	}
}

/* Spans 0 and 1: what a state is, and what it becomes; 2 to 5 answers; the others share pools. */
static void make_program(struct bench *b)
{
	uint32_t number;

	b->r->commands = calloc(COMMANDS + 2 * SPANS, sizeof(*b->r->commands));
	assert_non_null(b->r->commands);
	for (uint32_t i = 0; i < SPANS; i++)
		assert_int_equal(pctl_resident_add_span(
					 b->r,
					 i == 0	  ? PCTL_SPAN_STATE
					 : i == 1 ? PCTL_SPAN_NEXT
					 : i < 6  ? PCTL_SPAN_ANSWER
						  : PCTL_SPAN_POOL,
					 0, i < 2 ? 4 * MOST_WORDS : 4 * (1 + below(MOST_WORDS)),
					 &number),
				 PCTL_OK);
	make_weights(b);
	for (uint32_t i = 0; i < 4 * MOST_WORDS; i++)
		b->right[0][i] = (uint8_t)below(256);
	b->known[0] = 1;
	while (b->r->n_commands < COMMANDS) {
		const uint32_t to = 1 + below(SPANS - 1), from = below(SPANS + b->n_weights);
		const uint32_t room = words_of(b, to), has = words_of(b, from);
		const uint32_t words = 1 + below(room < has ? room : has);

		/* What nobody wrote holds anything. */
		if (!b->known[to]) {
			fill(b, to, 0, room);
			b->known[to] = 1;
		} else if (from != to && b->known[from] && has >= 3 && below(3) == 0) {
			add(b, from, below(has - 2), to, below(room - words + 1), words);
		} else if (from != to && b->known[from]) {
			copy(b, from, below(has - words + 1), to, below(room - words + 1), words);
		} else {
			const uint32_t some = 1 + below(room);

			fill(b, to, below(room - some + 1), some);
		}
	}
	for (uint32_t i = 1; i < 6; i++)
		if (!b->known[i])
			fill(b, i, 0, words_of(b, i));
}

static void record(struct bench *b)
{
	pctl_resident *r = b->r;

	assert_int_equal(pctl_resident_fill(r), PCTL_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(r->t->buffer_create(r->dev, r->call, b->held.n_bytes, 0,
						     &b->held.buffers[i]),
				 PCTL_OK);
	assert_int_equal(pctl_resident_record(r), PCTL_OK);
}

/* ---- what is looked at -------------------------------------------------------------------- */

/* 1: what the list leaves is what it should, from a state in the buffer of this parity. */
static int gives(struct bench *b, uint32_t parity)
{
	pctl_resident *r = b->r;
	int is = 1;

	memcpy(b->held.buffers[parity]->data, b->right[0], b->held.n_bytes);
	for (uint32_t i = 0; i < r->n_pools; i++)
		memset(r->pools[i]->data, 0x5a, r->pools[i]->n_bytes);
	for (uint32_t i = 0; i < r->n_segments; i++) {
		assert_int_equal(pctl_resident_upload_segment(r, &r->segments[i]), PCTL_OK);
		run_list(r->segments[i].lists[parity]);
	}
	is &= memcmp(b->held.buffers[1 - parity]->data, b->right[1], b->held.n_bytes) == 0;
	is &= memcmp(b->held.buffers[parity]->data, b->right[0], b->held.n_bytes) == 0;
	for (uint32_t i = 2; i < 6; i++)
		is &= memcmp(r->spans[i].buffer->data + r->spans[i].base, b->right[i],
			     r->spans[i].n_bytes) == 0;
	return is;
}

static const uint64_t SIZES[3] = {1u << 20, 4096, 512};

#endif
