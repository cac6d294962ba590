/* The interface of the `cpu` and `null` plugins: wrong arguments get their code and nothing else,
 * transfers, fills, copies and indirect dispatch do what they say, waiting and cancelling end. */
#include "harness.h"
#include "main.h"

#include <stdlib.h>

#define STORE_USAGE (PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER)

static pctl_buffer *buffer(rig *r, uint64_t n_bytes, uint32_t usage)
{
	pctl_buffer *b;

	assert_int_equal(r->api->buffer_create(r->dev, &r->call, n_bytes, usage, &b), PCTL_OK);
	return b;
}

#define REFUSED(r, expression, code)                       \
	do {                                               \
		(r)->last_code = 0;                        \
		assert_int_not_equal(expression, PCTL_OK); \
		assert_int_equal((r)->last_code, code);    \
	} while (0)

/* data[gid] += 1, with a uniform that nobody reads out of place; an endless loop when asked. */
static pctl_kernel *kernel(rig *r, int endless)
{
	uint32_t data, uniform, gid, v;
	pctl_kernel *k = NULL;
	uint64_t n_wire;
	uint8_t *wire;
	prog p;

	prog_begin(&p);
	data = prog_storage(&p, "data", pctl_build_array(p.b, p.u32, 0, 0), 1);
	uniform = prog_uniform(&p, "step", p.u32);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	if (endless) {
		prog_op(&p, PCTL_OP_LOOP, 0, 0);
		prog_op(&p, PCTL_OP_LOOP_TEST, 0, 1, pctl_build_const(p.b, p.boolean, 1));
		prog_op(&p, PCTL_OP_CONTINUING, 0, 0);
		prog_op(&p, PCTL_OP_END_LOOP, 0, 0);
	}
	v = prog_op(&p, PCTL_OP_ADD, p.u32, 2, prog_load(&p, p.u32, data, 1, gid),
		    prog_load(&p, p.u32, uniform, 0));
	prog_store(&p, v, data, 1, gid);
	prog_end(&p, 64, 1, 1, &wire, &n_wire);
	assert_int_equal(r->api->kernel_build(r->dev, &r->call, wire, n_wire, 0, NULL, 0, &k),
			 PCTL_OK);
	free(wire);
	return k;
}

static void wrong_transfers(void **state)
{
	static const char *const plugins[] = {PIPECTL_CPU_PLUGIN, PIPECTL_NULL_PLUGIN};
	(void)state;

	for (int i = 0; i < 2; i++) {
		pctl_buffer *b, *plain, *bad;
		uint8_t bytes_[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {0};
		rig r;

		harness_open(&r, plugins[i]);
		b = buffer(&r, 100, STORE_USAGE);
		plain = buffer(&r, 16, PCTL_BUFFER_STORAGE);
		REFUSED(&r, r.api->buffer_create(r.dev, &r.call, 4, 0x80, &bad),
			PC3201_BACKEND_ARGUMENT);
		assert_null(bad);
		REFUSED(&r, r.api->buffer_create(r.dev, &r.call, UINT64_MAX, STORE_USAGE, &bad),
			PC3208_BUFFER_LIMIT);
		REFUSED(&r, r.api->buffer_write(r.dev, &r.call, b, 96, bytes_, 8),
			PC3202_BACKEND_RANGE);
		REFUSED(&r, r.api->buffer_write(r.dev, &r.call, b, UINT64_MAX, bytes_, 8),
			PC3202_BACKEND_RANGE);
		REFUSED(&r, r.api->buffer_read(r.dev, &r.call, b, 4, back, UINT64_MAX),
			PC3202_BACKEND_RANGE);
		REFUSED(&r, r.api->buffer_write(r.dev, &r.call, plain, 0, bytes_, 8),
			PC3207_BUFFER_USAGE);
		REFUSED(&r, r.api->buffer_write(r.dev, &r.call, NULL, 0, bytes_, 8),
			PC3201_BACKEND_ARGUMENT);
		REFUSED(&r, r.api->buffer_write(r.dev, &r.call, b, 0, NULL, 8),
			PC3201_BACKEND_ARGUMENT);
		assert_int_equal(r.api->buffer_read(r.dev, &r.call, b, 92, back, 8), PCTL_OK);
		for (int k = 0; k < 8; k++)
			assert_int_equal(back[k], 0); /* buffers start as zero */
		assert_int_equal(r.api->buffer_write(r.dev, &r.call, b, 92, bytes_, 8), PCTL_OK);
		assert_int_equal(r.api->buffer_read(r.dev, &r.call, b, 92, back, 8), PCTL_OK);
		assert_memory_equal(bytes_, back, 8);
		assert_int_equal(r.api->buffer_write(r.dev, &r.call, b, 100, NULL, 0), PCTL_OK);
		r.api->buffer_destroy(r.dev, b);
		r.api->buffer_destroy(r.dev, plain);
		r.api->buffer_destroy(r.dev, NULL);
		rig_close(&r);
	}
}

static void wrong_bindings(void **state)
{
	const uint32_t groups[3] = {1, 1, 1}, many[3] = {1, 65536, 1};
	pctl_binding good[2] = {0}, b[3];
	pctl_buffer *data, *step, *other;
	pctl_kernel *k;
	pctl_list *l;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	k = kernel(&r, 0);
	data = buffer(&r, 1024, STORE_USAGE | PCTL_BUFFER_UNIFORM);
	step = buffer(&r, 64, PCTL_BUFFER_UNIFORM);
	good[0].buffer = data;
	good[0].n_bytes = 256;
	good[1].binding = 1;
	good[1].buffer = step;
	good[1].n_bytes = 16;
#define TRY(n, code)                                                                  \
	do {                                                                          \
		assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK);     \
		REFUSED(&r, r.api->list_dispatch(l, &r.call, k, b, n, groups), code); \
		REFUSED(&r, r.api->list_end(l, &r.call), PC3213_LIST_STATE);          \
		r.api->list_destroy(r.dev, l);                                        \
		memcpy(b, good, sizeof(good));                                        \
		b[2] = good[1];                                                       \
	} while (0)
	memcpy(b, good, sizeof(good));
	b[2] = good[1];
	TRY(1, PC3204_BINDING_MISSING);
	TRY(3, PC3205_BINDING_UNKNOWN); /* twice */
	b[1].binding = 7;
	TRY(2, PC3205_BINDING_UNKNOWN);
	b[0].offset = 8;
	TRY(2, PC3203_BACKEND_ALIGNMENT);
	b[0].offset = 1024;
	TRY(2, PC3202_BACKEND_RANGE);
	b[0].n_bytes = UINT64_MAX;
	TRY(2, PC3202_BACKEND_RANGE);
	b[0].buffer = NULL;
	TRY(2, PC3201_BACKEND_ARGUMENT);
	b[0].buffer = step;
	b[0].n_bytes = 64;
	TRY(2, PC3207_BUFFER_USAGE);
	b[1].buffer = data;
	b[1].offset = 240;
	TRY(2, PC3206_BINDING_OVERLAP);
#undef TRY
	b[1].buffer = data; /* side by side is fine */
	b[1].offset = 256;
	assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK);
	assert_int_equal(r.api->list_dispatch(l, &r.call, k, b, 2, groups), PCTL_OK);
	REFUSED(&r, r.api->list_dispatch(l, &r.call, k, good, 2, many), PC3209_GROUPS_LIMIT);
	r.api->list_destroy(r.dev, l);
	assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK);
	REFUSED(&r, r.api->list_dispatch(l, &r.call, NULL, good, 2, groups),
		PC3201_BACKEND_ARGUMENT);
	r.api->list_destroy(r.dev, l);
	assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK);
	REFUSED(&r, r.api->list_dispatch(l, &r.call, k, NULL, 2, groups), PC3201_BACKEND_ARGUMENT);
	r.api->list_destroy(r.dev, l);
	other = buffer(&r, 0, STORE_USAGE); /* a buffer of nothing can be bound */
	b[0].buffer = other;
	b[0].n_bytes = 0;
	assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK);
	assert_int_equal(r.api->list_dispatch(l, &r.call, k, b, 2, groups), PCTL_OK);
	r.api->list_destroy(r.dev, l);
	r.api->buffer_destroy(r.dev, other);
	r.api->buffer_destroy(r.dev, data);
	r.api->buffer_destroy(r.dev, step);
	r.api->kernel_destroy(r.dev, k);
	rig_close(&r);
}

/* Fill, dispatch, copy, indirect, timestamps, several times; buffers die before the list that uses
 * them. */
static void a_list_of_everything(void **state)
{
	const uint32_t groups[3] = {2, 1, 1}, limit[3] = {3, 1, 1};
	const uint32_t counts[4] = {0, 1000, 1, 9};
	uint32_t back[256];
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	pctl_binding b[2] = {0};
	pctl_buffer *data, *step, *copy, *indirect;
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket, second;
	uint32_t one = 1;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	k = kernel(&r, 0);
	data = buffer(&r, 1024, STORE_USAGE);
	step = buffer(&r, 4, PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER);
	copy = buffer(&r, 1024, PCTL_BUFFER_TRANSFER);
	indirect = buffer(&r, 16, PCTL_BUFFER_INDIRECT | PCTL_BUFFER_TRANSFER);
	r.api->buffer_write(r.dev, &r.call, step, 0, &one, 4);
	r.api->buffer_write(r.dev, &r.call, indirect, 0, counts, 16);
	b[0].buffer = data;
	b[0].n_bytes = 1024;
	b[1].binding = 1;
	b[1].buffer = step;
	b[1].n_bytes = 4;
	assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK);
	REFUSED(&r, r.api->submit(r.dev, &r.call, l, 1, &ticket), PC3213_LIST_STATE);
	assert_int_equal(r.api->list_timestamp(l, &r.call, 3), PCTL_OK);
	assert_int_equal(r.api->list_fill(l, &r.call, data, 0, 64, 100), PCTL_OK);
	assert_int_equal(r.api->list_barrier(l, &r.call), PCTL_OK);
	assert_int_equal(r.api->list_dispatch(l, &r.call, k, b, 2, groups), PCTL_OK);
	assert_int_equal(r.api->list_barrier(l, &r.call), PCTL_OK);
	/* 1000 groups become 3 */
	assert_int_equal(r.api->list_dispatch_indirect(l, &r.call, k, b, 2, indirect, 4, limit),
			 PCTL_OK);
	/* 0 groups */
	assert_int_equal(r.api->list_dispatch_indirect(l, &r.call, k, b, 2, indirect, 0, limit),
			 PCTL_OK);
	assert_int_equal(r.api->list_copy(l, &r.call, data, 0, copy, 512, 512), PCTL_OK);
	assert_int_equal(r.api->list_timestamp(l, &r.call, 5), PCTL_OK);
	assert_int_equal(r.api->list_end(l, &r.call), PCTL_OK);
	REFUSED(&r, r.api->list_barrier(l, &r.call), PC3213_LIST_STATE);
	assert_int_equal(r.api->submit(r.dev, &r.call, l, 2, &ticket), PCTL_OK);
	assert_int_equal(r.api->wait(r.dev, &r.call, ticket, 10000000000u, &done), PCTL_OK);
	assert_int_equal(done.done, 1);
	assert_int_equal(done.n_timestamps, 6);
	assert_true(done.timestamps[5] >= done.timestamps[3]);
	assert_true(done.device_ns > 0);
	REFUSED(&r, r.api->wait(r.dev, &r.call, ticket, 0, &done), PC3214_TICKET_UNKNOWN);
	REFUSED(&r, r.api->wait(r.dev, &r.call, 12345, 0, &done), PC3214_TICKET_UNKNOWN);
	assert_int_equal(r.api->buffer_read(r.dev, &r.call, data, 0, back, 1024), PCTL_OK);
	for (uint32_t i = 0; i < 256;
	     i++) /* a round adds 1 to 128, then 1 to 192; 16 are filled first */
		assert_int_equal(back[i], i < 16 ? 102 : i < 128 ? 4 : i < 192 ? 2 : 0);
	assert_int_equal(r.api->buffer_read(r.dev, &r.call, copy, 512, back, 512), PCTL_OK);
	assert_int_equal(back[0], 102);
	assert_int_equal(back[127], 4);
	assert_int_equal(r.api->submit(r.dev, &r.call, l, 0, &second),
			 PCTL_OK); /* no times: done */
	assert_int_equal(r.api->wait(r.dev, &r.call, second, 10000000000u, &done), PCTL_OK);
	r.api->buffer_destroy(r.dev, data);
	r.api->buffer_destroy(r.dev, step);
	r.api->buffer_destroy(r.dev, copy);
	r.api->buffer_destroy(r.dev, indirect);
	r.api->kernel_destroy(r.dev, k);
	assert_int_equal(r.api->submit(r.dev, &r.call, l, 1, &ticket), PCTL_OK);
	r.api->list_destroy(r.dev, l); /* waits */
	assert_int_equal(r.api->wait(r.dev, &r.call, ticket, 10000000000u, &done), PCTL_OK);
	rig_close(&r);
}

static void wrong_commands(void **state)
{
	static const char *const plugins[] = {PIPECTL_CPU_PLUGIN, PIPECTL_NULL_PLUGIN};
	(void)state;

	for (int i = 0; i < 2; i++) {
		pctl_buffer *b, *plain;
		pctl_list *l;
		rig r;

		harness_open(&r, plugins[i]);
		b = buffer(&r, 64, STORE_USAGE);
		plain = buffer(&r, 64, PCTL_BUFFER_STORAGE);
#define TRY(expression, code)                                                     \
	do {                                                                      \
		assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK); \
		REFUSED(&r, expression, code);                                    \
		REFUSED(&r, r.api->list_end(l, &r.call), PC3213_LIST_STATE);      \
		r.api->list_destroy(r.dev, l);                                    \
	} while (0)
		TRY(r.api->list_fill(l, &r.call, b, 2, 4, 0), PC3203_BACKEND_ALIGNMENT);
		TRY(r.api->list_fill(l, &r.call, b, 0, 68, 0), PC3202_BACKEND_RANGE);
		TRY(r.api->list_fill(l, &r.call, plain, 0, 4, 0), PC3207_BUFFER_USAGE);
		TRY(r.api->list_copy(l, &r.call, b, 0, b, 4, 8), PC3202_BACKEND_RANGE);
		TRY(r.api->list_copy(l, &r.call, b, 0, plain, 4, 8), PC3207_BUFFER_USAGE);
		TRY(r.api->list_copy(l, &r.call, b, 0, NULL, 4, 8), PC3201_BACKEND_ARGUMENT);
		TRY(r.api->list_timestamp(l, &r.call, 64), PC3201_BACKEND_ARGUMENT);
		TRY(r.api->list_dispatch(l, &r.call, NULL, NULL, 0, NULL), PC3201_BACKEND_ARGUMENT);
#undef TRY
		r.api->buffer_destroy(r.dev, b);
		r.api->buffer_destroy(r.dev, plain);
		r.api->list_destroy(r.dev, NULL);
		REFUSED(&r, r.api->list_begin(NULL, &r.call, &l), PC3201_BACKEND_ARGUMENT);
		REFUSED(&r, r.api->list_end(NULL, &r.call), PC3201_BACKEND_ARGUMENT);
		rig_close(&r);
	}
}

/* An endless loop: wait times out, cancel ends it, and so does the caller's own cancel test. */
static void endless_work_can_be_stopped(void **state)
{
	const uint32_t groups[3] = {4, 1, 1};
	(void)state;

	for (int how = 0; how < 2; how++) {
		pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
		pctl_binding b[2] = {0};
		uint64_t ticket, again;
		pctl_kernel *k;
		pctl_list *l;
		rig r;

		harness_open(&r, PIPECTL_CPU_PLUGIN);
		k = kernel(&r, 1);
		b[1].binding = 1;
		assert_int_equal(r.api->list_begin(r.dev, &r.call, &l), PCTL_OK);
		assert_int_equal(r.api->list_dispatch(l, &r.call, k, b, 2, groups), PCTL_OK);
		assert_int_equal(r.api->list_end(l, &r.call), PCTL_OK);
		assert_int_equal(r.api->submit(r.dev, &r.call, l, 1, &ticket), PCTL_OK);
		REFUSED(&r, r.api->submit(r.dev, &r.call, l, 1, &again), PC3213_LIST_STATE);
		assert_int_equal(r.api->wait(r.dev, &r.call, ticket, 30000000, &done), PCTL_OK);
		assert_int_equal(done.done, 0);
		if (how == 0)
			r.api->cancel(r.dev, ticket);
		else
			r.cancel_after = 2;
		REFUSED(&r, r.api->wait(r.dev, &r.call, ticket, 10000000000u, &done),
			PC3216_SUBMIT_CANCELLED);
		r.cancel_after = 0;
		r.api->list_destroy(r.dev, l);
		r.api->kernel_destroy(r.dev, k);
		rig_close(&r);
	}
}

static void refused_program(rig *r, const uint8_t *wire, uint64_t n_wire, uint32_t code)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_kernel *k;

	assert_int_equal(r->api->supports(r->dev, &r->call, wire, n_wire, &support), PCTL_OK);
	assert_int_equal(support.supported, 0);
	assert_int_equal(support.code, code);
	assert_true(strlen(support.reason) > 10);
	REFUSED(r, r->api->kernel_build(r->dev, &r->call, wire, n_wire, 0, NULL, 0, &k), code);
	assert_null(k);
}

static void programs_it_cannot_run(void **state)
{
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	uint8_t *wire, *cut;
	uint64_t n_wire;
	pctl_kernel *k;
	uint32_t one;
	prog p;
	rig r, null;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	harness_open(&null, PIPECTL_NULL_PLUGIN);
	prog_begin(&p);
	pctl_build_override(p.b, "n", 0xffffffff, p.u32);
	prog_main(&p);
	prog_end(&p, 1, 1, 1, &wire, &n_wire);
	refused_program(&r, wire, n_wire, PC3212_KERNEL_UNSPECIALISED);
	free(wire);
	prog_begin(&p);
	prog_storage(&p, "f", pctl_build_array(p.b, pctl_build_scalar(p.b, PCTL_SCALAR_I16), 0, 0),
		     1);
	prog_main(&p);
	prog_end(&p, 1, 1, 1, &wire, &n_wire);
	refused_program(&r, wire, n_wire, PC3210_KERNEL_CAPABILITY);
	free(wire);
	prog_begin(&p);
	prog_main(&p);
	one = pctl_build_const(p.b, pctl_build_scalar(p.b, PCTL_SCALAR_F32), 0x3f800000);
	prog_op(&p, PCTL_OP_NADD, pctl_build_scalar(p.b, PCTL_SCALAR_F32), 2, one, one);
	prog_end(&p, 1, 1, 1, &wire, &n_wire);
	refused_program(&r, wire, n_wire, PC3210_KERNEL_CAPABILITY);
	assert_non_null(strstr(r.last_text, "native float"));
	free(wire);
	prog_begin(&p);
	prog_main(&p);
	prog_end(&p, 1025, 1, 1, &wire, &n_wire);
	refused_program(&r, wire, n_wire, PC3211_KERNEL_LIMIT);
	free(wire);
	/* Tiles, and a first entry point that is no row of whole subgroups. */
	prog_begin(&p);
	prog_main(&p);
	pctl_build_inst(p.b, PCTL_OP_ZERO,
			pctl_build_tile(p.b, PCTL_SCALAR_I32, PCTL_TILE_RESULT, 8, 8), NULL, 0);
	pctl_build_entry(p.b, &(pctl_entry){.function = 1, .workgroup_size = {20, 1, 1}}, "other");
	prog_end(&p, 32, 1, 1, &wire, &n_wire);
	refused_program(&r, wire, n_wire, PC3211_KERNEL_LIMIT);
	free(wire);
	prog_begin(&p);
	prog_main(&p);
	prog_end(&p, 32, 32, 1, &wire, &n_wire);
	assert_int_equal(r.api->supports(r.dev, &r.call, wire, n_wire, &support), PCTL_OK);
	assert_int_equal(support.supported, 1);
	refused_program(&null, wire, n_wire, PC3215_KERNEL_REFUSED);
	REFUSED(&r, r.api->kernel_build(r.dev, &r.call, wire, n_wire, 4, NULL, 0, &k),
		PC3201_BACKEND_ARGUMENT);
	for (uint64_t n = 0; n < n_wire; n++) { /* a wire form cut anywhere, in memory of its own */
		cut = malloc(n ? n : 1);
		memcpy(cut, wire, n);
		assert_int_equal(r.api->supports(r.dev, &r.call, cut, n, &support), PCTL_OK);
		assert_int_equal(support.supported, 0);
		assert_int_not_equal(r.api->kernel_build(r.dev, &r.call, cut, n, 0, NULL, 0, &k),
				     PCTL_OK);
		free(cut);
	}
	free(wire);
	rig_close(&null);
	rig_close(&r);
}

static void what_it_says_of_itself(void **state)
{
	static const char *const plugins[] = {PIPECTL_CPU_PLUGIN, PIPECTL_NULL_PLUGIN};
	(void)state;

	for (int i = 0; i < 2; i++) {
		pctl_device_info info[2];
		pctl_key_value facts[32];
		pctl_device_caps caps;
		pctl_device *dev;
		uint32_t n, again;
		rig r;

		harness_open(&r, plugins[i]);
		assert_int_equal(r.api->devices(r.inst, &r.call, 0, NULL, &n), PCTL_OK);
		assert_int_equal(n, 1);
		assert_int_equal(r.api->devices(r.inst, &r.call, 2, info, &n), PCTL_OK);
		assert_int_equal(info[0].kind, i ? PCTL_DEVICE_OTHER : PCTL_DEVICE_REFERENCE);
		assert_int_equal(r.api->device_identity(r.dev, &r.call, 0, NULL, &n), PCTL_OK);
		assert_int_equal(r.api->device_identity(r.dev, &r.call, 32, facts, &again),
				 PCTL_OK);
		assert_int_equal(n, again);
		assert_int_equal(r.api->device_caps(r.dev, &r.call, &caps), PCTL_OK);
		assert_int_equal(caps.caps, i ? 0
					      : PCTL_CAP_I64 | PCTL_CAP_I64_DIV | PCTL_CAP_F16 |
							    PCTL_CAP_F32 | PCTL_CAP_BF16 |
							    PCTL_CAP_F64 | PCTL_CAP_STRICT_FLOAT |
							    PCTL_CAP_STORE16 | PCTL_CAP_SUBGROUPS |
							    PCTL_CAP_TILES);
		REFUSED(&r, r.api->device_open(r.inst, &r.call, 1, &dev), PC3201_BACKEND_ARGUMENT);
		assert_null(dev);
		/* every mandatory slot is filled */
		assert_non_null(r.api->device_close);
		assert_non_null(r.api->list_dispatch_indirect);
		assert_non_null(r.api->cancel);
		assert_int_equal(r.api->findings == NULL, i);
		rig_close(&r);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(wrong_transfers), PCTL_TEST(wrong_bindings),
		PCTL_TEST(a_list_of_everything), PCTL_TEST(wrong_commands),
		PCTL_TEST(endless_work_can_be_stopped), PCTL_TEST(programs_it_cannot_run),
		PCTL_TEST(what_it_says_of_itself))
