/* Evaluators: the device's against arithmetic written here, sizes between the recorded lists, what a device that does
 * nothing shows, the identity of kernels. */
#include "test_proof_rig.h"

#include <time.h>

#include "evidence/proof/domain.h"

static void finds(void **state)
{
	pctl_op_function f, g;
	char name[PCTL_FUNCTION_NAME];
	proof_rig r;

	(void)state;
	proof_open(&r);
	f = proof_function("int.add@1", PCTL_DTYPE_U128);
	assert_string_equal(pctl_function_name(&f, name), "int.add@1 u128");
	assert_true(f.n_in == 2 && f.out_dtype == PCTL_DTYPE_U128);
	assert_true(pctl_function_find(&proof_source, "lt", "int.add", PCTL_SCALAR_U64, &g));
	assert_int_equal(g.out_dtype, PCTL_SCALAR_U32);
	assert_true(pctl_function_find(&proof_source, "int.add", "ieee.add", PCTL_SCALAR_U32, &g));
	assert_false(pctl_function_find(&proof_source, "int.add@2", NULL, PCTL_SCALAR_U32, &g));
	assert_false(pctl_function_find(&proof_source, "int.add", NULL, PCTL_SCALAR_F32, &g));
	assert_false(pctl_function_find(&proof_source, "add", NULL, PCTL_SCALAR_U32, &g));
	assert_false(pctl_function_find(&proof_source, "int.nothing", NULL, PCTL_SCALAR_U32, &g));
	assert_false(pctl_function_find(&proof_source, "int.add@x", NULL, PCTL_SCALAR_U32, &g));
	assert_false(
		pctl_function_find(&proof_source, "ieee.reduce_tree", NULL, PCTL_SCALAR_F32, &g));
	assert_int_equal(pctl_diag_list_count(r.l), 0);
	proof_close(&r);
}

/* a - b in every type against two's complement written out, at sizes around those of the lists. */
static void subtracts(void **state)
{
	static const uint64_t sizes[] = {1, 2, 255, 256, 257, 4095, 4097, 32769, PCTL_PROOF_BLOCK};
	static const uint32_t dtypes[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32, PCTL_SCALAR_U64,
					  PCTL_DTYPE_U128};
	pctl_evaluator *e;
	pctl_column c[3];
	proof_rig r;

	(void)state;
	proof_open(&r);
	proof_columns(c, 3, PCTL_PROOF_BLOCK);
	assert_int_equal(pctl_evaluator_device(&r.context, r.session, r.call, &e), PCTL_OK);
	for (uint32_t t = 0; t < 4; t++) {
		const pctl_op_function f = proof_function("int.sub", dtypes[t]);
		const uint64_t bytes = pctl_proof_dtype_bytes(dtypes[t]);

		for (uint32_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			pctl_domain d =
				pctl_domain_make(PCTL_DOMAIN_RANDOM, dtypes[t], 2, s, sizes[s]);

			pctl_domain_fill(&d, 0, sizes[s], c);
			/* The element behind the last is not touched. */
			memset(c[2].data, 0x5a, sizes[s] * bytes + 1);
			assert_int_equal(e->apply(e->ctx, &f, c, sizes[s], &c[2], r.call), PCTL_OK);
			assert_int_equal(c[2].data[sizes[s] * bytes], 0x5a);
			for (uint64_t i = 0; i < sizes[s]; i++) {
				int borrow = 0;

				for (uint64_t k = 0; k < bytes; k++) {
					int v = c[0].data[i * bytes + k] -
						c[1].data[i * bytes + k] - borrow;

					borrow = v < 0;
					assert_int_equal(c[2].data[i * bytes + k], v & 255);
				}
			}
		}
	}
	pctl_evaluator_destroy(e);
	proof_columns_free(c, 3);
	proof_close(&r);
}

/* 16-bit elements, an odd number of them, and an op with an attribute: the reference must agree. */
static void agrees(void **state)
{
	static const struct {
		const char *name;
		uint32_t dtype;
	} ops[] = {{"ieee.add", PCTL_SCALAR_F16},    {"ieee.mul", PCTL_SCALAR_BF16},
		   {"ieee.to_i32", PCTL_SCALAR_F32}, {"ieee.to_f16", PCTL_SCALAR_F32},
		   {"ieee.isnan", PCTL_SCALAR_BF16}, {"ieee.fma", PCTL_SCALAR_F32}};
	pctl_evaluator *e;
	pctl_column c[5];
	proof_rig r;

	(void)state;
	proof_open(&r);
	proof_columns(c, 5, 4096);
	assert_int_equal(pctl_evaluator_device(&r.context, r.session, r.call, &e), PCTL_OK);
	for (uint32_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		const pctl_op_function f = proof_function(ops[i].name, ops[i].dtype);
		pctl_domain d = pctl_domain_make(PCTL_DOMAIN_ADVERSARIAL, f.dtype, f.n_in, 1, 0);
		const uint64_t n = d.n_cases < 4095 ? d.n_cases : 4095;

		pctl_domain_fill(&d, 0, n, c);
		assert_int_equal(e->apply(e->ctx, &f, c, n, &c[3], r.call), PCTL_OK);
		assert_int_equal(r.reference->apply(r.reference->ctx, &f, c, n, &c[4], r.call),
				 PCTL_OK);
		assert_memory_equal(c[3].data, c[4].data, n * pctl_proof_dtype_bytes(f.out_dtype));
		assert_int_equal(c[3].dtype, f.out_dtype);
	}
	pctl_evaluator_destroy(e);
	proof_columns_free(c, 5);
	proof_close(&r);
}

/* ---- a device that does nothing --------------------------------------------------------------- */

static const pctl_backend *good;
static uint32_t lazy;

static pctl_status lazy_submit(pctl_device *dev, const pctl_call *call, pctl_list *l,
			       uint32_t times, uint64_t *ticket)
{
	return good->submit(dev, call, l, lazy ? 0 : times, ticket);
}

/* The right answer of the call before stands in the buffer no more. */
static void sees_nothing_written(void **state)
{
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "lazy", .id = "lazy"};
	uint32_t poisoned = 0;
	pctl_column c[4];
	pctl_backend table;
	pctl_session *s;
	pctl_evaluator *e;
	pctl_op_function f;
	proof_rig r;

	(void)state;
	proof_open(&r);
	f = proof_function("int.eq", PCTL_SCALAR_U32);
	good = proof_cpu.table;
	table = *good;
	table.submit = lazy_submit;
	o.table = &table;
	o.inst = proof_cpu.inst;
	assert_int_equal(pctl_session_open(&o, r.call, &s), PCTL_OK);
	assert_int_equal(pctl_evaluator_device(&r.context, s, r.call, &e), PCTL_OK);
	proof_columns(c, 4, 256);
	memset(c[0].data, 0, 1024);
	memset(c[1].data, 0, 1024);
	for (uint32_t i = 0; i < 8; i++) {
		lazy = i > 1;
		assert_int_equal(e->apply(e->ctx, &f, c, 256, &c[2], r.call), PCTL_OK);
		if (!lazy)
			assert_int_equal(((uint32_t *)(void *)c[2].data)[7], 1);
		else
			assert_int_not_equal(((uint32_t *)(void *)c[2].data)[7], 1);
		/* Of two in a row one is an ordinary job, whose new buffer is zero. */
		poisoned += ((uint32_t *)(void *)c[2].data)[7] > 1;
	}
	assert_int_equal(poisoned, 3);
	lazy = 0;
	proof_columns_free(c, 4);
	pctl_evaluator_destroy(e);
	pctl_session_close(s);
	proof_close(&r);
}

static uint32_t always(void *ctx)
{
	(void)ctx;
	return 1;
}

static pctl_status hanging_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
				uint64_t timeout_ns, pctl_completion *out)
{
	static uint32_t asked;

	(void)timeout_ns;
	if (asked++ % 4 != 3) {
		out->done = 0;
		return PCTL_OK;
	}
	return good->wait(dev, call, ticket, UINT64_MAX, out);
}

static void is_cancelled(void **state)
{
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "slow", .id = "slow"};
	pctl_backend table;
	pctl_column c[3];
	pctl_op_function f;
	pctl_session *s;
	pctl_evaluator *e;
	proof_rig r;

	(void)state;
	proof_open(&r);
	f = proof_function("int.add", PCTL_SCALAR_U32);
	good = proof_cpu.table;
	table = *good;
	table.wait = hanging_wait;
	o.table = &table;
	o.inst = proof_cpu.inst;
	assert_int_equal(pctl_session_open(&o, r.call, &s), PCTL_OK);
	assert_int_equal(pctl_evaluator_device(&r.context, s, r.call, &e), PCTL_OK);
	proof_columns(c, 3, 16);
	memset(c[0].data, 1, 64);
	memset(c[1].data, 1, 64);
	pctl_diag_list_set_cancel(r.l, always, NULL);
	assert_int_equal(e->apply(e->ctx, &f, c, 16, &c[2], r.call), PCTL_E_CANCELLED);
	pctl_diag_list_set_cancel(r.l, NULL, NULL);
	proof_columns_free(c, 3);
	pctl_evaluator_destroy(e);
	pctl_session_close(s);
	proof_close(&r);
}

/* ---- kernels ---------------------------------------------------------------------------------- */

static void names_programs(void **state)
{
	char a[PCTL_CID_TEXT_SIZE], b[PCTL_CID_TEXT_SIZE];
	pctl_op_function add, sub;
	proof_rig r, other;

	(void)state;
	proof_open(&r);
	proof_open(&other);
	add = proof_function("int.add", PCTL_SCALAR_U32);
	sub = proof_function("int.sub", PCTL_SCALAR_U32);
	assert_int_equal(pctl_function_program(&r.context, &add, r.call, a), PCTL_OK);
	assert_int_equal(pctl_function_program(&other.context, &add, r.call, b), PCTL_OK);
	assert_int_equal(strlen(a), PCTL_CID_TEXT_SIZE - 1);
	assert_string_equal(a, b);
	assert_int_equal(pctl_function_program(&r.context, &sub, r.call, b), PCTL_OK);
	assert_string_not_equal(a, b);
	proof_close(&other);
	proof_close(&r);
}

/* PC5304: an op that plans something else than one kernel. */
static pctl_status two_fills(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
			     const pctl_plan_caps *caps, uint32_t flags, const pctl_plan_sink *sink)
{
	(void)inst;
	(void)call;
	(void)q;
	(void)caps;
	(void)flags;
	return sink->fill(sink->ctx, 1, 0, 4, 0);
}

static void refuses_other_plans(void **state)
{
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_op_desc desc;
	pctl_attr_desc attr;
	pctl_oplib lib;
	pctl_op_function f;
	proof_rig r;

	(void)state;
	proof_open(&r);
	f = proof_function("ieee.to_i32", PCTL_SCALAR_F32);
	lib = *f.op.lib;
	lib.plan = two_fills;
	f.op.lib = &lib;
	assert_int_equal(pctl_function_program(&r.context, &f, r.call, cid), PCTL_E_UNSUPPORTED);
	assert_int_equal(proof_last(&r)->code, PC5304_NOT_ONE_KERNEL);
	desc = *f.op.desc;
	attr = desc.attr[0];
	attr.default_text = NULL;
	desc.attr = &attr;
	f.op.desc = &desc;
	assert_int_equal(pctl_function_program(&r.context, &f, r.call, cid), PCTL_E_UNSUPPORTED);
	assert_int_equal(proof_last(&r)->code, PC5304_NOT_ONE_KERNEL);
	proof_close(&r);
}

/* ---- what a case costs ------------------------------------------------------------------------ */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Parity of int.add on u32, taken apart and printed; core/evidence/proof/README.md has numbers. CPU time of the process, which does not depend on
 * who else computes; nothing is expected of it. */
static void costs(void **state)
{
	const uint64_t blocks = 8, n = PCTL_PROOF_BLOCK;
	const pctl_domain d =
		pctl_domain_make(PCTL_DOMAIN_RANDOM, PCTL_SCALAR_U32, 2, 1, blocks * n);
	double spent[5] = {0}, at;
	pctl_op_function f;
	pctl_hasher *hash;
	pctl_evaluator *e;
	pctl_column c[4];
	pctl_cid cid;
	proof_rig r;

	(void)state;
	proof_open(&r);
	proof_columns(c, 4, n);
	f = proof_function("int.add", PCTL_SCALAR_U32);
	assert_int_equal(pctl_evaluator_device(&r.context, r.session, r.call, &e), PCTL_OK);
	assert_int_equal(pctl_hasher_create(r.call, &hash), PCTL_OK);
	pctl_domain_fill(&d, 0, n, c);
	assert_int_equal(e->apply(e->ctx, &f, c, n, &c[2], r.call), PCTL_OK);
	for (uint64_t b = 0; b < blocks; b++) {
		at = seconds();
		pctl_domain_fill(&d, b * n, n, c);
		spent[0] += seconds() - at;
		at = seconds();
		assert_int_equal(e->apply(e->ctx, &f, c, n, &c[2], r.call), PCTL_OK);
		spent[1] += seconds() - at;
		at = seconds();
		assert_int_equal(r.reference->apply(r.reference->ctx, &f, c, n, &c[3], r.call),
				 PCTL_OK);
		spent[2] += seconds() - at;
		at = seconds();
		assert_memory_equal(c[2].data, c[3].data, n * 4);
		spent[3] += seconds() - at;
		at = seconds();
		assert_int_equal(pctl_hasher_update(hash, c[2].data, n * 4), PCTL_OK);
		spent[4] += seconds() - at;
	}
	assert_int_equal(pctl_hasher_finish(hash, &cid), PCTL_OK);
	for (uint32_t i = 0; i < 5; i++)
		spent[i] *= 1e9 / (double)(blocks * n);
	printf("int.add u32 on cpu, CPU ns a case: fill %.2f, apply %.2f, reference %.2f, "
	       "compare %.2f, digest %.2f\n",
	       spent[0], spent[1], spent[2], spent[3], spent[4]);
	pctl_evaluator_destroy(e);
	proof_columns_free(c, 4);
	proof_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(finds), PCTL_TEST(subtracts), PCTL_TEST(agrees),
		PCTL_TEST(sees_nothing_written), PCTL_TEST(is_cancelled), PCTL_TEST(names_programs),
		PCTL_TEST(refuses_other_plans), PCTL_TEST(costs))
