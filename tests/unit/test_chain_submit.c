/* Jobs taken in: what is kept, and every refusal with the state root as it was. */
#include "test_chain_submit.h"

#include <sqlite3.h>

static void read_job(rig *g, pctl_chain_job *out)
{
	uint8_t id[PCTL_DIGEST_BYTES];

	assert_int_equal(pctl_job_id_parse(g->job, id), 1);
	assert_int_equal(pctl_jobs_read(pctl_cursor(g->chain), id, &call, out), PCTL_OK);
	pctl_chain_job_clear(out);
}

static void test_chain_submit__a_job_is_queued_and_paid_for(void **state)
{
	rig g = start_default();
	pctl_msg_binding b;
	pctl_request r = job_of(&g, &b);
	pctl_ledger_account a;
	pctl_chain_info info;
	pctl_chain_job job;
	uint64_t first_gas;
	char first[PCTL_JOB_TEXT_SIZE], input[PCTL_JOB_TEXT_SIZE + 4];

	(void)state;
	accepted(&g, &r);
	read_job(&g, &job);
	assert_true(job.position == 1 && job.height == 1 && job.clock == 1 && g.clock == 1);
	assert_true(job.status == PCTL_JOB_PENDING && job.output_bytes == 32);
	assert_string_equal(job.sender, "ann");
	/* 72 bytes of inputs and output in 4 units of 32, 3 of them started by 32+32+32+8 = 104 */
	first_gas = job.gas;
	assert_true(first_gas > 4);
	assert_int_equal(pctl_ledger_account_read(pctl_cursor(g.chain), "ann", &call, &a), PCTL_OK);
	assert_true(a.reserved == 100000 && a.balance == 900000);
	assert_int_equal(pctl_chain_info_read(g.chain, &call, &info), PCTL_OK);
	assert_true(info.last == 0 && info.n_pending == 1 && info.n_inbox == 3);
	/* the same message again is another job; its parents count once and cost 500 each */
	memcpy(first, g.job, sizeof(first));
	snprintf(input, sizeof(input), "job:%s", first);
	r.as.execute.input = input;
	r.as.execute.parent_jobs = (const char *const[]){first};
	r.as.execute.n_parent_jobs = 1;
	accepted(&g, &r);
	assert_string_not_equal(first, g.job);
	read_job(&g, &job);
	assert_true(job.clock == 2 && job.position == 2 && job.gas == first_gas + 500);
	r.as.execute.parent_clock = 2;
	accepted(&g, &r);
	read_job(&g, &job);
	assert_true(job.clock == 3 && job.gas == first_gas + 1000);
	assert_int_equal(pctl_ledger_check(pctl_cursor(g.chain), &call), PCTL_OK);
	stop(&g);
}

#define NONE64 "1111111111111111111111111111111111111111111111111111111111111111"
#define NO_CID "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku" /* of no bytes */

/* Change one member of a good message and expect one refusal. */
#define WRONG(change, code)                               \
	do {                                              \
		pctl_msg_binding slot_;                   \
		pctl_request wrong_ = job_of(&g, &slot_); \
		pctl_msg_execute *m = &wrong_.as.execute; \
		change;                                   \
		(void)m;                                  \
		refused_with(&g, &wrong_, code);          \
	} while (0)

static void test_chain_submit__every_refusal_changes_nothing(void **state)
{
	static const uint8_t large[] = {0xa2, 0x61, 'k', 0x20, 0x61, 'n', 10};
	static const uint8_t wrong[] = {0xa1, 0x61, 'k', 0x20};
	static const pctl_msg_override scale = {"canonical_scale", 1}, none = {"absent", 1};
	static const char *const parents[] = {NONE64};
	char odd[PCTL_CID_TEXT_SIZE], small[PCTL_CID_TEXT_SIZE], above[PCTL_CID_TEXT_SIZE];
	char bad[PCTL_CID_TEXT_SIZE];
	pctl_msg_binding two[2], other;
	rig g = start_default();

	(void)state;
	put(&g, "12345", 5, odd);
	put(&g, "12345678", 8, small);
	put(&g, large, sizeof(large), above);
	put(&g, wrong, sizeof(wrong), bad);
	WRONG(m->shader_cid = NO_CID, PC5804_SHADER_UNKNOWN);
	WRONG(m->dispatch[0] = 9, PC5810_JOB_DISPATCH);
	WRONG(m->dispatch[1] = 2, PC5810_JOB_DISPATCH);
	WRONG(m->entry = "absent", PC2040_SPECIALISE_ENTRY);
	WRONG((m->overrides = &none, m->n_overrides = 1), PC2041_SPECIALISE_OVERRIDE);
	WRONG((m->overrides = &scale, m->n_overrides = 1), PC5820_JOB_SCALE);
	WRONG(m->input = NO_CID, PC5816_JOB_MISSING);
	WRONG(m->input = "job:" NONE64, PC5801_JOB_UNKNOWN);
	WRONG((m->parent_jobs = parents, m->n_parent_jobs = 1), PC5801_JOB_UNKNOWN);
	WRONG((m->after = parents, m->n_after = 1), PC5801_JOB_UNKNOWN);
	WRONG(m->parent_clock = 7, PC5817_JOB_CLOCK);
	WRONG(m->input = odd, PC5812_JOB_SIZE);
	WRONG(slot_.cid = small, PC5812_JOB_SIZE);
	WRONG(m->n_bindings = 0, PC5811_JOB_BINDING);
	WRONG(slot_.binding = 3, PC5811_JOB_BINDING);
	two[0] = (pctl_msg_binding){0, 2, g.input};
	two[1] = (pctl_msg_binding){1, 1, g.input};
	WRONG((m->bindings = two, m->n_bindings = 2), PC5811_JOB_BINDING);
	other = (pctl_msg_binding){0, 2, NO_CID};
	WRONG(m->bindings = &other, PC5816_JOB_MISSING);
	WRONG(m->output_bytes = 4u << 25, PC5818_JOB_GAS);
	WRONG(m->uniform_cid = "", PC5813_JOB_UNIFORM);
	WRONG(m->uniform_cid = NO_CID, PC5816_JOB_MISSING);
	WRONG(m->uniform_cid = above, PC5814_JOB_UNIFORM_MAX);
	WRONG(m->uniform_cid = bad, PC5773_UNIFORM_MISSING);
	WRONG(m->gas_limit = 10, PC5818_JOB_GAS);
	WRONG(m->sender = "zoe", PC5714_LEDGER_ACCOUNT);
	WRONG(m->gas_limit = 1000001, PC5713_LEDGER_FUNDS);
	stop(&g);
}

static void test_chain_submit__parameters_bound_jobs(void **state)
{
	pctl_params p;
	rig g;

	(void)state;
	pctl_params_default(&p);
	p.values[PCTL_PARAM_OUTPUT_BYTES_MAX] = 28;
	g = start(&p);
	WRONG((void)0, PC5815_JOB_OUTPUT);
	stop(&g);
	pctl_params_default(&p);
	p.values[PCTL_PARAM_THROUGHPUT] = 1;
	p.values[PCTL_PARAM_BLOCK_TIME_MS] = 10;
	g = start(&p);
	WRONG((void)0, PC5819_JOB_BUDGET);
	stop(&g);
}

static void test_chain_submit__fixed_outputs_have_their_size(void **state)
{
	static const char text[] =
		"@group(0) @binding(0) var<storage, read> a: array<u32, 2>;\n"
		"@group(1) @binding(0) var<storage, read_write> o: array<u32, 8>;\n"
		"@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: "
		"vec3<u32>) { o[id.x] = a[0] + a[1]; }\n";
	rig g = start_default();
	pctl_request r = upload_of("ann", text);
	pctl_cid cid;

	(void)state;
	accepted(&g, &r);
	assert_int_equal(pctl_cid_of(text, strlen(text), &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, g.shader);
	g.uniform[0] = '\0';
	WRONG((m->n_bindings = 0, m->output_bytes = 28), PC5815_JOB_OUTPUT);
	WRONG((m->n_bindings = 0, m->output_bytes = 36), PC5815_JOB_OUTPUT);
	WRONG((m->n_bindings = 0, m->uniform_cid = g.input), PC5813_JOB_UNIFORM);
	stop(&g);
}

static void test_chain_submit__class_and_cancel(void **state)
{
	static const char text[] =
		"@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
		"@group(1) @binding(0) var<storage, read_write> o: array<f32>;\n"
		"@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: "
		"vec3<u32>) { o[id.x] = a[id.x] * 3.0; }\n";
	rig g = start_default();
	pctl_msg_binding b;
	pctl_request r = job_of(&g, &b), cancel = {.kind = PCTL_MSG_CANCEL};
	pctl_ledger_account a;
	pctl_chain_job job;
	pctl_params p;
	pctl_cid cid;

	(void)state;
	accepted(&g, &r);
	cancel.as.cancel = (pctl_msg_cancel){"bob", g.job};
	refused_with(&g, &cancel, PC5824_JOB_OWNER);
	cancel.as.cancel = (pctl_msg_cancel){"ann", NONE64};
	refused_with(&g, &cancel, PC5801_JOB_UNKNOWN);
	cancel.as.cancel = (pctl_msg_cancel){"ann", g.job};
	accepted(&g, &cancel);
	read_job(&g, &job);
	assert_int_equal(job.status, PCTL_JOB_FAILED);
	assert_string_equal(job.error, "cancelled by its sender");
	assert_true(job.ended == 1 && job.gas_used == 0);
	assert_int_equal(pctl_ledger_account_read(pctl_cursor(g.chain), "ann", &call, &a), PCTL_OK);
	assert_true(a.balance == 1000000 && a.reserved == 0);
	refused_with(&g, &cancel, PC5802_JOB_ENDED);
	r = upload_of("ann", text);
	refused_with(&g, &r, PC5806_JOB_CLASS);
	stop(&g);
	/* where strict floats are allowed it is taken, until they are not */
	pctl_params_default(&p);
	p.values[PCTL_PARAM_CLASS] = PCTL_CLASS_STRICT;
	g = start(&p);
	accepted(&g, &r);
	assert_int_equal(pctl_cid_of(text, strlen(text), &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, g.shader);
	r = job_of(&g, &b);
	r.as.execute.n_bindings = 0;
	r.as.execute.uniform_cid = "";
	accepted(&g, &r);
	assert_int_equal(sqlite3_exec(pctl_chain_db(pctl_cursor(g.chain)),
				      "UPDATE params SET value = 'integer' WHERE name = "
				      "'allowed_class'",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	refused_with(&g, &r, PC5806_JOB_CLASS);
	stop(&g);
}

/* In a batch a refused message undoes itself alone; what trouble ends is gone as a whole. */
static void test_chain_submit__batches(void **state)
{
	rig g = start_default();
	pctl_msg_binding b;
	pctl_request r = job_of(&g, &b), bad = r, query = {.kind = PCTL_MSG_QUERY};
	pctl_chain_info info;

	(void)state;
	bad.as.execute.gas_limit = 1;
	query.as.query.job_id = NONE64;
	refused_with(&g, &query, PC5826_CHAIN_MESSAGE);
	assert_int_equal(pctl_chain_batch_begin(g.chain, &call), PCTL_OK);
	accepted(&g, &r);
	refused_with(&g, &bad, PC5818_JOB_GAS);
	accepted(&g, &r);
	assert_int_equal(pctl_chain_batch_commit(g.chain, &call), PCTL_OK);
	assert_int_equal(pctl_chain_info_read(g.chain, &call, &info), PCTL_OK);
	assert_true(info.n_pending == 2);
	assert_int_equal(pctl_chain_batch_begin(g.chain, &call), PCTL_OK);
	accepted(&g, &r);
	pctl_chain_batch_abort(g.chain);
	forget();
	assert_int_not_equal(pctl_chain_batch_commit(g.chain, &call), PCTL_OK);
	assert_int_equal(refused[0], PC5828_CHAIN_BATCH);
	assert_int_equal(pctl_chain_info_read(g.chain, &call, &info), PCTL_OK);
	assert_true(info.n_pending == 2);
	stop(&g);
}

/* The schedule of the default parameters prices as the file of cybergraph-0.2 does. */
static void test_chain_submit__default_prices_are_those_of_the_file(void **state)
{
	const pctl_kernel_source source = {.name = "s", .text = SHADER, .n_text = strlen(SHADER)};
	const pctl_override_value scale = {.name = "canonical_scale", .bits = 5};
	pctl_kernel_source concrete = source;
	pctl_gas_schedule *file, *made;
	pctl_gas_price a, b;
	const pctl_kernel_module *unit;
	pctl_params p;
	pctl_kernels *k = pctl_kernels_create(NULL);

	(void)state;
	pctl_params_default(&p);
	concrete.overrides = &scale;
	concrete.n_overrides = 1;
	assert_int_equal(pctl_kernels_get(k, &concrete, &call, &unit), PCTL_OK);
	assert_int_equal(pctl_gas_schedule_read(PIPECTL_SOURCE_DIR "/conf/gas/cybergraph-0.2.cfg",
						&call, &file),
			 PCTL_OK);
	for (uint32_t i = 0; i < 2; i++) {
		const pctl_gas_query q = {
			unit->program, unit->analysis, {7, 3, 2}, 0, 0, 99, 100, 8, 3};

		assert_int_equal(pctl_chain_schedule(&p, &call, &made), PCTL_OK);
		assert_int_equal(pctl_gas_price_of(file, &q, &call, &a), PCTL_OK);
		assert_int_equal(pctl_gas_price_of(made, &q, &call, &b), PCTL_OK);
		assert_memory_equal(&a, &b, sizeof(a));
		pctl_gas_schedule_destroy(made);
		if (i > 0)
			continue;
		/* and a weight that differs shows */
		p.values[PCTL_PARAM_WEIGHT_STORAGE_READ]++;
		assert_int_equal(pctl_chain_schedule(&p, &call, &made), PCTL_OK);
		assert_int_equal(pctl_gas_price_of(made, &q, &call, &b), PCTL_OK);
		assert_true(b.dispatch > a.dispatch);
		pctl_gas_schedule_destroy(made);
		p.values[PCTL_PARAM_WEIGHT_STORAGE_READ]--;
	}
	pctl_gas_schedule_destroy(file);
	pctl_kernels_destroy(k);
}

static const pctl_kernel_module *unit_of(rig *g, const pctl_request *r, const pctl_params *p)
{
	const pctl_kernel_module *unit = NULL;

	assert_int_equal(pctl_chain_unit(g->chain, &r->as.execute, p, &call, &unit), PCTL_OK);
	assert_non_null(unit->program);
	return unit;
}

/* What was found for one message is found for the next that names the same, under the same parameters, while the kernels are there. */
static void test_chain_submit__a_kernel_is_found_by_names(void **state)
{
	rig g = start_default();
	pctl_msg_binding b;
	pctl_request r = job_of(&g, &b);
	const pctl_kernel_module *first, *other;
	pctl_params p, scaled;
	const uint32_t x = r.as.execute.dispatch[0];
	static const pctl_msg_override three = {"add", 3}, four = {"add", 4};

	(void)state;
	pctl_params_default(&p);
	scaled = p;
	scaled.values[PCTL_PARAM_SCALE] = 7;
	first = unit_of(&g, &r, &p);
	assert_ptr_equal(unit_of(&g, &r, &p), first);
	r.as.execute.dispatch[0] = x + 1;
	other = unit_of(&g, &r, &p);
	assert_ptr_not_equal(other, first);
	r.as.execute.dispatch[0] = x;
	assert_ptr_equal(unit_of(&g, &r, &p), first);
	r.as.execute.overrides = &three;
	r.as.execute.n_overrides = 1;
	other = unit_of(&g, &r, &p);
	assert_ptr_not_equal(other, first);
	r.as.execute.overrides = &four;
	assert_ptr_not_equal(unit_of(&g, &r, &p), other);
	r.as.execute.n_overrides = 0;
	other = unit_of(&g, &r, &scaled);
	assert_ptr_not_equal(other, first);
	assert_ptr_equal(unit_of(&g, &r, &p), first);
	assert_int_equal(pctl_kernels_forget(g.kernels, &call), PCTL_OK);
	assert_int_equal(pctl_kernels_kept(g.kernels), 0);
	(void)unit_of(&g, &r, &p);
	assert_int_not_equal(pctl_kernels_kept(g.kernels), 0);
	stop(&g);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_submit__a_kernel_is_found_by_names),
		PCTL_TEST(test_chain_submit__a_job_is_queued_and_paid_for),
		PCTL_TEST(test_chain_submit__every_refusal_changes_nothing),
		PCTL_TEST(test_chain_submit__parameters_bound_jobs),
		PCTL_TEST(test_chain_submit__fixed_outputs_have_their_size),
		PCTL_TEST(test_chain_submit__class_and_cancel),
		PCTL_TEST(test_chain_submit__batches),
		PCTL_TEST(test_chain_submit__default_prices_are_those_of_the_file))
