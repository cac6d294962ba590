/* Plans of op libraries: what the sink believes, and every way a plan is refused. */
#include "test_graph_fake.h"

#include "foundation/base/num.h"
#include "planted/planted.h"

#define N 256u /* elements: 1024 bytes a buffer */

static pctl_status make(fake_planner plan, uint32_t op, uint32_t dtype, uint32_t flags,
			pctl_diag_list *l, uint32_t *n_steps, uint32_t *race)
{
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_planner planner = {.ops = &fake_source, .kernels = k};
	pctl_tensor_type in[2] = {{dtype, 1, {N}}, {dtype, 1, {N}}}, out[2] = {in[0], in[0]};
	pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .op = op, .in = in};
	pctl_job_plan *p = NULL;
	pctl_op_ref ref;
	pctl_status status;

	fake_plan_with = plan;
	fake_at(NULL, op, &ref);
	q.n_in = ref.desc->n_in;
	status = pctl_job_plan_op(&planner, "j", &ref, &q, out, flags, pctl_diag_list_call(l), &p);
	assert_true((status == PCTL_OK) == (p != NULL));
	*n_steps = p == NULL ? 0 : p->n_steps;
	*race = p == NULL ? 0 : p->race;
	pctl_job_plan_destroy(p);
	pctl_kernels_destroy(k);
	return status;
}

static pctl_status kernel(const pctl_plan_sink *s, uint32_t from, uint64_t offset, uint64_t n_bytes,
			  uint32_t to)
{
	pctl_plan_binding b[2] = {{0, 0, from, 0, offset, n_bytes}, {0, 1, to, 0, 0, 0}};
	pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
			      .name = "k",
			      .wgsl = FAKE_KERNEL,
			      .bindings = b,
			      .n_bindings = 2,
			      .groups = {N / 64, 1, 1}};

	return s->kernel(s->ctx, &k);
}

static pctl_status good(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, N * 4, &t);

	(void)call;
	if (status == PCTL_OK)
		status = kernel(s, 0, 0, 0, t);
	if (status == PCTL_OK)
		status = s->copy(s->ctx, t, 0, 1, 0, N * 4);
	return status == PCTL_OK ? s->fill(s->ctx, 1, N * 4 - 4, 4, 7) : status;
}

static pctl_status nested(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_tensor_type t[2] = {{PCTL_SCALAR_U32, 1, {N}}, {PCTL_SCALAR_U32, 1, {N}}};
	uint32_t first[2] = {0, 0}, second[2] = {0, 1};
	pctl_status status = s->temp(s->ctx, N * 4, &first[1]);

	(void)call;
	second[0] = first[1];
	if (status == PCTL_OK)
		status = s->op(s->ctx, "fake.inc", 1, first, t, 2, NULL, 0);
	return status == PCTL_OK ? s->op(s->ctx, "fake.inc", 1, second, t, 2, NULL, 0) : status;
}

#define BAD(name, expression)                                                         \
	static pctl_status name(const pctl_call *call, const pctl_plan_sink *s)       \
	{                                                                             \
		static const pctl_tensor_type types[3] = {{PCTL_SCALAR_U32, 1, {N}},  \
							  {PCTL_SCALAR_U32, 1, {N}},  \
							  {PCTL_SCALAR_U32, 1, {N}}}; \
		static const uint32_t buffers[3] = {0, 1, 9};                         \
		uint32_t t = 0;                                                       \
		(void)call;                                                           \
		(void)types;                                                          \
		(void)buffers;                                                        \
		(void)t;                                                              \
		return expression;                                                    \
	}

BAD(binds_nothing, kernel(s, 5, 0, 0, 1))
BAD(binds_too_far, kernel(s, 0, 4, N * 4, 1))
BAD(binds_wrapping, kernel(s, 0, UINT64_MAX - 3, 8, 1))
BAD(binds_unaligned, kernel(s, 0, 2, 4, 1))
BAD(writes_input, kernel(s, 1, 0, 0, 0))
BAD(writes_what_it_reads, kernel(s, 1, 0, 0, 1))
BAD(fills_unaligned, s->fill(s->ctx, 1, 2, 4, 0))
BAD(fills_half_word, s->fill(s->ctx, 1, 0, 6, 0))
BAD(fills_too_far, s->fill(s->ctx, 1, 4, N * 4, 0))
BAD(fills_wrapping, s->fill(s->ctx, 1, UINT64_MAX - 3, 8, 0))
BAD(fills_nothing, s->fill(s->ctx, 2, 0, 4, 0))
BAD(fills_input, s->fill(s->ctx, 0, 0, 4, 0))
BAD(copies_to_input, s->copy(s->ctx, 1, 0, 0, 0, 4))
BAD(copies_within, s->copy(s->ctx, 1, 0, 1, 8, 4))
BAD(copies_too_far, s->copy(s->ctx, 0, 8, 1, 0, N * 4))
BAD(copies_from_nothing, s->copy(s->ctx, 7, 0, 1, 0, 4))
BAD(measures_unasked, s->measure(s->ctx, 1, 0, 4, 0))
BAD(nests_unknown, s->op(s->ctx, "fake.nope", 1, buffers, types, 2, NULL, 0))
BAD(nests_short, s->op(s->ctx, "fake.inc", 1, buffers, types, 1, NULL, 0))
BAD(nests_no_buffer, s->op(s->ctx, "fake.inc", 1, buffers + 1, types, 2, NULL, 0))
BAD(nests_itself, s->op(s->ctx, "fake.plan", 1, buffers, types, 2, NULL, 0))
BAD(nests_null, s->op(s->ctx, NULL, 1, buffers, types, 2, NULL, 0))
BAD(nests_input_written, s->op(s->ctx, "fake.inc", 1, (const uint32_t[]){1, 0}, types, 2, NULL, 0))
BAD(params_null, s->params(s->ctx, NULL, 8, &t))

static pctl_status asserts_nowhere(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_plan_assert a = {PCTL_HEAD(pctl_plan_assert), 1, 8, N * 4 - 4, 0, "no", 0, 0, 0};

	(void)call;
	return s->assert_equal(s->ctx, &a);
}

static pctl_status asserts_silently(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_plan_assert a = {PCTL_HEAD(pctl_plan_assert), 1, 4, 0, 0, NULL, 0, 0, 0};

	(void)call;
	return s->assert_equal(s->ctx, &a);
}

/* The second number that it tells lies behind the end. */
static pctl_status asserts_and_tells(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_plan_assert a = {
		PCTL_HEAD(pctl_plan_assert), 1, 4, 0, 0, "%v is %u", N * 4, 4, 0};

	(void)call;
	return s->assert_equal(s->ctx, &a);
}

static pctl_status binds_once(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_plan_binding b = {0, 1, 1, 0, 0, 0};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "k",
				    .wgsl = FAKE_KERNEL,
				    .bindings = &b,
				    .n_bindings = 1,
				    .groups = {1, 1, 1}};

	(void)call;
	return s->kernel(s->ctx, &k);
}

static pctl_status has_no_text(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel), .name = "k"};

	(void)call;
	return s->kernel(s->ctx, &k);
}

/* Workgroups that stand in a buffer: in what a command wrote, all three numbers of it. */
static pctl_status counted(const pctl_plan_sink *s, uint32_t counts, uint64_t offset,
			   const char *text)
{
	pctl_plan_binding b[2] = {{0, 0, 0, 0, 0, 0}, {0, 1, 1, 0, 0, 0}};
	pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
			      .name = "k",
			      .wgsl = text,
			      .bindings = b,
			      .n_bindings = 2,
			      .groups = {N / 64, 1, 1},
			      .counts = counts,
			      .counts_offset = offset};

	return s->kernel(s->ctx, &k);
}

static pctl_status counted_in(const pctl_plan_sink *s, uint64_t offset, const char *text)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, 16, &t);

	if (status == PCTL_OK)
		status = s->fill(s->ctx, t, 0, 16, 1);
	return status == PCTL_OK ? counted(s, t + 1, offset, text) : status;
}

#define ASKS                                                                                  \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"                           \
	"@group(0) @binding(1) var<storage, read_write> y: array<u32>;\n"                     \
	"@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>, " \
	"@builtin(num_workgroups) n: vec3<u32>) {\n\ty[id.x] = x[id.x] + n.x;\n}\n"
static pctl_status counts_well(const pctl_call *call, const pctl_plan_sink *s)
{
	(void)call;
	return counted_in(s, 4, FAKE_KERNEL);
}

static pctl_status counts_unwritten(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, 16, &t);

	(void)call;
	return status == PCTL_OK ? counted(s, t + 1, 0, FAKE_KERNEL) : status;
}
BAD(counts_in_nothing, counted(s, 9, 0, FAKE_KERNEL))
BAD(counts_in_an_input, counted(s, 1, 0, FAKE_KERNEL))
BAD(counts_unaligned, counted_in(s, 2, FAKE_KERNEL))
BAD(counts_past_the_end, counted_in(s, 8, FAKE_KERNEL))
BAD(counts_wrapping, counted_in(s, UINT64_MAX - 3, FAKE_KERNEL))
BAD(counts_and_asks, counted_in(s, 0, ASKS))

/* A library that does not listen. */
static pctl_status goes_on(const pctl_call *call, const pctl_plan_sink *s)
{
	(void)call;
	(void)s->fill(s->ctx, 9, 0, 4, 0);
	return PCTL_OK;
}

/* ---- without end, and beyond all bounds ---- */

static pctl_status fills_without_end(const pctl_call *call, const pctl_plan_sink *s)
{
	pctl_status status = PCTL_OK;

	(void)call;
	while (status == PCTL_OK)
		status = s->fill(s->ctx, 1, 0, 4, 0);
	return status;
}

static pctl_status temps_without_end(const pctl_call *call, const pctl_plan_sink *s)
{
	pctl_status status = PCTL_OK;
	uint32_t t;

	(void)call;
	while (status == PCTL_OK)
		status = s->temp(s->ctx, 4, &t);
	return status;
}

static pctl_status params_without_end(const pctl_call *call, const pctl_plan_sink *s)
{
	static uint8_t bytes[1u << 20];
	pctl_status status = PCTL_OK;
	uint32_t t;

	(void)call;
	while (status == PCTL_OK)
		status = s->params(s->ctx, bytes, sizeof(bytes), &t);
	return status;
}

/* A tree of ops that has a hundred million leaves and does nothing: no command of it is seen but the opening of others. */
static uint32_t tree_depth;
static pctl_status opens_a_tree(const pctl_call *call, const pctl_plan_sink *s)
{
	static const pctl_tensor_type types[2] = {{PCTL_SCALAR_U32, 1, {N}},
						  {PCTL_SCALAR_U32, 1, {N}}};
	static const uint32_t buffers[2] = {0, 1};
	pctl_status status = PCTL_OK;

	(void)call;
	if (tree_depth == 7)
		return PCTL_OK;
	tree_depth++;
	for (uint32_t i = 0; i < 14 && status == PCTL_OK; i++)
		status = s->op(s->ctx, "fake.plan", 1, buffers, types, 2, NULL, 0);
	tree_depth--;
	return status;
}

/* The same by one that does not listen: it only asks, ten million times. */
static pctl_status asks_on(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;

	(void)call;
	for (uint32_t i = 0; i < 10000000; i++)
		(void)s->temp(s->ctx, 4, &t);
	return PCTL_OK;
}

static pctl_status temps_beyond(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;

	(void)call;
	return s->temp(s->ctx, UINT64_MAX - 255, &t);
}

static pctl_status temps_sum_beyond(const pctl_call *call, const pctl_plan_sink *s)
{
	pctl_status status = PCTL_OK;
	uint32_t t;

	(void)call;
	for (uint32_t i = 0; i < 4 && status == PCTL_OK; i++)
		status = s->temp(s->ctx, UINT64_C(1) << 62, &t);
	return status;
}

static pctl_status slots_of_a_refused_buffer(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t = 0;

	(void)call;
	(void)s->temp(s->ctx, UINT64_MAX, &t);
	return s->fill(s->ctx, t, 0, 4, 0);
}

#include "test_graph_repeats.h"

#define TYPED(name, ...)                                                             \
	static pctl_status name(const pctl_call *call, const pctl_plan_sink *s)      \
	{                                                                            \
		static const pctl_tensor_type types[2] = {__VA_ARGS__, __VA_ARGS__}; \
		static const uint32_t buffers[2] = {0, 1};                           \
		(void)call;                                                          \
		return s->op(s->ctx, "fake.inc", 1, buffers, types, 2, NULL, 0);     \
	}
TYPED(nests_many_dimensions, {PCTL_SCALAR_U32, 4000, {1, 1, 1, 1, 1, 1, 1, 1}})
TYPED(nests_no_dtype, {4711, 1, {N}})
TYPED(nests_larger_than_its_buffer, {PCTL_SCALAR_U32, 1, {N + 1}})
TYPED(nests_beyond_64_bits, {PCTL_SCALAR_U32, 2, {UINT64_MAX, UINT64_MAX}})

static void hostile_plans(void **state)
{
	static const struct {
		const char *fault;
		fake_planner plan;
	} hostile[] = {
		{"a plan that fills without end", fills_without_end},
		{"a plan of temporaries without end", temps_without_end},
		{"a plan of parameters without end", params_without_end},
		{"a plan that opens ops without end", opens_a_tree},
		{"a plan that goes on after it was refused", asks_on},
		{"a temporary of 2^64 - 256 bytes", temps_beyond},
		{"temporaries of 2^64 bytes together", temps_sum_beyond},
		{"a slot of a buffer that was refused", slots_of_a_refused_buffer},
		{"a nested op over a type of 4,000 dimensions", nests_many_dimensions},
		{"a nested op over an unknown element type", nests_no_dtype},
		{"a nested op over more than its buffer holds", nests_larger_than_its_buffer},
		{"a nested op over 2^128 elements", nests_beyond_64_bits},
		{"a repeat of 2^32 - 1 turns", repeats_many},
		{"a stride past the end of the parameters", strides_past_the_end},
		{"a constant whose bytes differ from its CID", constant_differs},
		{"workgroups that stand past the end of their buffer", counts_past_the_end},
		{"workgroups that no command before wrote", counts_unwritten},
		{"a kernel whose workgroups stand in a buffer asks how many there are",
		 counts_and_asks},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		uint32_t n, race;

		tree_depth = 0;
		assert_int_equal(make(hostile[i].plan, FAKE_PLAN, PCTL_SCALAR_U32, 0, l, &n, &race),
				 pctl_code_status(PC4132_PLAN));
		assert_true(fake_saw(l, PC4132_PLAN));
		planted(hostile[i].fault, "fake.plan", "PC4132", pctl_diag_list_at(l, 0)->message);
		pctl_diag_list_destroy(l);
	}
}

static void good_plans(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	uint32_t n, race;

	(void)state;
	assert_int_equal(make(good, FAKE_PLAN, PCTL_SCALAR_U32, 0, l, &n, &race), PCTL_OK);
	assert_int_equal(n, 3);
	assert_int_equal(race, PCTL_PROOF_PROVEN);
	assert_int_equal(make(nested, FAKE_PLAN, PCTL_SCALAR_U32, 0, l, &n, &race), PCTL_OK);
	assert_int_equal(n, 2);
	/* The fill, the copy of the numbers, their check, the kernel. */
	assert_int_equal(make(counts_well, FAKE_PLAN, PCTL_SCALAR_U32, 0, l, &n, &race), PCTL_OK);
	assert_int_equal(n, 4);
	assert_int_equal(race, PCTL_PROOF_PROVEN);
	assert_int_equal(make(NULL, FAKE_FUNCTION, PCTL_SCALAR_U32, 0, l, &n, &race), PCTL_OK);
	assert_int_equal(n, 1);
	assert_int_equal(pctl_diag_list_count(l), 0);
	pctl_diag_list_destroy(l);
}

static void bad_plans(void **state)
{
	static const struct {
		fake_planner plan;
		uint32_t code;
	} bad[] = {
		{binds_nothing, PC4132_PLAN},
		{binds_too_far, PC4130_BINDING},
		{binds_wrapping, PC4130_BINDING},
		{binds_unaligned, PC4130_BINDING},
		{binds_once, PC4130_BINDING},
		{writes_input, PC4130_BINDING},
		{writes_what_it_reads, PC4130_BINDING},
		{fills_unaligned, PC4132_PLAN},
		{fills_half_word, PC4132_PLAN},
		{fills_too_far, PC4132_PLAN},
		{fills_wrapping, PC4132_PLAN},
		{fills_nothing, PC4132_PLAN},
		{fills_input, PC4132_PLAN},
		{copies_to_input, PC4132_PLAN},
		{copies_within, PC4132_PLAN},
		{copies_too_far, PC4132_PLAN},
		{copies_from_nothing, PC4132_PLAN},
		{measures_unasked, PC4132_PLAN},
		{nests_unknown, PC4120_OP_UNKNOWN},
		{nests_short, PC4132_PLAN},
		{nests_no_buffer, PC4132_PLAN},
		{nests_itself, PC4132_PLAN},
		{nests_null, PC4132_PLAN},
		{nests_input_written, PC4130_BINDING},
		{params_null, PC4132_PLAN},
		{asserts_nowhere, PC4132_PLAN},
		{asserts_silently, PC4132_PLAN},
		{asserts_and_tells, PC4132_PLAN},
		{has_no_text, PC4132_PLAN},
		{repeats_never, PC4132_PLAN},
		{repeats_without_end, PC4132_PLAN},
		{ends_nothing, PC4132_PLAN},
		{repeats_for_ever, PC4132_PLAN},
		{exchanges_input, PC4132_PLAN},
		{exchanges_itself, PC4132_PLAN},
		{exchanges_nothing, PC4132_PLAN},
		{exchanges_other_sizes, PC4132_PLAN},
		{repeats_within, PC4132_PLAN},
		{asserts_within, PC4132_PLAN},
		{asserts_nested, PC4132_PLAN},
		{strides_outside, PC4132_PLAN},
		{strides_the_whole, PC4132_PLAN},
		{strides_an_input, PC4132_PLAN},
		{constant_of_no_name, PC4132_PLAN},
		{constant_null, PC4132_PLAN},
		{constant_half_word, PC4132_PLAN},
		{writes_constant, PC4130_BINDING},
		{fills_constant, PC4132_PLAN},
		{counts_in_nothing, PC4132_PLAN},
		{counts_in_an_input, PC4132_PLAN},
		{counts_unaligned, PC4132_PLAN},
		{counts_wrapping, PC4132_PLAN},
		{goes_on, PC4132_PLAN},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		uint32_t n, race;
		pctl_status status = make(bad[i].plan, FAKE_PLAN, PCTL_SCALAR_U32, 0, l, &n, &race);

		if (status != pctl_code_status(bad[i].code) || !fake_saw(l, bad[i].code))
			fail_msg("bad plan %u: status %d, %s", i, (int)status,
				 pctl_diag_list_count(l) == 0 ? "silent"
							      : pctl_diag_list_at(l, 0)->message);
		pctl_diag_list_destroy(l);
	}
}

static void measures(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	uint32_t n, race;

	(void)state;
	/* In a measure buffer 1 is the first temporary, of which there is none. */
	assert_int_not_equal(
		make(measures_unasked, FAKE_PLAN, PCTL_SCALAR_U32, PCTL_PLAN_MEASURE, l, &n, &race),
		PCTL_OK);
	assert_true(fake_saw(l, PC4132_PLAN));
	pctl_diag_list_destroy(l);
}

static void no_form(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	uint32_t n, race;

	(void)state;
	assert_int_equal(make(NULL, FAKE_FUNCTION, PCTL_SCALAR_U64, 0, l, &n, &race),
			 PCTL_E_INVALID);
	assert_true(fake_saw(l, PC4134_NO_FORM));
	pctl_diag_list_destroy(l);
}

/* The plan of fake.half over n elements of dtype; its kernel's text of instructions. */
static char *half(uint32_t dtype, uint64_t n, uint32_t *class, uint64_t gas[2])
{
	static const char *const schedules[] = {PIPECTL_SOURCE_DIR "/conf/gas/structured-2.cfg",
						PIPECTL_SOURCE_DIR "/conf/gas/structured-1.cfg"};
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_planner planner = {.ops = &fake_source, .kernels = k};
	pctl_tensor_type in = {dtype, 1, {n}}, out = in;
	pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .op = FAKE_HALF, .in = &in, .n_in = 1};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_job_plan *p = NULL;
	pctl_op_ref ref;
	char *text;

	fake_at(NULL, FAKE_HALF, &ref);
	if (pctl_job_plan_op(&planner, "j", &ref, &q, &out, 0, pctl_diag_list_call(l), &p) !=
	    PCTL_OK)
		pctl_diag_render_text(l, stderr, 0);
	assert_non_null(p);
	assert_int_equal(p->n_steps, 1);
	*class = p->determinism;
	for (uint32_t i = 0; i < 2; i++) {
		pctl_gas_schedule *s = NULL;

		assert_int_equal(pctl_gas_schedule_read(schedules[i], NULL, &s), PCTL_OK);
		(void)pctl_job_plan_gas(p, s, 1, 0, pctl_diag_list_call(l), &gas[i]);
		pctl_gas_schedule_destroy(s);
	}
	assert_true(fake_saw(l, PC2604_GAS_UNPRICED));
	text = pctl_program_print(p->steps[0].unit->program);
	pctl_job_plan_destroy(p);
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
	return text;
}

/* A function op over floats: its form by dtype, class strict, a price only where floats have one,
 * and the padding behind an odd number of halves left alone. */
static void floats(void **state)
{
	static const struct {
		uint32_t dtype;
		uint64_t n;
		const char *shows, *shows_not;
	} rows[] = {
		{PCTL_SCALAR_F32, 257, "FMUL %", " SUB %"},
		{PCTL_SCALAR_F16, 256, "vec3<u32>", " SUB %"},
		{PCTL_SCALAR_F16, 257, " SUB %", " FSUB %"},
		{PCTL_SCALAR_BF16, 257, " SUB %", " FSUB %"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t gas[2] = {0, 0};
		uint32_t class;
		char *text = half(rows[i].dtype, rows[i].n, &class, gas);

		assert_int_equal(class, PCTL_CLASS_STRICT);
		assert_true(gas[0] > 0);
		assert_int_equal(gas[1], 0);
		assert_non_null(strstr(text, rows[i].shows));
		assert_null(strstr(text, rows[i].shows_not));
		free(text);
	}
}

static void gas_overflows(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_gas_schedule *schedule;
	pctl_job_plan *p;
	uint64_t once, gas;
	uint32_t number;

	(void)state;
	assert_int_equal(pctl_gas_schedule_read(PIPECTL_SOURCE_DIR "/conf/gas/structured-2.cfg",
						call, &schedule),
			 PCTL_OK);
	assert_int_equal(pctl_job_plan_create("j", call, &p), PCTL_OK);
	assert_int_equal(pctl_job_plan_buffer(p, PCTL_PLAN_OUTPUT, 1u << 20, NULL, call, &number),
			 PCTL_OK);
	assert_int_equal(pctl_job_plan_zero(p, number, call), PCTL_OK);
	assert_int_equal(pctl_job_plan_gas(p, schedule, 1, 0, call, &once), PCTL_OK);
	assert_true(once > 0);
	assert_int_equal(pctl_job_plan_gas(p, schedule, 0, 0, call, &gas), PCTL_OK);
	assert_int_equal(gas, 0);
	assert_int_equal(pctl_job_plan_gas(p, schedule, UINT64_MAX / once, 0, call, &gas), PCTL_OK);
	assert_int_equal(gas, UINT64_MAX / once * once);
	assert_int_equal(pctl_job_plan_gas(p, schedule, UINT64_MAX / once + 1, 0, call, &gas),
			 PCTL_E_GAS);
	assert_true(fake_saw(l, PC4136_GAS_OVERFLOW));
	pctl_job_plan_destroy(p);
	pctl_gas_schedule_destroy(schedule);
	pctl_diag_list_destroy(l);
}

PCTL_TESTS_MAIN(PCTL_TEST(good_plans), PCTL_TEST(bad_plans), PCTL_TEST(hostile_plans),
		PCTL_TEST(opens_repeats), PCTL_TEST(measures), PCTL_TEST(no_form),
		PCTL_TEST(floats), PCTL_TEST(gas_overflows))
