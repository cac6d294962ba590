/* The legaliser against the meaning of 64-bit integers: each program runs on the reference as
 * written (64-bit arithmetic of C) and as legalised (pairs of 32-bit words), from the same bytes,
 * and must leave the same bytes. */
#include "main.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "legal/legal.h"

#define MAX_BOUND 4u

typedef struct bench {
	const pctl_backend *api;
	pctl_instance *inst;
	pctl_device *dev;
	pctl_host host;
	pctl_call call;
	uint32_t last_code;
	int quiet;
} bench;

static void *host_alloc(void *ctx, uint64_t n)
{
	(void)ctx;
	return calloc(1, n ? n : 1);
}

static void host_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void host_log(void *ctx, uint32_t level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

static const void *host_service(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static void on_diag(void *ctx, const pctl_diag *d)
{
	bench *b = ctx;

	b->last_code = d->code;
	if (!b->quiet)
		fprintf(stderr, "PC%04u: %s\n", d->code, d->message);
}

static void bench_open(bench *b)
{
	const char *path = getenv("PCTL_TEST_PLUGIN");
	void *library =
		dlopen(path ? path : PIPECTL_BINARY_DIR "/plugins/cpu.so", RTLD_NOW | RTLD_LOCAL);
	const pctl_plugin *plugin;

	*b = (bench){0};
	b->host = (pctl_host){.head = PCTL_HEAD(pctl_host),
			      .alloc = host_alloc,
			      .release = host_release,
			      .log = host_log,
			      .get_service = host_service};
	b->call = (pctl_call){.head = PCTL_HEAD(pctl_call), .ctx = b, .diag = on_diag};
	if (!library)
		fail_msg("the plugin cannot be loaded: %s", dlerror());
	plugin = dlsym(library, PCTL_PLUGIN_SYMBOL);
	assert_non_null(plugin);
	assert_int_equal(plugin->open(&b->host, &b->call, &b->inst), PCTL_OK);
	b->api = plugin->interface(b->inst, PCTL_BACKEND_INTERFACE);
	assert_int_equal(b->api->device_open(b->inst, &b->call, 0, &b->dev), PCTL_OK);
}

/* ---- programs under construction --------------------------------------------------------------
 */

static pctl_builder *b;
static uint32_t t_bool, t_i32, t_u32, t_i64, t_u64;

#define OP(op, type, ...)                                                       \
	pctl_build_inst(b, PCTL_OP_##op, type, (const uint32_t[]){__VA_ARGS__}, \
			(uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / 4))

static void program_begin(void)
{
	b = pctl_builder_create();
	t_bool = pctl_build_scalar(b, PCTL_SCALAR_BOOL);
	t_i32 = pctl_build_scalar(b, PCTL_SCALAR_I32);
	t_u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	t_i64 = pctl_build_scalar(b, PCTL_SCALAR_I64);
	t_u64 = pctl_build_scalar(b, PCTL_SCALAR_U64);
	pctl_build_spec_begin(b);
	pctl_build_function_end(b);
}

static uint32_t var(uint32_t binding, uint32_t type, uint8_t space, uint8_t access)
{
	const pctl_var v = {.type = type, .space = space, .access = access, .binding = binding};

	return pctl_build_var(b, &v, "v");
}

static uint32_t storage(uint32_t binding, uint32_t type)
{
	return var(binding, type, PCTL_SPACE_STORAGE, PCTL_ACCESS_READ_WRITE);
}

static uint32_t k(uint32_t x)
{
	return pctl_build_const(b, t_u32, x);
}

static uint32_t main_begin(void)
{
	const uint32_t u3 = pctl_build_vector(b, PCTL_SCALAR_U32, 3);
	uint32_t id;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	id = OP(BUILTIN, u3, PCTL_BUILTIN_GLOBAL_ID);
	return OP(EXTRACT, t_u32, id, 0);
}

static pctl_program *program_end(bench *bn)
{
	pctl_entry entry = {.workgroup_size = {1, 1, 1}};
	pctl_program *p = NULL;

	entry.function = pctl_build_function_end(b);
	pctl_build_entry(b, &entry, "main");
	assert_int_equal(pctl_builder_finish(b, &bn->call, &p), PCTL_OK);
	pctl_builder_destroy(b);
	return p;
}

typedef struct image {
	uint8_t *bytes[MAX_BOUND];
	uint64_t n[MAX_BOUND];
	uint32_t count;
} image;

static void run_wire(bench *bn, const uint8_t *wire, uint64_t n, image *m, uint32_t groups)
{
	const uint32_t counts[3] = {groups, 1, 1};
	pctl_binding bindings[MAX_BOUND];
	pctl_buffer *buffers[MAX_BOUND];
	pctl_completion done;
	uint64_t ticket;
	pctl_kernel *kernel = NULL;
	pctl_list *l;

	assert_int_equal(bn->api->kernel_build(bn->dev, &bn->call, wire, n, 0, NULL, 0, &kernel),
			 PCTL_OK);
	for (uint32_t i = 0; i < m->count; i++) {
		assert_int_equal(bn->api->buffer_create(bn->dev, &bn->call, m->n[i],
							PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
							&buffers[i]),
				 PCTL_OK);
		assert_int_equal(bn->api->buffer_write(bn->dev, &bn->call, buffers[i], 0,
						       m->bytes[i], m->n[i]),
				 PCTL_OK);
		bindings[i] = (pctl_binding){0, i, buffers[i], 0, m->n[i]};
	}
	assert_int_equal(bn->api->list_begin(bn->dev, &bn->call, &l), PCTL_OK);
	assert_int_equal(bn->api->list_dispatch(l, &bn->call, kernel, bindings, m->count, counts),
			 PCTL_OK);
	assert_int_equal(bn->api->list_end(l, &bn->call), PCTL_OK);
	assert_int_equal(bn->api->submit(bn->dev, &bn->call, l, 1, &ticket), PCTL_OK);
	assert_int_equal(bn->api->wait(bn->dev, &bn->call, ticket, UINT64_MAX, &done), PCTL_OK);
	assert_int_equal(done.done, 1);
	for (uint32_t i = 0; i < m->count; i++)
		assert_int_equal(bn->api->buffer_read(bn->dev, &bn->call, buffers[i], 0,
						      m->bytes[i], m->n[i]),
				 PCTL_OK);
	bn->api->list_destroy(bn->dev, l);
	for (uint32_t i = 0; i < m->count; i++)
		bn->api->buffer_destroy(bn->dev, buffers[i]);
	bn->api->kernel_destroy(bn->dev, kernel);
}

static void run(bench *bn, const pctl_program *p, image *m, uint32_t groups)
{
	uint8_t *wire = NULL;
	uint64_t n;

	assert_int_equal(pctl_program_encode(p, &bn->call, &wire, &n), PCTL_OK);
	run_wire(bn, wire, n, m, groups);
	free(wire);
}

static pctl_device_caps caps_of(uint64_t caps)
{
	return (pctl_device_caps){.head = PCTL_HEAD(pctl_device_caps), .caps = caps};
}

/* Both ways over the same start, which is taken over; every byte of every buffer must agree.
 * Returns how many bytes of the last buffer are not zero, so that a test can demand that anything
 * happened. */
static uint32_t compare(bench *bn, pctl_program *p, image *m, uint32_t groups)
{
	const pctl_device_caps caps = caps_of(0);
	pctl_program *narrow = NULL;
	image other = {.count = m->count};
	uint32_t changed = 0;

	assert_true((p->caps & PCTL_CAP_I64) != 0);
	assert_int_equal(pctl_legalise(p, &caps, &bn->call, &narrow), PCTL_OK);
	assert_true((narrow->caps & PCTL_CAP_I64) == 0);
	assert_int_equal(narrow->n_vars, p->n_vars);
	for (uint32_t i = 0; i < p->n_vars; i++)
		assert_int_equal(narrow->types[narrow->vars[i].type].size,
				 p->types[p->vars[i].type].size);
	for (uint32_t i = 0; i < m->count; i++) {
		other.n[i] = m->n[i];
		other.bytes[i] = malloc(m->n[i]);
		memcpy(other.bytes[i], m->bytes[i], m->n[i]);
	}
	run(bn, narrow, &other, groups);
	run(bn, p, m, groups);
	for (uint32_t i = 0; i < m->count; i++) {
		for (uint64_t at = 0; at < m->n[i]; at++)
			if (m->bytes[i][at] != other.bytes[i][at])
				fail_msg("buffer %u byte %llu: as written %02x, legalised %02x", i,
					 (unsigned long long)at, m->bytes[i][at],
					 other.bytes[i][at]);
		for (uint64_t at = 0; at < m->n[i]; at++)
			changed += i == m->count - 1 && m->bytes[i][at] != 0;
	}
	for (uint32_t i = 0; i < m->count; i++) {
		free(other.bytes[i]);
		free(m->bytes[i]);
	}
	pctl_program_destroy(narrow);
	pctl_program_destroy(p);
	return changed;
}

static uint64_t noise(uint64_t seed, uint64_t n)
{
	uint64_t x = seed + n * 0x9e3779b97f4a7c15ull;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint8_t *zeros(image *m, uint64_t n)
{
	m->n[m->count] = n;
	m->bytes[m->count] = calloc(1, n);
	return m->bytes[m->count++];
}

/* ---- elementwise ------------------------------------------------------------------------------
 */

static const struct {
	uint16_t op;
	uint8_t arity, kind; /* 1 shift, 2 bool result, 3 signed only */
} cases[] = {
	{PCTL_OP_ADD, 2, 0},
	{PCTL_OP_SUB, 2, 0},
	{PCTL_OP_MUL, 2, 0},
	{PCTL_OP_DIV, 2, 0},
	{PCTL_OP_MOD, 2, 0},
	{PCTL_OP_DIV_WGSL, 2, 0},
	{PCTL_OP_NEG, 1, 0},
	{PCTL_OP_AND, 2, 0},
	{PCTL_OP_OR, 2, 0},
	{PCTL_OP_XOR, 2, 0},
	{PCTL_OP_NOT, 1, 0},
	{PCTL_OP_SHL, 2, 1},
	{PCTL_OP_SHR, 2, 1},
	{PCTL_OP_MIN, 2, 0},
	{PCTL_OP_MAX, 2, 0},
	{PCTL_OP_CLAMP, 3, 0},
	{PCTL_OP_ABS, 1, 0},
	{PCTL_OP_SIGN, 1, 3},
	{PCTL_OP_POPCOUNT, 1, 0},
	{PCTL_OP_CLZ, 1, 0},
	{PCTL_OP_CTZ, 1, 0},
	{PCTL_OP_REVERSE, 1, 0},
	{PCTL_OP_FIRST_LEADING, 1, 0},
	{PCTL_OP_FIRST_TRAILING, 1, 0},
	{PCTL_OP_EQ, 2, 2},
	{PCTL_OP_NE, 2, 2},
	{PCTL_OP_LT, 2, 2},
	{PCTL_OP_LE, 2, 2},
	{PCTL_OP_GT, 2, 2},
	{PCTL_OP_GE, 2, 2},
};
#define N_CASES (sizeof(cases) / sizeof(cases[0]))
#define N_ROWS 400u

static uint64_t operand(uint32_t which, uint32_t row)
{
	static const uint64_t edges[] = {0,
					 1,
					 2,
					 3,
					 63,
					 64,
					 0xffff,
					 0x10000,
					 0x7fffffff,
					 0x80000000,
					 0xffffffff,
					 0x100000000,
					 0x100000001,
					 0x7fffffffffffffff,
					 0x8000000000000000,
					 0x8000000000000001,
					 0xfffffffffffffffe,
					 0xffffffffffffffff};
	enum { N = sizeof(edges) / sizeof(edges[0]) };
	const uint64_t r = noise(which + 3, row);

	if (row < N * N && which < 2)
		return which ? edges[row / N] : edges[row % N];
	if (r % 4 == 0)
		return edges[(r >> 9) % N];
	return noise(which + 50, row) >> (r >> 20) % 64;
}

static uint32_t of_width(uint8_t scalar, uint32_t width)
{
	return width > 1 ? pctl_build_vector(b, scalar, width) : pctl_build_scalar(b, scalar);
}

static void elementwise(bench *bn, uint8_t scalar, uint32_t width)
{
	const uint32_t step = width == 3 ? 4 : width;
	uint32_t type, mask, amount, array, in[3], at, vars[4];
	image m = {.count = 0};
	pctl_program *p;

	program_begin();
	type = of_width(scalar, width);
	mask = of_width(PCTL_SCALAR_BOOL, width);
	amount = of_width(PCTL_SCALAR_U32, width);
	array = pctl_build_array(b, type, 0, 0);
	for (uint32_t i = 0; i < 4; i++)
		vars[i] = storage(i, array);
	at = main_begin();
	for (uint32_t i = 0; i < 3; i++)
		in[i] = OP(LOAD, type, vars[i], at);
	at = OP(MUL, t_u32, at, k(N_CASES));
	for (uint32_t c = 0; c < N_CASES; c++) {
		uint32_t args[3] = {in[0], in[1], in[2]}, out;

		if (cases[c].kind == 3 && scalar != PCTL_SCALAR_I64)
			continue;
		if (cases[c].kind == 1)
			args[1] = OP(CAST, amount, in[1]);
		out = pctl_build_inst(b, cases[c].op, cases[c].kind == 2 ? mask : type, args,
				      cases[c].arity);
		if (cases[c].kind == 2) {
			out = OP(SELECT, type, out, in[2], in[0]);
		}
		out = OP(STORE, 0, out, vars[3], OP(ADD, t_u32, at, k(c)));
	}
	p = program_end(bn);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t *x = (uint64_t *)(void *)zeros(&m, (uint64_t)N_ROWS * step * 8);

		for (uint32_t row = 0; row < N_ROWS; row++)
			for (uint32_t lane = 0; lane < step; lane++)
				x[row * step + lane] = operand(i, (row + lane * 37) % N_ROWS);
	}
	zeros(&m, (uint64_t)N_ROWS * step * 8 * N_CASES);
	assert_true(compare(bn, p, &m, N_ROWS) > N_ROWS);
}

static void test_legal_wide__elementwise(void **state)
{
	bench bn;

	(void)state;
	bench_open(&bn);
	for (uint32_t width = 1; width <= 4; width++) {
		elementwise(&bn, PCTL_SCALAR_U64, width);
		elementwise(&bn, PCTL_SCALAR_I64, width);
	}
}

/* ---- conversions and products -----------------------------------------------------------------
 */

static void put(uint32_t value, uint32_t to, uint32_t *next)
{
	OP(STORE, 0, value, to, k((*next)++));
}

static void test_legal_wide__conversions(void **state)
{
	uint32_t in, out, at, n = 0, x[3], v, u2, i2, u4, l2, l3, b3, i3, q3;
	image m = {.count = 0};
	pctl_program *p;
	bench bn;

	(void)state;
	bench_open(&bn);
	for (uint32_t row = 0; row < 60; row++) {
		n = 0;
		m.count = 0;
		program_begin();
		u2 = pctl_build_vector(b, PCTL_SCALAR_U32, 2);
		i2 = pctl_build_vector(b, PCTL_SCALAR_I32, 2);
		i3 = pctl_build_vector(b, PCTL_SCALAR_I32, 3);
		u4 = pctl_build_vector(b, PCTL_SCALAR_U32, 4);
		l2 = pctl_build_vector(b, PCTL_SCALAR_U64, 2);
		l3 = pctl_build_vector(b, PCTL_SCALAR_I64, 3);
		q3 = pctl_build_vector(b, PCTL_SCALAR_U64, 3);
		b3 = pctl_build_vector(b, PCTL_SCALAR_BOOL, 3);
		in = storage(0, pctl_build_array(b, t_u64, 0, 0));
		out = storage(1, pctl_build_array(b, t_u64, 0, 0));
		at = main_begin();
		for (uint32_t i = 0; i < 3; i++)
			x[i] = OP(LOAD, t_u64, in, OP(ADD, t_u32, at, k(i)));
		put(OP(CAST, t_u64, OP(CAST, t_u32, x[0])), out, &n);
		put(OP(CAST, t_u64, OP(CAST, t_i32, x[0])), out, &n);
		put(OP(CAST, t_u64, OP(CAST, t_bool, x[0])), out, &n);
		put(OP(CAST, t_u64, OP(CAST, t_i64, x[1])), out, &n);
		put(OP(BITCAST, t_u64, OP(BITCAST, t_i64, x[1])), out, &n);
		put(OP(BITCAST, t_u64, OP(SHUFFLE, u2, OP(BITCAST, u2, x[2]), 1, 0)), out, &n);
		put(OP(BITCAST, t_u64, OP(NEG, i2, OP(BITCAST, i2, x[2]))), out, &n);
		v = OP(BITCAST, u4, OP(COMPOSE, l2, x[0], x[1]));
		v = OP(BITCAST, l2, OP(SHUFFLE, u4, v, 3, 0, 2, 1));
		put(OP(EXTRACT, t_u64, v, 0), out, &n);
		put(OP(EXTRACT, t_u64, v, 1), out, &n);
		v = OP(COMPOSE, l3, OP(CAST, t_i64, x[2]), OP(CAST, t_i64, x[0]),
		       OP(CAST, t_i64, x[1]));
		v = OP(CAST, l3, OP(CAST, i3, v));
		put(OP(CAST, t_u64, OP(EXTRACT_DYN, t_i64, v, OP(CAST, t_u32, x[2]))), out, &n);
		put(OP(CAST, t_u64, OP(EXTRACT_DYN, t_i64, v, OP(CAST, t_i32, x[2]))), out, &n);
		v = OP(INSERT, l3, v, OP(CAST, t_i64, x[1]), 1);
		put(OP(CAST, t_u64, OP(DOT, t_i64, v, OP(SHUFFLE, l3, v, 2, 2, 1))), out, &n);
		v = OP(CAST, q3, OP(CAST, b3, v));
		put(OP(DOT, t_u64, v,
		       OP(SPLAT, q3, pctl_build_const(b, t_u64, 0x123456789abcdefull))),
		    out, &n);
		v = OP(SELECT, l2,
		       OP(CAST, t_bool, OP(AND, t_u64, x[0], pctl_build_const(b, t_u64, 1))),
		       OP(SPLAT, l2, x[1]), pctl_build_inst(b, PCTL_OP_ZERO, l2, NULL, 0));
		put(OP(EXTRACT, t_u64, v, 1), out, &n);
		p = program_end(&bn);
		{
			uint64_t *words = (uint64_t *)(void *)zeros(&m, 24);

			for (uint32_t i = 0; i < 3; i++)
				words[i] = operand(i, row * 6 + i);
			words[2] = row % 3 ? words[2] : row / 3 % 5;
		}
		zeros(&m, n * 8);
		compare(&bn, p, &m, 1);
	}
}

/* ---- memory -----------------------------------------------------------------------------------
 */

/* struct { a: u64, b: vec3<u64>, c: i64, d: array<vec3<i64>,2>, e: mat3x3<u64>, f: mat2x2<i64>, g:
 * u32, h: vec2<u64> } */
static uint32_t wide_struct(void)
{
	const pctl_member_spec members[] = {
		{"a", t_u64, 0, 0, PCTL_OFFSET_AUTO},
		{"b", pctl_build_vector(b, PCTL_SCALAR_U64, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"c", t_i64, 0, 0, PCTL_OFFSET_AUTO},
		{"d", pctl_build_array(b, pctl_build_vector(b, PCTL_SCALAR_I64, 3), 2, 0), 0, 0,
		 PCTL_OFFSET_AUTO},
		{"e", pctl_build_matrix(b, PCTL_SCALAR_U64, 3, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"f", pctl_build_matrix(b, PCTL_SCALAR_I64, 2, 2), 0, 0, PCTL_OFFSET_AUTO},
		{"g", t_u32, 0, 0, PCTL_OFFSET_AUTO},
		{"h", pctl_build_vector(b, PCTL_SCALAR_U64, 2), 0, 0, PCTL_OFFSET_AUTO},
	};

	return pctl_build_struct(b, members, 8);
}

/* Takes a struct and a vector, returns a vector: composites across calls. */
static uint32_t wide_callee(uint32_t type, uint32_t l3)
{
	const uint32_t params[2] = {type, l3};
	uint32_t x;

	pctl_build_function_begin(b, "callee", params, 2, l3);
	x = OP(EXTRACT, l3, 0, 1);
	OP(RETURN, 0, OP(ADD, l3, x, OP(MUL, l3, 1, x)));
	return pctl_build_function_end(b);
}

static void memory(bench *bn, uint8_t space)
{
	enum { N = 3, BYTES = 288 };
	uint32_t type, l3, s3, m33, m22, array, in, out, root, callee, at, whole, x, c[3], dyn;
	image m = {.count = 0};
	pctl_program *p;

	program_begin();
	type = wide_struct();
	assert_int_equal(pctl_build_type_at(b, type)->size, BYTES);
	l3 = pctl_build_vector(b, PCTL_SCALAR_U64, 3);
	s3 = pctl_build_vector(b, PCTL_SCALAR_I64, 3);
	m33 = pctl_build_matrix(b, PCTL_SCALAR_U64, 3, 3);
	m22 = pctl_build_matrix(b, PCTL_SCALAR_I64, 2, 2);
	array = pctl_build_array(b, type, 0, 0);
	in = storage(0, array);
	out = storage(1, array);
	root = space == PCTL_SPACE_FUNCTION ? 0 : var(0, type, space, PCTL_ACCESS_READ_WRITE);
	callee = wide_callee(type, l3);
	at = main_begin();
	if (space == PCTL_SPACE_FUNCTION)
		root = PCTL_PLACE_LOCAL | pctl_build_local(b, "s", type);
	whole = OP(LOAD, type, in, at);
	OP(STORE, 0, whole, root);
	for (uint32_t i = 0; i < 3; i++)
		c[i] = k(i);
	dyn = OP(CAST, t_u32,
		 OP(AND, t_u64, OP(LOAD, t_u64, in, at, 0), pctl_build_const(b, t_u64, 3)));
	/* a component by a computed index that misses for 3, a column, an element, a cell of each
	 */
	OP(STORE, 0, OP(NOT, t_u64, OP(LOAD, t_u64, root, 1, dyn)), root, 1, dyn);
	OP(STORE, 0, OP(NEG, t_i64, OP(LOAD, t_i64, root, 3, c[1], dyn)), root, 3, c[0], c[2]);
	OP(STORE, 0, OP(LOAD, s3, root, 3, c[0]), root, 3, c[1]);
	x = OP(LOAD, l3, root, 4, c[2]);
	x = OP(CALL, l3, callee, OP(LOAD, type, root), x);
	OP(STORE, 0, x, root, 4, dyn);
	OP(STORE, 0, OP(LOAD, t_u64, root, 4, c[0], dyn), root, 4, dyn, c[1]);
	x = OP(MATMUL, m33, OP(LOAD, m33, root, 4), OP(TRANSPOSE, m33, OP(LOAD, m33, in, at, 4)));
	OP(STORE, 0, x, root, 4);
	x = OP(MATMUL, l3, OP(LOAD, l3, root, 1), OP(LOAD, m33, root, 4));
	x = OP(XOR, l3, x, OP(MATMUL, l3, OP(LOAD, m33, root, 4), OP(LOAD, l3, root, 1)));
	OP(STORE, 0, x, root, 1);
	x = OP(LOAD, m22, root, 5);
	x = OP(INSERT, m22, x, OP(EXTRACT, pctl_build_vector(b, PCTL_SCALAR_I64, 2), x, 0), 1);
	x = OP(SELECT, m22, OP(EQ, t_bool, dyn, c[1]), x, OP(TRANSPOSE, m22, x));
	OP(STORE, 0, x, root, 5);
	whole = OP(LOAD, type, root);
	whole = OP(INSERT, type, whole, OP(EXTRACT, l3, whole, 1), 1);
	whole = OP(INSERT, type, whole, k(77), 6);
	OP(STORE, 0, whole, out, at);
	p = program_end(bn);
	{
		uint8_t *bytes = zeros(&m, N * BYTES);

		for (uint32_t i = 0; i < N * BYTES; i++)
			bytes[i] = (uint8_t)noise(space, i);
	}
	zeros(&m, N * BYTES);
	assert_true(compare(bn, p, &m, N) > N * BYTES / 3);
}

static void test_legal_wide__memory(void **state)
{
	bench bn;

	(void)state;
	bench_open(&bn);
	memory(&bn, PCTL_SPACE_FUNCTION);
	memory(&bn, PCTL_SPACE_PRIVATE);
	memory(&bn, PCTL_SPACE_WORKGROUP);
}

/* ---- what stays as it is ----------------------------------------------------------------------
 */

static void test_legal_wide__untouched(void **state)
{
	const pctl_device_caps with = caps_of(PCTL_CAP_I64);
	uint8_t *wire[2] = {NULL, NULL};
	pctl_program *p, *same = NULL;
	uint32_t v, at;
	uint64_t n[2];
	bench bn;

	(void)state;
	bench_open(&bn);
	program_begin();
	v = storage(0, pctl_build_array(b, t_u64, 0, 0));
	at = main_begin();
	OP(STORE, 0, OP(MUL, t_u64, OP(LOAD, t_u64, v, at), OP(LOAD, t_u64, v, at)), v, at);
	p = program_end(&bn);
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_STORE)
			p->insts[i].flags = PCTL_INST_PROVEN(0);
	assert_int_equal(pctl_legalise(p, &with, &bn.call, &same), PCTL_OK);
	assert_int_equal(pctl_program_encode(p, &bn.call, &wire[0], &n[0]), PCTL_OK);
	assert_int_equal(pctl_program_encode(same, &bn.call, &wire[1], &n[1]), PCTL_OK);
	assert_int_equal(n[0], n[1]);
	assert_memory_equal(wire[0], wire[1], n[0]);
	free(wire[0]);
	free(wire[1]);
	pctl_program_destroy(p);
	pctl_program_destroy(same);
}

/* Proofs follow their chain word, also past the wrapper of a vec3 element. */
static void test_legal_wide__proofs(void **state)
{
	const pctl_device_caps none = caps_of(0);
	pctl_program *p, *narrow = NULL;
	uint32_t v, at, found = 0;
	bench bn;

	(void)state;
	bench_open(&bn);
	program_begin();
	v = storage(0, pctl_build_array(b, pctl_build_vector(b, PCTL_SCALAR_U64, 3), 0, 0));
	at = main_begin();
	OP(STORE, 0, OP(LOAD, t_u64, v, at, at), v, at, k(1));
	p = program_end(&bn);
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_LOAD)
			p->insts[i].flags = PCTL_INST_PROVEN(1);
	assert_int_equal(pctl_legalise(p, &none, &bn.call, &narrow), PCTL_OK);
	for (uint32_t i = 0; i < narrow->n_insts; i++) {
		if (narrow->insts[i].op == PCTL_OP_LOAD) {
			assert_int_equal(narrow->insts[i].n_args,
					 4); /* root, element, wrapper, component */
			assert_int_equal(narrow->insts[i].flags, PCTL_INST_PROVEN(2));
			found++;
		} else {
			assert_int_equal(narrow->insts[i].flags, 0);
		}
	}
	assert_int_equal(found, 1);
	pctl_program_destroy(p);
	pctl_program_destroy(narrow);
}

static void test_legal_wide__refused(void **state)
{
	const pctl_device_caps none = caps_of(PCTL_CAP_I64);
	pctl_program *p, *out = NULL;
	uint32_t v, at, t_f32;
	bench bn;

	(void)state;
	bench_open(&bn);
	bn.quiet = 1;
	program_begin();
	t_f32 = pctl_build_scalar(b, PCTL_SCALAR_F32);
	v = storage(0, pctl_build_array(b, t_f32, 0, 0));
	at = main_begin();
	OP(STORE, 0, OP(LOAD, t_f32, v, at), v, at);
	p = program_end(&bn);
	assert_int_equal(pctl_legalise(p, &none, &bn.call, &out), PCTL_E_UNSUPPORTED);
	assert_int_equal(bn.last_code, PC2501_LEGAL_CAPABILITY);
	assert_null(out);
	pctl_program_destroy(p);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legal_wide__untouched), PCTL_TEST(test_legal_wide__refused),
		PCTL_TEST(test_legal_wide__proofs), PCTL_TEST(test_legal_wide__elementwise),
		PCTL_TEST(test_legal_wide__conversions), PCTL_TEST(test_legal_wide__memory))
