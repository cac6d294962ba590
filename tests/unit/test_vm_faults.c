/* Machines on the reference: what the host asks of a backend in an execution, which is a submit and a wait, and faults planted in a
 * program's steps, each seen in the bytes that a machine gives. */
#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "planted/planted.h"
#include "rig.h"
#include "runtime/exec/kept.h"
#include "runtime/graph/vm.h"

#define WIDTH 64u
#define N_EMBD 60u
#define INSTANCES 3u
#define PART 65536u

/* The outbox is what came, one more, and the first word of the window; R1 says that it ran. */
static const char text[] =
	"struct Params { layer_idx: u32, n_embd: u32, width: u32, instances: u32 }\n"
	"@group(0) @binding(0) var<storage, read_write> registers: array<f32>;\n"
	"@group(0) @binding(2) var<storage, read> heap: array<f32>;\n"
	"@group(1) @binding(0) var<uniform> p: Params;\n"
	"@compute @workgroup_size(60)\n"
	"fn main(@builtin(local_invocation_index) i: u32) {\n"
	"  var x = registers[31u * 64u + i];\n"
	"  if (p.layer_idx == 0u) { x = registers[i]; }\n"
	"  registers[30u * 64u + i] = x + 1.0 + heap[0];\n"
	"  registers[64u + i] = 1.0;\n"
	"}\n";

struct bench {
	rig r;
	pctl_diag_list *l;
	pctl_call call;
	pctl_kernels *kernels;
	pctl_session *s;
	pctl_vm_part part;
	pctl_vm_step step;
	pctl_vm_desc desc;
	pctl_vm_buffers where;
	pctl_job_plan *plan;
	pctl_kept_plan *kept;
	pctl_buffer *buffers[64];
	uint32_t marks[INSTANCES];
};

/* ---- what is asked of the backend --------------------------------------------------------- */

static pctl_backend counted;
static const pctl_backend *inner;
static char asked[256];

static void note(const char *what)
{
	strncat(asked, what, sizeof(asked) - strlen(asked) - 1);
}

static pctl_status counted_write(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
				 uint64_t offset, const void *data, uint64_t n)
{
	note("W");
	return inner->buffer_write(dev, call, b, offset, data, n);
}

static pctl_status counted_read(pctl_device *dev, const pctl_call *call, pctl_buffer *b,
				uint64_t offset, void *data, uint64_t n)
{
	note("R");
	return inner->buffer_read(dev, call, b, offset, data, n);
}

static pctl_status counted_begin(pctl_device *dev, const pctl_call *call, pctl_list **out)
{
	note("l");
	return inner->list_begin(dev, call, out);
}

static pctl_status counted_submit(pctl_device *dev, const pctl_call *call, pctl_list *l,
				  uint32_t times, uint64_t *ticket)
{
	note("s");
	return inner->submit(dev, call, l, times, ticket);
}

static pctl_status counted_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
				uint64_t timeout_ns, pctl_completion *out)
{
	const pctl_status status = inner->wait(dev, call, ticket, timeout_ns, out);

	/* One that has not passed is asked again, as often as it takes. */
	if (status != PCTL_OK || out->done)
		note("w");
	return status;
}

/* ---- a machine ------------------------------------------------------------------------------ */

static void open_bench(struct bench *b, uint32_t skipping)
{
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "cpu", .id = "cpu:0"};
	static const uint32_t groups[3] = {1, 1, 1};
	const pctl_planner planner = {.caps = {PCTL_HEAD(pctl_plan_caps)}};
	pctl_planner p = planner;

	memset(b, 0, sizeof(*b));
	rig_open(&b->r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	inner = b->r.api;
	counted = *b->r.api;
	counted.buffer_write = counted_write;
	counted.buffer_read = counted_read;
	counted.list_begin = counted_begin;
	counted.submit = counted_submit;
	counted.wait = counted_wait;
	b->l = pctl_diag_list_create();
	b->call = *pctl_diag_list_call(b->l);
	b->kernels = pctl_kernels_create(NULL);
	o.table = &counted;
	o.inst = b->r.inst;
	assert_int_equal(pctl_session_open(&o, &b->call, &b->s), PCTL_OK);
	b->part = (pctl_vm_part){.name = "w", .n_bytes = PART};
	b->step =
		(pctl_vm_step){.name = "k",
			       .last = INSTANCES - 1,
			       .text = text,
			       .n_text = sizeof(text) - 1,
			       .window = {.space = PCTL_VM_IN_HEAP, .stride = 256, .n_bytes = 256}};
	memcpy(b->step.groups, groups, sizeof(groups));
	b->desc = (pctl_vm_desc){.name = "m",
				 .instances = INSTANCES,
				 .width = WIDTH,
				 .n_embd = N_EMBD,
				 .skipping = skipping,
				 .turns = 1,
				 .heap = &b->part,
				 .n_heap = 1,
				 .steps = &b->step,
				 .n_steps = 1};
	assert_int_equal(pctl_vm_lay_out(&b->desc, &b->call), PCTL_OK);
	assert_int_equal(pctl_vm_check(&b->desc, &b->call), PCTL_OK);
	p.kernels = b->kernels;
	assert_int_equal(
		pctl_vm_turn_plan(&p, &b->desc, 0, &b->call, &b->where, b->marks, &b->plan),
		PCTL_OK);
}

static void write_words(struct bench *b, uint32_t buffer, uint64_t offset, const float *x,
			uint32_t n)
{
	assert_int_equal(counted.buffer_write(pctl_session_device(b->s), &b->call,
					      b->buffers[buffer], offset, x, 4ull * n),
			 PCTL_OK);
}

/* Buffers, a heap whose 64 words of part i hold i, control words, R0; and the program. */
static void start(struct bench *b, float active_1)
{
	float heap[PART / 4], x[N_EMBD];
	float control[4 * INSTANCES] = {1, 0, 0, 1, 1, 0, 0, active_1, 1, 0, 0, 1};

	for (uint32_t i = 0; i < b->plan->n_in + b->plan->n_out; i++)
		assert_int_equal(inner->buffer_create(pctl_session_device(b->s), &b->call,
						      b->plan->buffers[i].n_bytes,
						      b->plan->buffers[i].usage, &b->buffers[i]),
				 PCTL_OK);
	for (uint32_t i = 0; i < PART / 4; i++)
		heap[i] = (float)(i / 64u) + (float)(i % 64u != 0);
	for (uint32_t i = 0; i < N_EMBD; i++)
		x[i] = (float)(i % 5u);
	write_words(b, 0, 0, heap, PART / 4);
	write_words(b, b->where.control, 0, control, 4 * INSTANCES);
	write_words(b, b->where.registers, 0, x, N_EMBD);
	if (pctl_kept_plan_open(b->s, b->plan, b->buffers, NULL, 0, &b->call, &b->kept) != PCTL_OK)
		assert_string_equal(
			pctl_diag_list_count(b->l) == 0
				? ""
				: pctl_diag_list_at(b->l, pctl_diag_list_count(b->l) - 1)->message,
			"it opens");
}

static void read_words(struct bench *b, uint32_t buffer, uint64_t offset, float *x, uint32_t n)
{
	assert_int_equal(counted.buffer_read(pctl_session_device(b->s), &b->call,
					     b->buffers[buffer], offset, x, 4ull * n),
			 PCTL_OK);
}

static void close_bench(struct bench *b)
{
	pctl_kept_plan_close(b->kept);
	for (uint32_t i = 0; i < 64; i++)
		if (b->buffers[i] != NULL)
			inner->buffer_destroy(pctl_session_device(b->s), b->buffers[i]);
	pctl_job_plan_destroy(b->plan);
	pctl_session_close(b->s);
	pctl_kernels_destroy(b->kernels);
	pctl_diag_list_destroy(b->l);
	b->r.dev = NULL; /* the session's */
	rig_close(&b->r);
}

/* What is wrong after an execution, in words, or NULL. skipped: an instance, or INSTANCES. Whole numbers: all is exact. */
static const char *wrong(struct bench *b, uint32_t skipped)
{
	static char said[160];
	float x[N_EMBD + 4], m[6], ran;

	assert_int_equal(pctl_kept_plan_run(b->kept, 1, 0, &b->call), PCTL_OK);
	for (uint32_t i = 0; i < INSTANCES; i++) {
		float sum = 0, largest = 0;

		read_words(b, b->where.registers + i, 4u * 30u * WIDTH, x, N_EMBD + 4);
		for (uint32_t k = 0; k < N_EMBD; k++) {
			float want = (float)(k % 5u);

			for (uint32_t j = 0; j <= i; j++)
				want += j == skipped ? 0.0f : 1.0f + (float)j;
			snprintf(said, sizeof(said),
				 "instance %u, word %u of R30: got %g, wanted %g", i, k,
				 (double)x[k], (double)want);
			if (x[k] != want)
				return said;
			sum += want * want;
			largest = want > largest ? want : largest;
		}
		read_words(b, b->where.registers + i, 4u * WIDTH, &ran, 1);
		snprintf(said, sizeof(said), "instance %u, word 0 of R1: got %g", i, (double)ran);
		if (ran != (i == skipped ? 0.0f : 1.0f))
			return said;
		if (i == skipped)
			continue;
		read_words(b, b->where.metrics, (uint64_t)i * PCTL_VM_METRICS_STRIDE, m, 6);
		snprintf(said, sizeof(said),
			 "instance %u: norm %g in metrics and %g in the message, "
			 "wanted the root of %g",
			 i, (double)m[0], (double)x[N_EMBD], (double)sum);
		if (m[0] != x[N_EMBD] || m[0] * m[0] < sum - 0.01f * sum ||
		    m[0] * m[0] > sum + 0.01f * sum || m[1] != largest || x[N_EMBD + 1] != largest)
			return said;
	}
	return NULL;
}

static pctl_step *step_named(struct bench *b, const char *name)
{
	for (uint32_t i = 0; i < b->plan->n_steps; i++)
		if (b->plan->steps[i].kind == PCTL_STEP_KERNEL &&
		    strcmp(b->plan->steps[i].unit->name, name) == 0)
			return &b->plan->steps[i];
	fail_msg("no step %s", name);
	return NULL;
}

static void vm__one_submit_and_nothing_else(void **state)
{
	struct bench b;

	(void)state;
	open_bench(&b, 1);
	start(&b, 1.0f);
	asked[0] = '\0';
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(pctl_kept_plan_run(b.kept, 1 + i, 0, &b.call), PCTL_OK);
	assert_string_equal(asked, "swswswsw");
	assert_int_equal(pctl_kept_plan_stats_of(b.kept)->submits, 4);
	assert_int_equal(pctl_kept_plan_stats_of(b.kept)->rounds, 10);
	assert_null(wrong(&b, INSTANCES));
	close_bench(&b);
}

static void caught(struct bench *b, uint32_t skipped, const char *fault, const char *by)
{
	const char *said = wrong(b, skipped);

	assert_non_null(said);
	planted(fault, "a machine of three instances", by, said);
	close_bench(b);
}

static void vm__faults(void **state)
{
	struct bench b;
	pctl_step swap;

	(void)state;
	open_bench(&b, 0);
	start(&b, 1.0f);
	assert_null(wrong(&b, INSTANCES));
	close_bench(&b);
	open_bench(&b, 1);
	start(&b, 0.0f);
	assert_null(wrong(&b, 1));
	close_bench(&b);

	open_bench(&b, 0);
	step_named(&b, "vm/message.wgsl")->bindings[0].offset -= 4u * WIDTH;
	start(&b, 1.0f);
	caught(&b, INSTANCES, "vm: a message is copied from R29", "R30 of the next instance");

	open_bench(&b, 0);
	swap = *step_named(&b, "vm/regulator.wgsl");
	*step_named(&b, "vm/regulator.wgsl") = *step_named(&b, "vm/metrics.wgsl");
	*step_named(&b, "vm/metrics.wgsl") = swap;
	start(&b, 1.0f);
	caught(&b, INSTANCES, "vm: the regulator runs before the metrics kernel",
	       "norm of a message");

	open_bench(&b, 0);
	for (uint32_t i = 0; i < step_named(&b, "k")->n_bindings; i++)
		if (step_named(&b, "k")->bindings[i].binding == 2)
			step_named(&b, "k")->bindings[i].offset += 256;
	start(&b, 1.0f);
	caught(&b, INSTANCES, "vm: a window of the heap is that of the next instance", "R30");

	open_bench(&b, 1);
	for (uint32_t i = b.marks[1]; i < b.marks[2]; i++)
		if (strcmp(b.plan->steps[i].unit->name, "k") == 0)
			b.plan->steps[i].counts = 0;
	start(&b, 0.0f);
	caught(&b, 1, "vm: an instance that is not active runs", "R1 of that instance");
}

PCTL_TESTS_MAIN(PCTL_TEST(vm__one_submit_and_nothing_else), PCTL_TEST(vm__faults))
