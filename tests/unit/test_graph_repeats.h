/* Plans with repeats and constants, right ones and wrong ones: a part of test_graph_plan.c, whose `kernel` and BAD it uses. */
#define CID_OF_TABLE "bafkreigps6w65w2z4bn7245cwtbkrccxbdcpj5ymqtdewjysbzzkw4z3oi"
static const uint32_t table[4] = {1, 2, 3, 4};

static pctl_status repeat(const pctl_plan_sink *s, uint32_t times, const pctl_plan_pair *pairs,
			  uint32_t n)
{
	const pctl_plan_repeat r = {PCTL_HEAD(pctl_plan_repeat), pairs, n, times};

	return s->repeat(s->ctx, &r);
}

/* A repeat of `times` turns over the kernel from input to output, its pair a and b. */
static pctl_status repeats(const pctl_plan_sink *s, uint32_t times, uint32_t a, uint32_t b)
{
	const pctl_plan_pair pair = {a, b};
	pctl_status status = repeat(s, times, &pair, 1);

	if (status == PCTL_OK)
		status = kernel(s, 0, 0, 0, 1);
	return status == PCTL_OK ? s->repeat_end(s->ctx) : status;
}

BAD(repeats_never, repeats(s, 0, 1, 1))
BAD(repeats_without_end, repeat(s, 3, NULL, 0))
BAD(ends_nothing, s->repeat_end(s->ctx))
BAD(repeats_for_ever, repeats(s, UINT32_MAX, 1, 1))
BAD(exchanges_input, repeats(s, 2, 0, 1))
BAD(exchanges_itself, repeats(s, 2, 1, 1))
BAD(exchanges_nothing, repeats(s, 2, 1, 77))

static pctl_status repeats_many(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, 4 * N, &t);

	(void)call;
	return status == PCTL_OK ? repeats(s, UINT32_MAX, 1, t) : status;
}

static pctl_status exchanges_other_sizes(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;
	pctl_status status = s->temp(s->ctx, 2 * N, &t);

	(void)call;
	return status == PCTL_OK ? repeats(s, 2, 1, t) : status;
}

static pctl_status repeats_within(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_status status = repeat(s, 2, NULL, 0);

	(void)call;
	return status == PCTL_OK ? repeat(s, 2, NULL, 0) : status;
}

static pctl_status asserts_within(const pctl_call *call, const pctl_plan_sink *s)
{
	const pctl_plan_assert a = {PCTL_HEAD(pctl_plan_assert), 1, 4, 0, 0, "no", 0, 0, 0};
	const pctl_status status = repeat(s, 2, NULL, 0);

	(void)call;
	return status == PCTL_OK ? s->assert_equal(s->ctx, &a) : status;
}

/* The same by an op that is opened up within the repeat. */
static uint32_t asserts_nested_depth;
static pctl_status asserts_nested(const pctl_call *call, const pctl_plan_sink *s)
{
	static const pctl_tensor_type types[2] = {{PCTL_SCALAR_U32, 1, {N}},
						  {PCTL_SCALAR_U32, 1, {N}}};
	const pctl_plan_assert a = {PCTL_HEAD(pctl_plan_assert), 1, 4, 0, 0, "no", 0, 0, 0};
	pctl_status status;

	(void)call;
	if (asserts_nested_depth != 0)
		return s->assert_equal(s->ctx, &a);
	asserts_nested_depth = 1;
	status = repeat(s, 2, NULL, 0);
	if (status == PCTL_OK)
		status = s->op(s->ctx, "fake.plan", 1, (const uint32_t[]){0, 1}, types, 2, NULL, 0);
	asserts_nested_depth = 0;
	return status == PCTL_OK ? s->repeat_end(s->ctx) : status;
}

/* The kernel reads parameters of n words from `offset` on, `stride` later with each of `times` turns (0: no repeat). */
static pctl_status strides(const pctl_plan_sink *s, uint32_t from, uint64_t n_bytes,
			   uint32_t stride, uint32_t times)
{
	const pctl_plan_binding b[2] = {{0, 0, from, stride, 0, n_bytes}, {0, 1, 1, 0, 0, 0}};
	const pctl_plan_kernel k = {.head = PCTL_HEAD(pctl_plan_kernel),
				    .name = "k",
				    .wgsl = FAKE_KERNEL,
				    .bindings = b,
				    .n_bindings = 2,
				    .groups = {N / 64, 1, 1}};
	uint32_t words[N] = {0}, number;
	pctl_plan_binding other[2] = {b[0], b[1]};
	pctl_plan_kernel mine = k;
	pctl_status status = s->params(s->ctx, words, sizeof(words), &number);

	if (from == 2)
		other[0].buffer = number;
	mine.bindings = other;
	if (status == PCTL_OK && times != 0)
		status = repeat(s, times, NULL, 0);
	if (status == PCTL_OK)
		status = s->kernel(s->ctx, &mine);
	return status == PCTL_OK && times != 0 ? s->repeat_end(s->ctx) : status;
}

BAD(strides_outside, strides(s, 2, 16, 256, 0))
BAD(strides_past_the_end, strides(s, 2, 16, 256, 5))
BAD(strides_the_whole, strides(s, 2, 0, 256, 2))
BAD(strides_an_input, strides(s, 0, 16, 256, 2))
BAD(constant_differs, s->constant(s->ctx, CID_OF_TABLE, table, 12, &t))
BAD(constant_of_no_name, s->constant(s->ctx, "", table, 16, &t))
BAD(constant_null, s->constant(s->ctx, CID_OF_TABLE, NULL, 16, &t))
BAD(constant_half_word, s->constant(s->ctx, CID_OF_TABLE, table, 6, &t))

static pctl_status writes_constant(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;
	const pctl_status status = s->constant(s->ctx, CID_OF_TABLE, table, 16, &t);

	(void)call;
	return status == PCTL_OK ? kernel(s, 0, 0, 0, t) : status;
}

static pctl_status fills_constant(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t;
	const pctl_status status = s->constant(s->ctx, CID_OF_TABLE, table, 16, &t);

	(void)call;
	return status == PCTL_OK ? s->fill(s->ctx, t, 0, 4, 0) : status;
}

/* Five turns between the output and a temporary, parameters that move on, and a constant twice, which is one buffer. */
static pctl_status repeats_well(const pctl_call *call, const pctl_plan_sink *s)
{
	uint32_t t, first, second;
	pctl_status status = s->temp(s->ctx, 4 * N, &t);

	(void)call;
	if (status == PCTL_OK)
		status = s->constant(s->ctx, CID_OF_TABLE, table, 16, &first);
	if (status == PCTL_OK)
		status = s->constant(s->ctx, CID_OF_TABLE, table, 16, &second);
	if (status == PCTL_OK)
		status = kernel(s, first, 0, 0, 1);
	if (status == PCTL_OK)
		status = kernel(s, second, 0, 0, t);
	if (status == PCTL_OK)
		status = repeat(s, 5, (const pctl_plan_pair[]){{1, t}}, 1);
	if (status == PCTL_OK)
		status = kernel(s, 1, 0, 0, t);
	return status == PCTL_OK ? s->repeat_end(s->ctx) : status;
}

/* What is opened up of a repeat: the steps of each turn, buffers exchanged in every second one. */
static void opens_repeats(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_kernels *k = pctl_kernels_create(&fake_source);
	pctl_planner planner = {.ops = &fake_source, .kernels = k};
	const pctl_tensor_type in = {PCTL_SCALAR_U32, 1, {N}};
	pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .in = &in, .n_in = 1};
	pctl_job_plan *p;
	pctl_op_ref ref;

	(void)state;
	fake_plan_with = repeats_well;
	fake_at(NULL, FAKE_PLAN, &ref);
	assert_int_equal(
		pctl_job_plan_op(&planner, "j", &ref, &q, &in, 0, pctl_diag_list_call(l), &p),
		PCTL_OK);
	/* x, y, a temporary, one constant */
	assert_int_equal(p->n_buffers, 4);
	assert_int_equal(p->buffers[3].kind, PCTL_PLAN_CONSTANT);
	assert_int_equal(p->n_steps, 7);
	for (uint32_t i = 0; i < 5; i++) {
		const pctl_step *step = &p->steps[2 + i];

		assert_int_equal(step->bindings[0].buffer, i % 2 == 0 ? 1 : 2);
		assert_int_equal(step->bindings[1].buffer, i % 2 == 0 ? 2 : 1);
	}
	pctl_job_plan_destroy(p);
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
}
