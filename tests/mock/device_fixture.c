/* See device_fixture.h. */
#include "device_fixture.h"

#define PLUGIN(id) PIPECTL_BINARY_DIR "/plugins/" id ".so"

void device_begin(device_fixture *b)
{
	(void)tests_skipped; /* counted in main.h, by the file with the main function */
	memset(b, 0, sizeof(*b));
	fixture_begin(&b->f);
	fixture_manifest(&b->f, "mock", PLUGIN("mock"),
			 "in_process = true; selects = \"layer\"; roles = [ \"synthetic\" ];");
	fixture_manifest(&b->f, "cpu", PLUGIN("cpu"),
			 "in_process = true; roles = [ \"reference\" ];");
	fixture_manifest(&b->f, "null", PLUGIN("null"), "");
	fixture_open(&b->f, 20000);
	b->call = *b->f.call;
}

void device_device(device_fixture *b, const char *selector, uint32_t flags)
{
	const uint32_t here = flags & PCTL_INSTANCE_IN_PROCESS ? PCTL_DEVICES_IN_PROCESS : 0;

	assert_int_equal(pctl_devices_find(b->f.r, selector, here, b->f.call, &b->list, &b->e),
			 PCTL_OK);
	assert_int_equal(pctl_backend_instance_open(b->f.r, b->e->backend, b->e->env, flags,
						    b->f.call, &b->s),
			 PCTL_OK);
	b->t = b->s->table;
	assert_int_equal(b->t->device_open(b->s->inst, &b->call, b->e->in_driver, &b->dev),
			 PCTL_OK);
}

void device_open(device_fixture *b, const char *selector, uint32_t flags)
{
	device_begin(b);
	device_device(b, selector, flags);
}

void device_drop(device_fixture *b)
{
	b->t->device_close(b->dev);
	pctl_backend_instance_close(b->s, b->f.call);
	pctl_devices_destroy(b->list);
	b->s = NULL;
	b->list = NULL;
}

void device_end(device_fixture *b)
{
	fixture_end(&b->f);
}

void device_close(device_fixture *b)
{
	device_drop(b);
	device_end(b);
}

pctl_buffer *device_buffer(device_fixture *b, const uint32_t *words, uint32_t n)
{
	pctl_buffer *buf;

	assert_int_equal(b->t->buffer_create(b->dev, &b->call, 4ull * n,
					     PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &buf),
			 PCTL_OK);
	if (words)
		assert_int_equal(b->t->buffer_write(b->dev, &b->call, buf, 0, words, 4ull * n),
				 PCTL_OK);
	return buf;
}

void device_read(device_fixture *b, pctl_buffer *buf, uint32_t *words, uint32_t n)
{
	assert_int_equal(b->t->buffer_read(b->dev, &b->call, buf, 0, words, 4ull * n), PCTL_OK);
}

/* ---- programs ----------------------------------------------------------------------------- */

static pctl_kernel *build(device_fixture *b, prog *p)
{
	pctl_kernel *k = NULL;
	uint8_t *wire;
	uint64_t n;

	prog_end(p, 1, 1, 1, &wire, &n);
	assert_int_equal(b->t->kernel_build(b->dev, &b->call, wire, n, 0, NULL, 0, &k), PCTL_OK);
	free(wire);
	return k;
}

pctl_kernel *device_affine(device_fixture *b)
{
	uint32_t words, in, out, i, x;
	prog p;

	prog_begin(&p);
	words = pctl_build_array(p.b, p.u32, 0, 0);
	in = prog_storage(&p, "a", words, 0);
	out = prog_storage(&p, "r", words, 1);
	prog_main(&p);
	i = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	x = prog_load(&p, p.u32, in, 1, i);
	x = prog_mul(&p, x, prog_u32(&p, 3));
	x = prog_add(&p, x, prog_u32(&p, 1));
	prog_store(&p, x, out, 1, i);
	return build(b, &p);
}

static uint32_t at(prog *p, uint32_t i, uint32_t stride, uint32_t k)
{
	const uint32_t scaled = prog_mul(p, i, prog_u32(p, stride));

	return prog_add(p, scaled, prog_u32(p, k));
}

static void put(prog *p, uint32_t value, uint32_t out, uint32_t i, uint32_t stride, uint32_t k)
{
	const uint32_t where = at(p, i, stride, k);

	prog_store(p, value, out, 1, where);
}

/* x, y, z of `type` and the sums of device_floats; the rest only for scalars. */
static pctl_kernel *floats(device_fixture *b, uint32_t width)
{
	uint32_t f32, type, out_type, in, out, i, v[3], t;
	prog p;

	prog_begin(&p);
	f32 = pctl_build_scalar(p.b, PCTL_SCALAR_F32);
	type = width == 1 ? f32 : pctl_build_vector(p.b, PCTL_SCALAR_F32, width);
	out_type = pctl_build_array(p.b, type, 0, 0);
	in = prog_storage(&p, "a", out_type, 0);
	out = prog_storage(&p, "r", out_type, 1);
	prog_main(&p);
	i = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	for (uint32_t k = 0; k < 3; k++) {
		const uint32_t where = at(&p, i, DEVICE_FLOATS_IN, k);

		v[k] = prog_load(&p, type, in, 1, where);
	}
	t = prog_op(&p, PCTL_OP_NMUL, type, 2, v[0], v[1]);
	t = prog_op(&p, PCTL_OP_NADD, type, 2, t, v[2]);
	put(&p, t, out, i, DEVICE_FLOATS_OUT, 0);
	t = prog_op(&p, PCTL_OP_NADD, type, 2, v[0], v[1]);
	t = prog_op(&p, PCTL_OP_NADD, type, 2, t, v[2]);
	put(&p, t, out, i, DEVICE_FLOATS_OUT, 1);
	if (width == 1) {
		const uint32_t k = pctl_build_const(p.b, f32, 0x3fc00000);

		t = prog_op(&p, PCTL_OP_NMUL, type, 2, v[0], k);
		put(&p, t, out, i, DEVICE_FLOATS_OUT, 2);
		put(&p, pctl_build_const(p.b, f32, 0x7fc00000), out, i, DEVICE_FLOATS_OUT, 3);
	}
	return build(b, &p);
}

pctl_kernel *device_floats(device_fixture *b)
{
	return floats(b, 1);
}

pctl_kernel *device_vectors(device_fixture *b)
{
	return floats(b, 2);
}

/* ---- lists -------------------------------------------------------------------------------- */

pctl_list *device_list(device_fixture *b)
{
	pctl_list *l;

	assert_int_equal(b->t->list_begin(b->dev, &b->call, &l), PCTL_OK);
	return l;
}

void device_record(device_fixture *b, pctl_list *l, pctl_kernel *k, pctl_buffer *a,
		   uint64_t a_bytes, pctl_buffer *r, uint64_t r_bytes, uint32_t n)
{
	const pctl_binding bindings[2] = {{0, 0, a, 0, a_bytes}, {0, 1, r, 0, r_bytes}};
	const uint32_t groups[3] = {n, 1, 1};

	assert_int_equal(b->t->list_dispatch(l, &b->call, k, bindings, 2, groups), PCTL_OK);
	assert_int_equal(b->t->list_barrier(l, &b->call), PCTL_OK);
}

pctl_status device_run(device_fixture *b, pctl_list *l, uint32_t times)
{
	pctl_completion c = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket = 0;
	pctl_status s = b->t->submit(b->dev, &b->call, l, times, &ticket);

	while (s == PCTL_OK && !c.done)
		s = b->t->wait(b->dev, &b->call, ticket, 10000000000u, &c);
	return s;
}

void device_expect(uint32_t rounds, uint32_t *out)
{
	for (uint32_t i = 0; i < DEVICE_WORDS; i++) {
		out[i] = i;
		for (uint32_t k = 0; k < rounds; k++)
			out[i] = out[i] * 3 + 1;
	}
}

void device_one_differs(const uint32_t *got, const uint32_t *want, uint32_t n, uint32_t at_word)
{
	for (uint32_t i = 0; i < n; i++)
		if ((got[i] != want[i]) != (i == at_word))
			fail_msg("word %u is 0x%08x, 0x%08x is right, word %u is to differ", i,
				 got[i], want[i], at_word);
}
