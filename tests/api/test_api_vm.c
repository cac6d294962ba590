/* Machines of vm.h: memory, programs of kernels and ops, one submit an execution with no host work in it, several machines, what is
 * refused, names without telemetry, advice. The reference runs them; the tests in tests/integration/vm have devices. */
#include "rig.h"

#define PIPECTL_VM_NAMES
#include "pipectl/vm.h"

#define N 64u

/* r1 = W r0 in the window. */
static const char matvec[] =
	"@group(0) @binding(0) var<storage, read_write> registers: array<f32>;\n"
	"@group(0) @binding(2) var<storage, read> heap: array<f32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(local_invocation_index) i: u32) {\n"
	"  var acc = 0.0;\n"
	"  for (var k = 0u; k < 64u; k++) { acc = fma(heap[i * 64u + k], registers[k], acc); }\n"
	"  registers[64u + i] = acc;\n"
	"}\n";

/* The outbox is the inbox (r0 of instance 0) and one more. */
static const char step_up[] =
	"struct Params { layer_idx: u32, n_embd: u32, width: u32, instances: u32 }\n"
	"@group(0) @binding(0) var<storage, read_write> registers: array<f32>;\n"
	"@group(1) @binding(0) var<uniform> p: Params;\n"
	"@compute @workgroup_size(60)\n"
	"fn main(@builtin(local_invocation_index) i: u32) {\n"
	"  var x = registers[31u * 64u + i];\n"
	"  if (p.layer_idx == 0u) { x = registers[i]; }\n"
	"  registers[30u * 64u + i] = x + 1.0;\n"
	"}\n";

static pipectl_vm *booted(rig *r, pipectl_vm_options o)
{
	pipectl_vm *vm = NULL;

	o.head = (pctl_head)PCTL_HEAD(pipectl_vm_options);
	o.device = "cpu";
	assert_int_equal(vm_boot(r->p, &o, &vm), PCTL_OK);
	return vm;
}

static pipectl_vm_step kernel(const char *text)
{
	return (pipectl_vm_step){
		.head = PCTL_HEAD(pipectl_vm_step), .name = "kernel.wgsl", .wgsl = text};
}

static pctl_status made(pipectl_vm *vm, const pipectl_vm_step *step, uint32_t flags,
			uint32_t advance, pipectl_vm_program **out)
{
	const pipectl_vm_program_options o = {.head = PCTL_HEAD(pipectl_vm_program_options),
					      .steps = &step,
					      .n_steps = 1,
					      .flags = flags,
					      .advance = advance};

	return vm_program(vm, &o, out);
}

static void fill(float *x, uint32_t n, float first)
{
	for (uint32_t i = 0; i < n; i++)
		x[i] = first + (float)(i % 7u);
}

static void vm__matvec(void **state)
{
	pipectl_vm_step step = kernel(matvec);
	float w[N * N], x[N], y[N];
	char cid[PIPECTL_CID_SIZE], stored[PIPECTL_CID_SIZE];
	pipectl_vm_program *program;
	uint64_t at, second;
	pipectl_vm *vm;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	vm = booted(&r, (pipectl_vm_options){.width = N, .flags = PIPECTL_VM_VERIFY});
	fill(w, N * N, -3.0f);
	fill(x, N, 1.0f);
	assert_int_equal(pipectl_vm_heap(vm, x, sizeof(x), &at, cid), PCTL_OK);
	assert_int_equal(at, 0);
	assert_int_equal(pipectl_vm_heap(vm, w, sizeof(w), &second, cid), PCTL_OK);
	assert_int_equal(second, 256);
	/* Named as the store names the same bytes. */
	assert_int_equal(pipectl_store_put(r.p, w, sizeof(w), stored), PCTL_OK);
	assert_string_equal(cid, stored);
	step.heap_at = second;
	step.heap_bytes = sizeof(w);
	assert_int_equal(made(vm, &step, 0, 0, &program), PCTL_OK);
	assert_int_equal(vm_write_register(vm, 0, 0, x, N), PCTL_OK);
	assert_int_equal(vm_execute(program, 1), PCTL_OK);
	assert_int_equal(vm_read_register(vm, 0, 1, y, N), PCTL_OK);
	for (uint32_t i = 0; i < N; i++) {
		float want = 0.0f;

		for (uint32_t k = 0; k < N; k++)
			want += w[i * N + k] * x[k]; /* small whole numbers: exact */
		assert_true(y[i] == want);
	}
	pipectl_vm_program_release(program);
	vm_shutdown(vm);
	rig_close(&r, 1);
}

static void vm__chain_and_turns(void **state)
{
	const pipectl_vm_step step = kernel(step_up);
	pipectl_vm_stats stats = {.head = PCTL_HEAD(pipectl_vm_stats)};
	pipectl_vm_layout layout = {.head = PCTL_HEAD(pipectl_vm_layout)};
	pipectl_vm_program *program;
	float x[60], y[64], m[6];
	uint32_t words[4];
	pipectl_vm *vm;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	vm = booted(&r, (pipectl_vm_options){
				.width = N, .instances = 3, .kv_bytes = 100, .globals_bytes = 64});
	assert_int_equal(pipectl_vm_look(vm, &layout), PCTL_OK);
	assert_int_equal(layout.n_embd, 60);
	assert_int_equal(layout.kv, 256);
	assert_int_equal(layout.kv_stride, 256);
	assert_int_equal(layout.own, 1024);
	assert_int_equal(layout.globals_bytes, 1088);
	assert_int_equal(made(vm, &step, 0, 5, &program), PCTL_OK);
	fill(x, 60, 10.0f);
	assert_int_equal(vm_write_register(vm, 0, 0, x, 60), PCTL_OK);
	/* 7 executions, one submit. */
	assert_int_equal(vm_execute(program, 7), PCTL_OK);
	assert_int_equal(vm_execute(program, 1), PCTL_OK);
	assert_int_equal(pipectl_vm_program_stats(program, &stats), PCTL_OK);
	assert_int_equal(stats.submits, 2);
	assert_int_equal(stats.rounds, 8);
	assert_int_equal(stats.dispatches, 3 * 3 + 2 + 1);
	/* Kernel, metrics, regulator and message wait for each other, and the counter for the last regulator: one before each
	 * dispatch but the first. */
	assert_int_equal(stats.barriers, stats.dispatches - 1);
	assert_int_equal(vm_read_register(vm, 2, 30, y, 64), PCTL_OK);
	for (uint32_t i = 0; i < 60; i++)
		assert_true(y[i] == x[i] + 3.0f);
	assert_int_equal(pipectl_vm_read_metrics(vm, 2, m), PCTL_OK);
	assert_true(m[0] == y[60] && m[1] == y[61] && m[2] == 0 && m[3] == 0 && m[4] == 2.0f &&
		    m[5] == 0);
	assert_int_equal(pipectl_vm_read_globals(vm, 0, words, sizeof(words)), PCTL_OK);
	assert_int_equal(words[0], 40);
	pipectl_vm_program_release(program);
	vm_shutdown(vm);
	rig_close(&r, 1);
}

/* Names leave out what tells time, and nothing else. */
static void vm__names(void **state)
{
	char before[PIPECTL_CID_SIZE], after[PIPECTL_CID_SIZE];
	const float ticks = 7.0f;
	pipectl_vm *vm;
	float x[64] = {0};
	rig r;

	(void)state;
	rig_open(&r, NULL);
	vm = booted(&r, (pipectl_vm_options){.width = N, .n_embd = 8});
	assert_int_equal(pipectl_vm_name(vm, PIPECTL_VM_MESSAGE, 0, before), PCTL_OK);
	x[10] = ticks;
	x[12] = ticks; /* behind the message */
	assert_int_equal(vm_write_register(vm, 0, 30, x, 64), PCTL_OK);
	assert_int_equal(pipectl_vm_name(vm, PIPECTL_VM_MESSAGE, 0, after), PCTL_OK);
	assert_string_equal(before, after);
	x[11] = ticks;
	assert_int_equal(vm_write_register(vm, 0, 30, x, 64), PCTL_OK);
	assert_int_equal(pipectl_vm_name(vm, PIPECTL_VM_MESSAGE, 0, after), PCTL_OK);
	assert_string_not_equal(before, after);
	assert_int_equal(pipectl_vm_name(vm, PIPECTL_VM_GLOBALS, 0, before), PCTL_OK);
	assert_int_equal(pipectl_vm_write_globals(vm, 32, &ticks, 4), PCTL_OK); /* throughput */
	assert_int_equal(pipectl_vm_name(vm, PIPECTL_VM_GLOBALS, 0, after), PCTL_OK);
	assert_string_equal(before, after);
	assert_int_equal(pipectl_vm_write_globals(vm, 28, &ticks, 4), PCTL_OK);
	assert_int_equal(pipectl_vm_name(vm, PIPECTL_VM_GLOBALS, 0, after), PCTL_OK);
	assert_string_not_equal(before, after);
	assert_int_equal(pipectl_vm_name(vm, PIPECTL_VM_METRICS, 0, after), PCTL_OK);
	REFUSED(&r, 11, pipectl_vm_name(vm, 9, 0, after));
	vm_shutdown(vm);
	rig_close(&r, 1);
}

static void vm__ops(void **state)
{
	const pipectl_vm_port in[] = {
		{.type = "f32[1,64]", .space = PIPECTL_VM_IN_REGISTER, .number = 0},
		{.type = "f32[64,64]", .space = PIPECTL_VM_IN_HEAP, .stride = 16384}};
	const pipectl_vm_port out[] = {
		{.type = "f32[1,64]", .space = PIPECTL_VM_IN_REGISTER, .number = 1}};
	const pipectl_setting attr = {"transpose_b", "true"}, none = {"nothing", "1"};
	pipectl_vm_step step = {.head = PCTL_HEAD(pipectl_vm_step),
				.op = "tensor.matmul@1",
				.in = in,
				.out = out,
				.n_in = 2,
				.n_out = 1,
				.attr = &attr,
				.n_attr = 1};
	static float w[2 * N * N];
	float x[N], y[N];
	char cid[PIPECTL_CID_SIZE];
	pipectl_vm_program *program;
	pipectl_vm *vm;
	uint64_t at;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	vm = booted(&r, (pipectl_vm_options){.width = N, .instances = 2});
	fill(w, 2 * N * N, -2.0f);
	fill(x, N, 1.0f);
	assert_int_equal(pipectl_vm_heap(vm, w, sizeof(w), &at, cid), PCTL_OK);
	assert_int_equal(made(vm, &step, 0, 0, &program), PCTL_OK);
	assert_int_equal(vm_write_register(vm, 1, 0, x, N), PCTL_OK);
	assert_int_equal(vm_execute(program, 1), PCTL_OK);
	assert_int_equal(vm_read_register(vm, 1, 1, y, N), PCTL_OK);
	for (uint32_t i = 0; i < N; i++) {
		float want = 0.0f;

		for (uint32_t k = 0; k < N; k++)
			want += w[N * N + i * N + k] * x[k];
		assert_true(y[i] == want);
	}
	pipectl_vm_program_release(program);
	step.attr = &none;
	REFUSED(&r, 4110, made(vm, &step, 0, 0, &program));
	step.n_attr = 0;
	step.op = "tensor.nothing";
	REFUSED(&r, 4120, made(vm, &step, 0, 0, &program));
	vm_shutdown(vm);
	rig_close(&r, 1);
}

static void vm__skipping(void **state)
{
	const pipectl_vm_step step = kernel(step_up);
	const float off[4] = {1.0f, 0.0f, 0.0f, 0.0f}, half[4] = {1.0f, 0.0f, 1.0f, 1.0f};
	pipectl_vm_program *plain, *skipping;
	float x[64], y[64], control[4];
	pipectl_vm *vm;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	vm = booted(&r,
		    (pipectl_vm_options){.width = N, .instances = 3, .flags = PIPECTL_VM_VERIFY});
	assert_int_equal(made(vm, &step, 0, 0, &plain), PCTL_OK);
	REFUSED(&r, 4408, pipectl_vm_write_control(vm, 1, off));
	REFUSED(&r, 4407, pipectl_vm_write_control(vm, 1, half));
	assert_int_equal(made(vm, &step, PIPECTL_VM_SKIPPING, 0, &skipping), PCTL_OK);
	fill(x, 64, 1.0f);
	assert_int_equal(vm_write_register(vm, 0, 0, x, 64), PCTL_OK);
	assert_int_equal(pipectl_vm_write_control(vm, 1, off), PCTL_OK);
	assert_int_equal(pipectl_vm_read_control(vm, 1, control), PCTL_OK);
	assert_memory_equal(control, off, sizeof(off));
	for (uint32_t skipped = 0; skipped < 3; skipped++) {
		const float on[4] = {1.0f, 0.0f, 0.0f, 1.0f};

		for (uint32_t i = 0; i < 3; i++)
			assert_int_equal(pipectl_vm_write_control(vm, i, i == skipped ? off : on),
					 PCTL_OK);
		assert_int_equal(vm_execute(skipping, 1), PCTL_OK);
		assert_int_equal(vm_read_register(vm, 2, 30, y, 60), PCTL_OK);
		for (uint32_t i = 0; i < 60; i++)
			assert_true(y[i] == x[i] + 2.0f);
	}
	/* A program without gates runs them all. */
	assert_int_equal(vm_execute(plain, 1), PCTL_OK);
	assert_int_equal(vm_read_register(vm, 2, 30, y, 60), PCTL_OK);
	assert_true(y[0] == x[0] + 3.0f);
	pipectl_vm_program_release(plain);
	pipectl_vm_program_release(skipping);
	vm_shutdown(vm);
	rig_close(&r, 1);
}

/* Two machines beside each other, one of them with a heap that ends; and advice. */
static void vm__several_and_advice(void **state)
{
	const pipectl_vm_step step = kernel(step_up);
	const float evict[4] = {1.0f, 1.0f, 0.0f, 1.0f};
	pipectl_vm_advice advice = {.head = PCTL_HEAD(pipectl_vm_advice)};
	pipectl_vm_program *a_program, *b_program;
	static float bytes[64 * 64];
	char cid[PIPECTL_CID_SIZE];
	pipectl_vm *a, *b;
	float x[60], y[60];
	uint64_t at;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	a = booted(&r, (pipectl_vm_options){.width = N, .heap_bytes = 1024});
	b = booted(&r, (pipectl_vm_options){.width = N, .instances = 2, .budget_bytes = 40000});
	assert_int_equal(made(a, &step, 0, 0, &a_program), PCTL_OK);
	assert_int_equal(made(b, &step, PIPECTL_VM_CLOCK, 0, &b_program), PCTL_OK);
	fill(x, 60, 0.0f);
	assert_int_equal(vm_write_register(a, 0, 0, x, 60), PCTL_OK);
	assert_int_equal(vm_write_register(b, 0, 0, x, 60), PCTL_OK);
	assert_int_equal(vm_execute(b_program, 1), PCTL_OK);
	assert_int_equal(vm_execute(a_program, 1), PCTL_OK);
	assert_int_equal(vm_read_register(a, 0, 30, y, 60), PCTL_OK);
	assert_true(y[3] == x[3] + 1.0f);
	assert_int_equal(vm_read_register(b, 1, 30, y, 60), PCTL_OK);
	assert_true(y[3] == x[3] + 2.0f);
	REFUSED(&r, 4403, pipectl_vm_heap(a, bytes, 1028, &at, cid));
	assert_int_equal(pipectl_vm_heap(a, bytes, 1024, &at, cid), PCTL_OK);
	REFUSED(&r, 4403, pipectl_vm_heap(a, bytes, 4, &at, cid));
	assert_int_equal(pipectl_vm_advise(b_program, &advice), PCTL_OK);
	assert_int_equal(advice.pressed, 0);
	assert_int_equal(advice.prefetch, 0);
	assert_int_equal(advice.evict, PIPECTL_VM_NONE);
	assert_int_equal(pipectl_vm_heap(b, bytes, sizeof(bytes), &at, cid), PCTL_OK);
	assert_int_equal(pipectl_vm_heap(b, bytes, 4096, &at, cid), PCTL_OK);
	assert_int_equal(pipectl_vm_advise(b_program, &advice), PCTL_OK);
	assert_true(advice.used_bytes > 36000);
	assert_int_equal(advice.pressed, 1);
	assert_int_equal(advice.evict, 0);
	assert_int_equal(advice.prefetch, PIPECTL_VM_NONE);
	assert_int_equal(pipectl_vm_write_control(b, 1, evict), PCTL_OK);
	assert_int_equal(pipectl_vm_advise(b_program, &advice), PCTL_OK);
	assert_int_equal(advice.evict, 1);
	pipectl_vm_program_release(a_program);
	vm_shutdown(a);
	pipectl_vm_program_release(b_program);
	vm_shutdown(b);
	rig_close(&r, 1);
}

static void vm__refusals(void **state)
{
	pipectl_vm_options o = {.head = PCTL_HEAD(pipectl_vm_options), .device = "cpu"};
	const pipectl_vm_program_options nothing = {.head = PCTL_HEAD(pipectl_vm_program_options),
						    .n_steps = 1};
	pipectl_vm_step step = kernel(step_up);
	pipectl_vm_program *program;
	float x[64] = {0};
	pipectl_vm *vm;
	rig r;

	(void)state;
	rig_open(&r, NULL);
	o.width = 64;
	o.n_embd = 61;
	REFUSED(&r, 4401, vm_boot(r.p, &o, &vm));
	o.n_embd = 60;
	o.width = 65;
	REFUSED(&r, 4402, vm_boot(r.p, &o, &vm));
	o.width = 64;
	o.flags = 64;
	REFUSED(&r, 11, vm_boot(r.p, &o, &vm));
	o.flags = 0;
	o.globals_bytes = UINT64_MAX; /* with what lies before it the sum would begin anew */
	REFUSED(&r, 4402, vm_boot(r.p, &o, &vm));
	o.globals_bytes = 6;
	REFUSED(&r, 4402, vm_boot(r.p, &o, &vm));
	o.globals_bytes = 0;
	o.device = "nowhere";
	REFUSED(&r, 3230, vm_boot(r.p, &o, &vm));
	o.device = "cpu";
	assert_int_equal(vm_boot(r.p, &o, &vm), PCTL_OK);
	REFUSED(&r, 4405, vm_write_register(vm, 1, 0, x, 4));
	REFUSED(&r, 4405, vm_write_register(vm, 0, 32, x, 4));
	REFUSED(&r, 4405, vm_read_register(vm, 0, 0, x, 65));
	REFUSED(&r, 4405, pipectl_vm_read_globals(vm, 2, x, 4));
	REFUSED(&r, 11, vm_write_register(vm, 0, 0, NULL, 4));
	REFUSED(&r, 11, vm_program(vm, &nothing, &program));
	step.n_params = 1;
	REFUSED(&r, 11, made(vm, &step, 0, 0, &program));
	step.n_params = 0;
	step.heap_bytes = 256;
	REFUSED(&r, 4404, made(vm, &step, 0, 0, &program));
	step.heap_bytes = 0;
	step.flags = PIPECTL_VM_SOME;
	step.last = 1;
	REFUSED(&r, 4406, made(vm, &step, 0, 0, &program));
	step.flags = 0;
	step.op = "ieee.neg";
	REFUSED(&r, 4406, made(vm, &step, 0, 0, &program));
	step.op = NULL;
	step.wgsl = "fn main() {";
	assert_int_not_equal(made(vm, &step, 0, 0, &program), PCTL_OK);
	step.wgsl = "@group(0) @binding(0) var<storage, read_write> r: array<u32>;\n"
		    "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) "
		    "{ r[0] = i; }\n";
	REFUSED(&r, 4311, made(vm, &step, 0, 0, &program));
	step.wgsl = matvec;
	REFUSED(&r, 4404, made(vm, &step, 0, 0, &program));
	vm_shutdown(vm);
	rig_close(&r, 1);
}

PCTL_TESTS_MAIN(PCTL_TEST(vm__matvec), PCTL_TEST(vm__chain_and_turns), PCTL_TEST(vm__names),
		PCTL_TEST(vm__ops), PCTL_TEST(vm__skipping), PCTL_TEST(vm__several_and_advice),
		PCTL_TEST(vm__refusals))
