/* What a job has of a device's memory: a part of test_exec_job.c, whose fake backend it uses. */
/* A chain through temporaries that are alive two at a time: one buffer holds them, in all shapes and rounds, and a barrier stands between any
 * two commands that meet in it. Whoever looks at steps finds each in a buffer of its own. */
static void temporaries_share(void **state)
{
	static const uint64_t out_bytes[1] = {N * 4};
	enum { TEMPS = 6 };

	(void)state;
	for (uint64_t key = 0; key < 9; key++) {
		pctl_shape shape = {.before = 256, .behind = 64, .key = key};
		pctl_job_run run = {.repeat = 2, .out_bytes = out_bytes};
		pctl_data_source *source;
		pctl_value *in, *out;
		const uint8_t *held;
		struct bench b;
		pctl_job_plan *p;
		uint32_t word;

		reset();
		assert_int_equal(bench_open(&b), PCTL_OK);
		p = plan_of(&b, 1, 1, TEMPS);
		for (uint32_t i = 0; i <= TEMPS; i++)
			dispatch(&b, p, i == 0 ? 0 : i + 1, i == TEMPS ? 1 : i + 2);
		assert_int_equal(pctl_job_plan_place(p, b.call), PCTL_OK);
		run.plan = p;
		run.shape = key == 0 ? NULL : &shape;
		run.poison = key == 8;
		feed(&b, 1, &source, &in);
		made_bytes = 0;
		assert_int_equal(pctl_job_execute(b.s, &run, &in, b.call, &out, NULL), PCTL_OK);
		assert_int_equal(pctl_value_hold(out, b.call, &held), PCTL_OK);
		for (uint32_t i = 0; i < N; i++) {
			memcpy(&word, held + 4 * i, 4);
			assert_int_equal(word, i + TEMPS + 1);
		}
		if (key == 0) {
			assert_non_null(strstr(log_.trace, "dbdbdbdbdbdbd"));
			assert_true(p->pool_bytes < TEMPS * 4 * N);
			assert_int_equal(made_bytes, 8 * N + p->pool_bytes);
		}
		if (key == 8) /* poisoned: each has its own */
			assert_true(made_bytes >= (2 + TEMPS) * 4 * N);
		drop(1, NULL, &out);
		drop(1, &source, &in);
		pctl_job_plan_destroy(p);
		bench_close(&b);
	}
}

/* A constant goes up once for all jobs of a session, in whatever shape they come, and is what kernels read. */
static void constants_are_shared(void **state)
{
	static const uint64_t out_bytes[1] = {N * 4};
	uint32_t words[N], number, word;
	struct bench b;
	pctl_job_plan *p;
	pctl_cid cid;

	(void)state;
	reset();
	assert_int_equal(bench_open(&b), PCTL_OK);
	for (uint32_t i = 0; i < N; i++)
		words[i] = 7 * i;
	assert_int_equal(pctl_cid_of(words, sizeof(words), b.call, &cid), PCTL_OK);
	p = plan_of(&b, 0, 1, 0);
	assert_int_equal(
		pctl_job_plan_buffer(p, PCTL_PLAN_CONSTANT, sizeof(words), words, b.call, &number),
		PCTL_OK);
	p->buffers[number].cid = &cid;
	dispatch(&b, p, number, 0);
	for (uint64_t round = 0; round < 4; round++) {
		pctl_shape shape = {.before = 256, .behind = 64, .key = round, .thorough = 1};
		pctl_job_run run = {.plan = p,
				    .repeat = 1,
				    .out_bytes = out_bytes,
				    .held = 1,
				    .shape = round % 2 ? &shape : NULL};
		const uint8_t *held;
		pctl_value *out;

		made_bytes = 0;
		assert_int_equal(pctl_job_execute(b.s, &run, NULL, b.call, &out, NULL), PCTL_OK);
		assert_int_equal(made_bytes,
				 4 * N + (round == 0 ? sizeof(words) : 0) + (round % 2 ? 320 : 0));
		assert_int_equal(pctl_value_hold(out, b.call, &held), PCTL_OK);
		for (uint32_t i = 0; i < N; i++) {
			memcpy(&word, held + 4 * i, 4);
			assert_int_equal(word, 7 * i + 1);
		}
		drop(1, NULL, &out);
	}
	pctl_job_plan_destroy(p);
	bench_close(&b);
}
