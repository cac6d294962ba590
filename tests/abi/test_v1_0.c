/* Plugins that know nothing younger than version 1.0 (v1_0/) are examined, loaded and used by this
 * host: the backend in a worker and inside the host, the op library through the registry. */
#include "fakes/setup.h"

#define WORDS 64u

static void open_frozen(fixture *f, uint32_t flags, pctl_backend_instance **s, pctl_device **dev)
{
	fixture_begin(f);
	fixture_manifest(f, "frozen", FROZEN_DIR "/backend.so", "in_process = true;");
	fixture_open(f, 10000);
	assert_int_equal(pctl_registry_count(f->r), 1);
	if (pctl_registry_at(f->r, 0)->state != PCTL_PLUGIN_USABLE)
		fail_msg("%s", pctl_registry_at(f->r, 0)->why);
	assert_string_equal(pctl_registry_at(f->r, 0)->version, "1.0");
	assert_int_equal(pctl_backend_instance_open(f->r, "frozen", NULL, flags, f->call, s),
			 PCTL_OK);
	assert_int_equal((*s)->table->device_open((*s)->inst, f->call, 0, dev), PCTL_OK);
}

static void describe(const pctl_backend_instance *s, pctl_device *dev, const pctl_call *call)
{
	pctl_device_info info = {.head = PCTL_HEAD(pctl_device_info)};
	pctl_device_caps caps = {.head = PCTL_HEAD(pctl_device_caps)};
	pctl_support support = {.head = PCTL_HEAD(pctl_support)};
	pctl_key_value fact;
	pctl_kernel *k;
	uint32_t n;

	assert_int_equal(s->table->devices(s->inst, call, 1, &info, &n), PCTL_OK);
	assert_int_equal(n, 1);
	assert_string_equal(info.name, "Device of 1.0");
	assert_int_equal(s->table->device_identity(dev, call, 1, &fact, &n), PCTL_OK);
	assert_string_equal(fact.value, "the past");
	assert_int_equal(s->table->device_caps(dev, call, &caps), PCTL_OK);
	assert_int_equal(caps.max_buffer_bytes, 1u << 20);
	assert_int_equal(caps.max_groups[2], 3);
	assert_int_equal(caps.max_local[2], 6);
	assert_int_equal(caps.max_invocations, 7);
	assert_int_equal(caps.max_bindings, 8);
	assert_int_equal(caps.timestamp_ns_den, 9);
	assert_int_equal(s->table->supports(dev, call, (const uint8_t *)"program", 7, &support),
			 PCTL_OK);
	assert_int_equal(support.supported, 0);
	assert_string_equal(support.reason, "programs are younger than this plugin");
	assert_int_equal(
		s->table->kernel_build(dev, call, (const uint8_t *)"program", 7, 0, NULL, 0, &k),
		PCTL_E_UNSUPPORTED);
	assert_null(k);
}

/* Words written, copied within the device, filled behind them, and read back. */
static void use(const pctl_backend_instance *s, pctl_device *dev, const pctl_call *call)
{
	const uint32_t usage = PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER;
	const pctl_backend *t = s->table;
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	uint32_t sent[WORDS], got[2 * WORDS], i;
	pctl_buffer *a, *b;
	pctl_list *l;
	uint64_t ticket;

	for (i = 0; i < WORDS; i++)
		sent[i] = i * 2654435761u;
	assert_int_equal(t->buffer_create(dev, call, sizeof(sent), usage, &a), PCTL_OK);
	assert_int_equal(t->buffer_create(dev, call, sizeof(got), usage, &b), PCTL_OK);
	assert_int_equal(t->buffer_write(dev, call, a, 0, sent, sizeof(sent)), PCTL_OK);
	assert_int_equal(t->list_begin(dev, call, &l), PCTL_OK);
	assert_int_equal(t->list_copy(l, call, a, 0, b, 0, sizeof(sent)), PCTL_OK);
	assert_int_equal(t->list_barrier(l, call), PCTL_OK);
	assert_int_equal(t->list_fill(l, call, b, sizeof(sent), sizeof(sent), 77), PCTL_OK);
	assert_int_equal(t->list_timestamp(l, call, 0), PCTL_OK);
	assert_int_equal(t->list_end(l, call), PCTL_OK);
	assert_int_equal(t->submit(dev, call, l, 2, &ticket), PCTL_OK);
	assert_int_equal(t->wait(dev, call, ticket, 10000000000u, &done), PCTL_OK);
	assert_int_equal(done.done, 1);
	assert_int_equal(done.timestamps[0], 11);
	assert_int_equal(t->buffer_read(dev, call, b, 0, got, sizeof(got)), PCTL_OK);
	for (i = 0; i < 2 * WORDS; i++)
		if (got[i] != (i < WORDS ? sent[i] : 77))
			fail_msg("word %u is %u", i, got[i]);
	t->list_destroy(dev, l);
	t->buffer_destroy(dev, a);
	t->buffer_destroy(dev, b);
}

static void whole_backend(uint32_t flags)
{
	pctl_backend_instance *s;
	pctl_device *dev;
	fixture f;

	open_frozen(&f, flags, &s, &dev);
	describe(s, dev, f.call);
	use(s, dev, f.call);
	s->table->device_close(dev);
	pctl_backend_instance_close(s, f.call);
	fixture_end(&f);
}

static void v1_0__a_backend_works_in_a_worker(void **state)
{
	(void)state;
	whole_backend(0);
}

static void v1_0__a_backend_works_in_process(void **state)
{
	(void)state;
	whole_backend(PCTL_INSTANCE_IN_PROCESS);
}

static void v1_0__an_op_library_is_asked(void **state)
{
	const pctl_tensor_type type = {.dtype = PCTL_SCALAR_U32, .rank = 1, .dim = {3}};
	pctl_op_query q = {.head = PCTL_HEAD(pctl_op_query), .n_in = 1, .in = &type};
	uint32_t in[3] = {0, 41, UINT32_MAX}, out[3] = {0};
	pctl_span from = {in, sizeof(in)}, to = {out, sizeof(out)};
	pctl_op_result result = {.head = PCTL_HEAD(pctl_op_result)};
	pctl_oplib_instance lib;
	char path[256];
	uint32_t op;
	fixture f;
	FILE *file;

	(void)state;
	fixture_begin(&f);
	snprintf(path, sizeof(path), "%s/frozen-ops.plugin.cfg", f.dir);
	file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "@include \"%s\"\n", FROZEN_DIR "/plugins.d/frozen-ops.plugin.cfg");
	assert_int_equal(fclose(file), 0);
	fixture_open(&f, 10000);
	assert_int_equal(pctl_registry_find_op(f.r, "frozen.next", 1, f.call, &lib, &op), PCTL_OK);
	assert_string_equal(lib.table->op_at(lib.inst, op)->spec, "y = x + 1 modulo 2^32");
	assert_int_equal(lib.table->rules(lib.inst, op)->n_boundaries, 2);
	q.op = op;
	assert_int_equal(lib.table->infer(lib.inst, f.call, &q, &result), PCTL_OK);
	assert_int_equal(result.out[0].dim[0], 3);
	assert_int_equal(lib.table->reference(lib.inst, f.call, &q, &from, &to), PCTL_OK);
	assert_int_equal(out[0], 1);
	assert_int_equal(out[1], 42);
	assert_int_equal(out[2], 0);
	fixture_end(&f);
}

PCTL_TESTS_MAIN(PCTL_TEST(v1_0__a_backend_works_in_a_worker),
		PCTL_TEST(v1_0__a_backend_works_in_process),
		PCTL_TEST(v1_0__an_op_library_is_asked))
