/* What an audit asks of a job: trace ids that name rounds, rounds cut after a step, buffers that start with garbage. */
#include "main.h"

#include "foundation/diag/diag.h"
#include "runtime/exec/job.h"
#include "runtime/exec/value.h"

#define ADD_KERNEL                                                        \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(64)\n"                                  \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"       \
	"\tif (id.x < arrayLength(&y)) { y[id.x] = x[id.x] + 1u; }\n}\n"

#include "fakes/memory.h"

#define N 16u

/* Of the submits: their trace ids, and how many dispatches ran. */
static struct {
	uint64_t traces[64];
	uint32_t submits, dispatches;
} log_;

static pctl_status submit(pctl_device *d, const pctl_call *call, pctl_list *l, uint32_t times,
			  uint64_t *ticket)
{
	assert_true(log_.submits < 64);
	log_.traces[log_.submits++] = call->trace_id;
	for (uint32_t t = 0; t < times; t++) {
		for (uint32_t i = 0; i < l->n; i++) {
			const fake_command *c = &l->commands[i];

			if (c->what != FAKE_DISPATCH) {
				fake_run(c);
				continue;
			}
			log_.dispatches++;
			for (uint64_t k = 0; k + 4 <= c->bindings[1].n_bytes; k += 4) {
				uint32_t v;

				memcpy(&v, c->bindings[0].buffer->data + k, 4);
				v++;
				memcpy(c->bindings[1].buffer->data + k, &v, 4);
			}
		}
	}
	*ticket = d->done_ticket = d->next_ticket++;
	return PCTL_OK;
}

static pctl_status caps(pctl_device *d, const pctl_call *call, pctl_device_caps *out)
{
	pctl_status status = fake_device_caps(d, call, out);

	out->max_local[0] = out->max_local[1] = out->max_local[2] = 256;
	return status;
}

static const pctl_backend template = {FAKE_TABLE};

struct bench {
	pctl_backend table;
	struct pctl_instance inst;
	pctl_diag_list *l;
	pctl_call call;
	pctl_kernels *kernels;
	pctl_session *s;
	pctl_job_plan *plan;
	pctl_value *in, *out[1];
};

/* A plan of two steps over N words: temporary = input + 1, output = temporary + 1. */
static void bench_open(struct bench *b)
{
	static const uint32_t groups[3] = {1, 1, 1};
	const pctl_kernel_source source = {.name = "k",
					   .text = ADD_KERNEL,
					   .n_text = sizeof(ADD_KERNEL) - 1,
					   .groups = groups};
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "fake", .id = "fake:0"};
	static const uint32_t kinds[3] = {PCTL_PLAN_INPUT, PCTL_PLAN_OUTPUT, PCTL_PLAN_TEMP};
	const pctl_plan_binding steps[2][2] = {{{0, 0, 0, 0, 0, 0}, {0, 1, 2, 0, 0, 0}},
					       {{0, 0, 2, 0, 0, 0}, {0, 1, 1, 0, 0, 0}}};
	const pctl_kernel_module *unit;
	pctl_buffer *buffer;
	uint32_t number;

	memset(&log_, 0, sizeof(log_));
	memset(b, 0, sizeof(*b));
	b->table = template;
	b->table.submit = submit;
	b->table.device_caps = caps;
	b->l = pctl_diag_list_create();
	b->call = *pctl_diag_list_call(b->l);
	b->kernels = pctl_kernels_create(NULL);
	o.table = &b->table;
	o.inst = &b->inst;
	assert_int_equal(pctl_session_open(&o, &b->call, &b->s), PCTL_OK);
	assert_int_equal(pctl_kernels_get(b->kernels, &source, &b->call, &unit), PCTL_OK);
	/* The unit keeps what it was made from. */
	assert_int_equal(unit->n_text, sizeof(ADD_KERNEL) - 1);
	assert_memory_equal(unit->text, ADD_KERNEL, unit->n_text);
	assert_int_equal(pctl_job_plan_create("j", &b->call, &b->plan), PCTL_OK);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			pctl_job_plan_buffer(b->plan, kinds[i], 4 * N, NULL, &b->call, &number),
			PCTL_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pctl_job_plan_kernel(b->plan, unit, steps[i], 2, groups, &b->call),
				 PCTL_OK);
	assert_int_equal(b->table.buffer_create(pctl_session_device(b->s), &b->call, 4 * N,
						PCTL_BUFFER_STORAGE, &buffer),
			 PCTL_OK);
	b->in = pctl_value_from_buffer(b->s, buffer, 4 * N);
	assert_non_null(b->in);
}

static void bench_close(struct bench *b)
{
	pctl_value_release(b->in);
	pctl_value_release(b->out[0]);
	pctl_job_plan_destroy(b->plan);
	pctl_session_close(b->s);
	pctl_kernels_destroy(b->kernels);
	pctl_diag_list_destroy(b->l);
}

static const uint32_t carry[1] = {1};
static const uint64_t out_bytes[1] = {4 * N};

static pctl_job_run run_of(const struct bench *b, uint64_t repeat)
{
	return (pctl_job_run){
		.plan = b->plan, .repeat = repeat, .carry = carry, .out_bytes = out_bytes};
}

static uint32_t word_of(pctl_value *v, uint32_t i)
{
	uint32_t word;

	assert_int_equal(pctl_value_read(v, 4 * i, &word, 4, NULL), PCTL_OK);
	return word;
}

static void hooks__traced_rounds_are_one_submit_each(void **state)
{
	struct bench b;
	pctl_job_run run;

	(void)state;
	bench_open(&b);
	run = run_of(&b, 7);
	run.traced = 1;
	assert_int_equal(pctl_job_execute(b.s, &run, &b.in, &b.call, b.out, NULL), PCTL_OK);
	assert_int_equal(log_.submits, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(log_.traces[i], pctl_trace("j", i, 0));
	assert_int_equal(word_of(b.out[0], 3), 14);
	bench_close(&b);
}

static void hooks__a_callers_trace_id_is_kept(void **state)
{
	struct bench b;
	pctl_job_run run;

	(void)state;
	bench_open(&b);
	run = run_of(&b, 3);
	b.call.trace_id = pctl_trace("iterate", 17, 2);
	assert_int_equal(pctl_job_execute(b.s, &run, &b.in, &b.call, b.out, NULL), PCTL_OK);
	for (uint32_t i = 0; i < log_.submits; i++)
		assert_int_equal(log_.traces[i], pctl_trace("iterate", 17, 2));
	bench_close(&b);
}

/* Without tracing, submits name their first round and are no more than before. */
static void hooks__ordinary_rounds_are_not_split(void **state)
{
	struct bench b;
	pctl_job_run run;

	(void)state;
	bench_open(&b);
	run = run_of(&b, 1001);
	assert_int_equal(pctl_job_execute(b.s, &run, &b.in, &b.call, b.out, NULL), PCTL_OK);
	assert_int_equal(log_.submits, 3);
	assert_int_equal(log_.traces[0], pctl_trace("j", 0, 0));
	assert_int_equal(log_.traces[1], pctl_trace("j", 1, 0));
	assert_int_equal(log_.traces[2], pctl_trace("j", 513, 0));
	bench_close(&b);
}

struct seen {
	uint32_t calls, temporary, output;
};

static pctl_status observe(void *ctx, const pctl_job_buffers *v, const pctl_call *call)
{
	struct seen *seen = ctx;
	const pctl_backend *t = pctl_session_table(v->session);
	pctl_device *dev = pctl_session_device(v->session);

	seen->calls++;
	assert_int_equal(t->buffer_read(dev, call, v->buffers[1], 8, &seen->output, 4), PCTL_OK);
	assert_int_equal(t->buffer_read(dev, call, v->buffers[2], 8, &seen->temporary, 4), PCTL_OK);
	return PCTL_OK;
}

static void hooks__a_round_is_cut_after_a_step(void **state)
{
	(void)state;
	for (uint32_t rounds = 1; rounds < 5; rounds++) {
		for (uint32_t steps = 0; steps < 4; steps++) {
			struct seen seen = {0, 0, 0};
			uint32_t before = 2 * (rounds - 1);
			struct bench b;
			pctl_job_run run;

			bench_open(&b);
			run = run_of(&b, rounds);
			run.cut = 1;
			run.steps = steps;
			run.observe = observe;
			run.observer = &seen;
			assert_int_equal(pctl_job_execute(b.s, &run, &b.in, &b.call, b.out, NULL),
					 PCTL_OK);
			assert_int_equal(seen.calls, 1);
			assert_int_equal(log_.dispatches, before + (steps < 2 ? steps : 2));
			if (steps > 0)
				assert_int_equal(seen.temporary, before + 1);
			else if (rounds > 1)
				assert_int_equal(seen.temporary, before - 1);
			if (steps > 1)
				assert_int_equal(seen.output, before + 2);
			bench_close(&b);
		}
	}
}

static void hooks__poison_is_never_zero_and_tells_seeds_apart(void **state)
{
	struct seen seen[3] = {{0, 0, 0}};
	static const uint64_t seeds[3] = {1, 2, 1};

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct bench b;
		pctl_job_run run;

		bench_open(&b);
		run = run_of(&b, 1);
		run.cut = 1;
		run.observe = observe;
		run.observer = &seen[i];
		run.poison = seeds[i];
		assert_int_equal(pctl_job_execute(b.s, &run, &b.in, &b.call, b.out, NULL), PCTL_OK);
		for (uint32_t k = 0; k < 4; k++) {
			assert_int_not_equal(seen[i].output >> 8 * k & 0xff, 0);
			assert_int_not_equal(seen[i].temporary >> 8 * k & 0xff, 0);
		}
		assert_int_not_equal(seen[i].output, seen[i].temporary);
		bench_close(&b);
	}
	assert_int_not_equal(seen[0].output, seen[1].output);
	assert_int_equal(seen[0].output, seen[2].output);
}

/* Of progress: what was told last, and how often less was told than before. */
static struct {
	uint64_t last, total;
	uint32_t back;
} told;

static void tell(void *ctx, const pctl_progress *p)
{
	(void)ctx;
	told.back += p->done < told.last;
	told.last = p->done;
	told.total = p->total;
}

static void hooks__progress_ends_at_the_last_round(void **state)
{
	(void)state;
	for (uint64_t repeat = 1; repeat < 12; repeat++) {
		struct bench b;
		pctl_job_run run;

		bench_open(&b);
		memset(&told, 0, sizeof(told));
		run = run_of(&b, repeat);
		run.progress = &(const pctl_progress_sink){tell, NULL};
		assert_int_equal(pctl_job_execute(b.s, &run, &b.in, &b.call, b.out, NULL), PCTL_OK);
		assert_int_equal(told.last, repeat);
		assert_int_equal(told.total, repeat);
		assert_int_equal(told.back, 0);
		assert_int_equal(word_of(b.out[0], 3), 2 * repeat);
		bench_close(&b);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(hooks__progress_ends_at_the_last_round),
		PCTL_TEST(hooks__traced_rounds_are_one_submit_each),
		PCTL_TEST(hooks__a_callers_trace_id_is_kept),
		PCTL_TEST(hooks__ordinary_rounds_are_not_split),
		PCTL_TEST(hooks__a_round_is_cut_after_a_step),
		PCTL_TEST(hooks__poison_is_never_zero_and_tells_seeds_apart))
