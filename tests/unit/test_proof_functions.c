/* Units of function ops: what is listed, that all of it holds on the reference, that digests are the same everywhere,
 * and that a device which is wrong, flaky, or unable is told of as such. */
#include "test_proof_rig.h"

#include "planted/planted.h"
#include "evidence/proof/domain.h"

/* ---- devices that fail ------------------------------------------------------------------------ */

enum { RIGHT, WRONG_FROM_1000, FLAKY, UNABLE, WRONG_AT };

#define WRITES 64u

/* The `cpu` backend, but for answers on their way to the host: the first read after a submit is of the result. What went to
 * the place that its dispatch binds first are the first operand's bytes. */
static const pctl_backend *good;
static struct {
	uint32_t how, dispatched, reads, at, n, n_lists;
	pctl_binding first;
	struct {
		pctl_list *list;
		pctl_binding first;
	} lists[WRITES];
	struct {
		pctl_buffer *buffer;
		uint64_t offset;
		uint32_t *words;
	} written[WRITES];
} device;

static pctl_status spy_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
			     uint64_t offset, const void *data, uint64_t n)
{
	const uint32_t k = device.n++ % WRITES;

	device.written[k].buffer = buf;
	device.written[k].offset = offset;
	free(device.written[k].words);
	device.written[k].words = malloc(n + 4);
	memcpy(device.written[k].words, data, n);
	return good->buffer_write(dev, call, buf, offset, data, n);
}

static pctl_status spy_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				const pctl_binding *bindings, uint32_t n, const uint32_t groups[3])
{
	device.lists[device.n_lists % WRITES].list = l;
	device.lists[device.n_lists++ % WRITES].first = bindings[0];
	return good->list_dispatch(l, call, k, bindings, n, groups);
}

static pctl_status spy_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			      uint64_t *ticket)
{
	for (uint32_t i = WRITES; i > 0; i--) {
		const uint32_t k = (device.n_lists + i - 1) % WRITES;

		if (device.lists[k].list == l) {
			device.first = device.lists[k].first;
			device.dispatched = 1;
			break;
		}
	}
	return good->submit(dev, call, l, times, ticket);
}

/* The last that was written there. */
static const uint32_t *operand(void)
{
	for (uint32_t i = 1; i <= WRITES; i++) {
		const uint32_t k = (device.n - i) % WRITES;

		if (device.written[k].buffer == device.first.buffer &&
		    device.written[k].offset == device.first.offset)
			return device.written[k].words;
	}
	fail_msg("no operand was written");
	return NULL;
}

static pctl_status spy_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
			    uint64_t offset, void *data, uint64_t n)
{
	pctl_status status = good->buffer_read(dev, call, buf, offset, data, n);
	uint32_t *words = data;
	const uint32_t *a;

	if (!device.dispatched)
		return status;
	a = operand();
	device.dispatched = 0;
	device.reads++;
	for (uint64_t i = 0; i < n / 4; i++)
		words[i] ^= (device.how == WRONG_FROM_1000 && a[i] >= 1000) ||
			    (device.how == WRONG_AT && a[i] == device.at);
	if (device.how == FLAKY && device.reads % 2 == 0)
		words[0] ^= 0x80000000u;
	return status;
}

static pctl_status spy_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				uint64_t n, pctl_support *out)
{
	pctl_status status = good->supports(dev, call, wire, n, out);

	if (device.how == UNABLE)
		out->supported = 0;
	return status;
}

static void spy_forget(void)
{
	for (uint32_t i = 0; i < WRITES; i++)
		free(device.written[i].words);
	memset(&device, 0, sizeof(device));
}

static pctl_session *spy_open(proof_rig *r, uint32_t how)
{
	static pctl_backend table;
	pctl_session_options o = {.device_kind = PCTL_DEVICE_REFERENCE, .name = "spy", .id = "spy"};
	pctl_session *s;

	good = proof_cpu.table;
	table = *good;
	table.buffer_write = spy_write;
	table.buffer_read = spy_read;
	table.list_dispatch = spy_dispatch;
	table.submit = spy_submit;
	table.supports = spy_supports;
	spy_forget();
	device.how = how;
	o.table = &table;
	o.inst = proof_cpu.inst;
	assert_int_equal(pctl_session_open(&o, r->call, &s), PCTL_OK);
	return s;
}

static pctl_status again_open(pctl_proof_context *b, const pctl_call *call, pctl_session **out)
{
	(void)call;
	*out = spy_open(b->ctx, device.how);
	return PCTL_OK;
}

static void again_close(pctl_proof_context *b, pctl_session *s)
{
	(void)b;
	pctl_session_close(s);
}

/* ---- lists ------------------------------------------------------------------------------------ */

static pctl_units *units_of(proof_rig *r, const char *ops, uint32_t track, uint32_t level)
{
	const pctl_selection s = {ops, track, level};
	pctl_units *list;

	assert_int_equal(pctl_units_create(r->call, &list), PCTL_OK);
	if (pctl_function_units(&r->context, &s, r->call, list) != PCTL_OK)
		fail_msg("%s", proof_last(r)->message);
	return list;
}

static const pctl_unit *unit(const pctl_units *l, const char *subject, uint32_t kind,
			     const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->units[i].kind == kind && strcmp(l->units[i].subject, subject) == 0 &&
		    strcmp(l->units[i].name, name) == 0)
			return &l->units[i];
	return NULL;
}

static pctl_block run(proof_rig *r, const pctl_unit *u, uint64_t block)
{
	pctl_block out;

	if (u == NULL)
		fail_msg("there is no such unit");
	assert_int_equal(pctl_shapes_block(&r->context.shapes, u->first_block + block, r->call),
			 PCTL_OK);
	if (u->run(u, &r->context, block, r->call, &out) != PCTL_OK)
		fail_msg("%s, %s: %s", u->subject, u->name, proof_last(r)->message);
	return out;
}

static void lists(void **state)
{
	pctl_units *l, *again;
	proof_rig r;

	(void)state;
	proof_open(&r);
	r.context.open_again = again_open;
	r.context.close_again = again_close;
	l = units_of(&r, "int.add,int.n*", PCTL_TRACK_INTEGER, 2);
	again = units_of(&r, "int.add,int.n*", PCTL_TRACK_INTEGER, 2);
	assert_int_equal(l->n, again->n);
	for (uint32_t i = 0; i < l->n; i++) {
		const pctl_unit *u = &l->units[i];

		assert_true(u->n_blocks > 0 && u->track == PCTL_TRACK_INTEGER && u->level <= 2);
		assert_string_equal(u->subject, again->units[i].subject);
		assert_string_equal(u->name, again->units[i].name);
		assert_string_equal(u->domain, again->units[i].domain);
		assert_string_equal(u->program, again->units[i].program);
		assert_null(strpbrk(u->subject, "\t\n"));
		for (uint32_t k = 0; k < i; k++)
			assert_false(l->units[k].kind == u->kind &&
				     strcmp(l->units[k].subject, u->subject) == 0 &&
				     strcmp(l->units[k].name, u->name) == 0);
	}
	assert_non_null(unit(l, "int.add@1 u128", PCTL_UNIT_PARITY, "random"));
	assert_non_null(unit(l, "int.add@1 u32", PCTL_UNIT_LAW, "associative, 8 bits"));
	assert_non_null(unit(l, "int.neg@1 i32", PCTL_UNIT_DETERMINISM, "another session"));
	assert_null(unit(l, "int.sub@1 u32", PCTL_UNIT_PARITY, "random"));
	pctl_units_destroy(again);
	pctl_units_destroy(l);
	l = units_of(&r, "int.add", PCTL_TRACK_INTEGER, 1);
	assert_null(unit(l, "int.add@1 u32", PCTL_UNIT_LAW, "associative, 8 bits"));
	pctl_units_destroy(l);
	l = units_of(&r, NULL, PCTL_TRACK_APPROXIMATE, 1);
	assert_int_equal(l->n, 0);
	pctl_units_destroy(l);
	l = units_of(&r, "int.*", PCTL_TRACK_FLOAT, 1);
	assert_int_equal(l->n, 0);
	pctl_units_destroy(l);
	r.context.flags = PCTL_PROOF_PAIRS;
	l = units_of(&r, "ieee.neg,ieee.add", PCTL_TRACK_FLOAT, 1);
	assert_int_equal(unit(l, "ieee.neg@1 bf16", PCTL_UNIT_PARITY, "16 bits")->n_cases, 65536);
	assert_int_equal(unit(l, "ieee.add@1 f16", PCTL_UNIT_PARITY, "16 bits pairs")->n_cases,
			 UINT64_C(1) << 32);
	assert_null(unit(l, "ieee.neg@1 f16", PCTL_UNIT_PARITY, "16 bits pairs"));
	pctl_units_destroy(l);
	proof_close(&r);
}

/* First and last block of every unit hold, and give the digest they gave before, also where kernels are new. */
static void holds(proof_rig *r, proof_rig *other, const char *ops, uint32_t track)
{
	pctl_units *l = units_of(r, ops, track, 2), *m = units_of(other, ops, track, 2);

	assert_true(l->n > 10);
	for (uint32_t i = 0; i < l->n; i++) {
		const pctl_unit *u = &l->units[i];

		for (uint64_t k = 0; k<u->n_blocks; k += u->n_blocks> 1 ? u->n_blocks - 1 : 1) {
			const pctl_block one = run(r, u, k), two = run(other, &m->units[i], k);

			if (one.failures != 0 || one.cases == 0)
				fail_msg("%s, %s: %s gives %s, not %s", u->subject, u->name,
					 one.first.inputs, one.first.got, one.first.want);
			assert_memory_equal(one.digest, two.digest, sizeof(one.digest));
		}
	}
	pctl_units_destroy(m);
	pctl_units_destroy(l);
}

static void reference_holds(void **state)
{
	proof_rig r, other;

	(void)state;
	proof_open(&r);
	proof_open(&other);
	r.context.cases = other.context.cases = 3000;
	other.context.shapes.seed = 77; /* other shapes, the same digests */
	holds(&r, &other, "int.add,int.not", PCTL_TRACK_INTEGER);
	holds(&r, &other, "ieee.abs,ieee.to_i32", PCTL_TRACK_FLOAT);
	/* Another seed, other numbers. */
	other.context.seed = 2;
	{
		pctl_units *l = units_of(&r, "int.add", PCTL_TRACK_INTEGER, 1);
		pctl_units *m = units_of(&other, "int.add", PCTL_TRACK_INTEGER, 1);
		const char *subject = "int.add@1 u32";
		const pctl_block a = run(&r, unit(l, subject, PCTL_UNIT_PARITY, "random"), 0);
		const pctl_block b = run(&other, unit(m, subject, PCTL_UNIT_PARITY, "random"), 0);

		assert_memory_not_equal(a.digest, b.digest, sizeof(a.digest));
		pctl_units_destroy(l);
		pctl_units_destroy(m);
	}
	proof_close(&other);
	proof_close(&r);
}

/* ---- devices ---------------------------------------------------------------------------------- */

static void wrong_device(void **state)
{
	pctl_units *l;
	pctl_block b;
	proof_rig r;

	(void)state;
	proof_open(&r);
	r.context.device = spy_open(&r, WRONG_FROM_1000);
	l = units_of(&r, "int.add", PCTL_TRACK_INTEGER, 2);
	b = run(&r, unit(l, "int.add@1 u32", PCTL_UNIT_PARITY, "random"), 0);
	assert_int_equal(b.failures, b.cases);
	assert_string_equal(b.first.inputs, "0x000003e8 0x00000000");
	assert_string_equal(b.first.got, "0x000003e9");
	assert_string_equal(b.first.want, "0x000003e8");
	assert_string_equal(b.first.law, "parity");
	assert_int_equal(b.first.minimal, 1);
	planted("wrong from operand 1000 on", "int.add@1 u32", "parity: random",
		planted_case(b.first.inputs, b.first.got, b.first.want));
	b = run(&r, unit(l, "int.add@1 u32", PCTL_UNIT_PARITY, "8 bits"), 0);
	assert_true(b.failures == 0 && b.cases == 65536);
	b = run(&r, unit(l, "int.add@1 u32", PCTL_UNIT_LAW, "commutative, chosen values"), 0);
	assert_true(b.failures != 0);
	assert_string_equal(b.first.law, "add(a, b) = add(b, a)");
	assert_true(strcmp(b.first.inputs, "0x000003e8 0x00000000") == 0 ||
		    strcmp(b.first.inputs, "0x00000000 0x000003e8") == 0);
	assert_string_not_equal(b.first.got, b.first.want);
	pctl_units_destroy(l);
	pctl_session_close(r.context.device);
	proof_close(&r);
}

/* Wrong at one value alone: of all of parity, only the unit of the op's own examples asks for it, or it and others. */
static void wrong_at(const char *op, const char *subject, const char *fault, uint32_t at, int only)
{
	static const char *const others[] = {"8 bits", "chosen values", "random"};
	char text[64];
	pctl_units *l;
	pctl_block b;
	proof_rig r;

	proof_open(&r);
	r.context.device = spy_open(&r, WRONG_AT);
	device.at = at;
	l = units_of(&r, op, PCTL_TRACK_INTEGER, 1);
	b = run(&r, unit(l, subject, PCTL_UNIT_PARITY, "examples"), 0);
	assert_true(b.failures != 0);
	snprintf(text, sizeof(text), "0x%08x", at);
	assert_memory_equal(b.first.inputs, text, strlen(text));
	assert_string_not_equal(b.first.got, b.first.want);
	planted(fault, subject, "parity: examples",
		planted_case(b.first.inputs, b.first.got, b.first.want));
	for (uint32_t i = 0; only && i < 3; i++) {
		const pctl_unit *u = unit(l, subject, PCTL_UNIT_PARITY, others[i]);

		assert_non_null(u);
		for (uint64_t k = 0; k < u->n_blocks; k++)
			assert_int_equal(run(&r, u, k).failures, 0);
	}
	pctl_units_destroy(l);
	pctl_session_close(r.context.device);
	proof_close(&r);
}

static void wrong_at_examples(void **state)
{
	(void)state;
	wrong_at("int.and", "int.and@1 u32", "wrong at one class alone", 0xdeadbeef, 1);
	wrong_at("int.popcount", "int.popcount@1 u32", "wrong at one boundary", 0x7fffffff, 0);
}

static void flaky_device(void **state)
{
	static const char *const names[] = {"repeated", "shuffled", "another session"};
	pctl_units *l;
	proof_rig r;

	(void)state;
	proof_open(&r);
	r.context.open_again = again_open;
	r.context.close_again = again_close;
	r.context.ctx = &r;
	for (uint32_t how = RIGHT; how <= FLAKY; how += FLAKY) {
		r.context.device = spy_open(&r, how);
		l = units_of(&r, "int.not", PCTL_TRACK_INTEGER, 2);
		for (uint32_t i = 0; i < 3; i++) {
			char caught_by[64];
			pctl_block b;

			device.reads = 0;
			b = run(&r, unit(l, "int.not@1 u32", PCTL_UNIT_DETERMINISM, names[i]), 0);
			/* A session that is opened anew counts from the beginning. */
			if (i == 2 && how == FLAKY && b.failures == 0)
				b = run(&r,
					unit(l, "int.not@1 u32", PCTL_UNIT_DETERMINISM, names[i]),
					0);
			assert_int_equal(b.failures != 0, how == FLAKY);
			if (how != FLAKY)
				continue;
			assert_non_null(strstr(b.first.law, names[i]));
			snprintf(caught_by, sizeof(caught_by), "determinism: %s", names[i]);
			planted("every second answer has a bit turned", "int.not@1 u32", caught_by,
				planted_case(b.first.inputs, b.first.got, b.first.want));
		}
		pctl_units_destroy(l);
		pctl_session_close(r.context.device);
	}
	proof_close(&r);
}

static void unable_device(void **state)
{
	const pctl_unit *u;
	pctl_units *l;
	pctl_block b;
	proof_rig r;

	(void)state;
	proof_open(&r);
	r.context.device = spy_open(&r, UNABLE);
	l = units_of(&r, "int.not", PCTL_TRACK_INTEGER, 1);
	u = unit(l, "int.not@1 u32", PCTL_UNIT_PARITY, "random");
	assert_int_equal(u->run(u, &r.context, 0, r.call, &b), PCTL_E_UNSUPPORTED);
	assert_int_equal(b.cases, 0);
	pctl_units_destroy(l);
	pctl_session_close(r.context.device);
	proof_close(&r);
}

/* ---- rules ------------------------------------------------------------------------------------ */

static const pctl_law prose_laws[] = {
	{.law = PCTL_LAW_COMMUTATIVE},
	{.law = PCTL_LAW_CUSTOM, .custom = "add(a, b) is fine"},
	{.law = PCTL_LAW_CUSTOM, .custom = "add(1, 2) = 3"},
};
static const pctl_op_rules prose_rules = {
	.head = PCTL_HEAD(pctl_op_rules), .laws = prose_laws, .n_laws = 3};
static pctl_oplib prose_lib;

static const pctl_op_rules *prose(pctl_instance *inst, uint32_t op)
{
	(void)inst;
	(void)op;
	return &prose_rules;
}

static void prose_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	proof_at(ctx, i, out);
	prose_lib = *out->lib;
	prose_lib.rules = prose;
	out->lib = &prose_lib;
}

/* PC5305, after PC5301 with the reason; the other laws are checked. */
static void unchecked_laws(void **state)
{
	const pctl_op_source source = {NULL, proof_count, prose_at};
	const char *subject = "int.add@1 u32";
	const pctl_unit *u;
	pctl_units *l;
	pctl_block b;
	proof_rig r;
	uint32_t n;

	(void)state;
	proof_open(&r);
	r.context.ops = &source;
	l = units_of(&r, "int.add", PCTL_TRACK_INTEGER, 2);
	assert_int_equal(pctl_diag_list_count(r.l), 0);
	u = unit(l, subject, PCTL_UNIT_LAW, "laws that cannot be checked");
	assert_non_null(u);
	assert_int_equal(u->run(u, &r.context, 0, r.call, &b), PCTL_E_INVALID);
	n = pctl_diag_list_count(r.l);
	assert_int_equal(pctl_diag_list_at(r.l, n - 1)->code, PC5305_LAW_UNCHECKED);
	assert_int_equal(pctl_diag_list_at(r.l, n - 2)->code, PC5301_LAW_PROSE);
	planted("a law in prose", u->subject, "PC5305, after PC5301",
		pctl_diag_list_at(r.l, n - 2)->message);
	b = run(&r, unit(l, subject, PCTL_UNIT_LAW, "commutative, random"), 0);
	assert_true(b.cases == r.context.cases && b.failures == 0);
	/* A law without operands has one case. */
	b = run(&r, unit(l, subject, PCTL_UNIT_LAW, "custom 2, examples"), 0);
	assert_true(b.cases == 1 && b.failures == 0);
	assert_null(unit(l, subject, PCTL_UNIT_LAW, "custom 2, random"));
	pctl_units_destroy(l);
	proof_close(&r);
}

static void regressions(void **state)
{
	static const char *const lines[] = {
		"int.add@1 u32\tparity\t0x00000001 0xffffffff",
		"int.add@1 u32\tparity\t0x00000001", /* of another number of operands */
		"int.add@1 u64\tparity\t0x0000000000000001 0x0000000000000002",
		"not a line",
		"int.add@1 u32\tadd(a, b) = add(b, a)\t0x00000005 0x00000003",
		"int.add@1 u32\tparity\t0x000003e8 0x00000007",
	};
	pctl_units *l;
	pctl_block b;
	proof_rig r;

	(void)state;
	proof_open(&r);
	r.context.device = spy_open(&r, WRONG_FROM_1000);
	r.context.regressions = lines;
	r.context.n_regressions = 6;
	l = units_of(&r, "int.add", PCTL_TRACK_INTEGER, 2);
	b = run(&r, unit(l, "int.add@1 u32", PCTL_UNIT_REGRESSION, "parity, kept"), 0);
	assert_true(b.cases == 2 && b.failures == 1);
	assert_string_equal(b.first.inputs, "0x000003e8 0x00000000");
	planted("a kept counterexample fails again", "int.add@1 u32", "regression: parity, kept",
		planted_case(b.first.inputs, b.first.got, b.first.want));
	b = run(&r, unit(l, "int.add@1 u64", PCTL_UNIT_REGRESSION, "parity, kept"), 0);
	assert_int_equal(b.cases, 1);
	b = run(&r, unit(l, "int.add@1 u32", PCTL_UNIT_REGRESSION, "commutative, kept"), 0);
	assert_true(b.cases == 1 && b.failures == 0);
	assert_null(unit(l, "int.add@1 i32", PCTL_UNIT_REGRESSION, "parity, kept"));
	pctl_units_destroy(l);
	pctl_session_close(r.context.device);
	proof_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(lists), PCTL_TEST(reference_holds), PCTL_TEST(wrong_device),
		PCTL_TEST(wrong_at_examples), PCTL_TEST(flaky_device), PCTL_TEST(unable_device),
		PCTL_TEST(unchecked_laws), PCTL_TEST(regressions))
