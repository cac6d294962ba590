/* Loops that are written twice: what the legalised program looks like, and that it leaves the bytes that the
 * reference leaves of the program as written, whatever is in memory. Where PCTL_TEST_PLUGIN names a device's plugin
 * they run there; the profile is that of a device that flushes, without a fused multiply-add unless it is PoCL. */
#include <time.h>

#include "compiler/legalize/legal_parts.h"
#include "main.h"
#include "test_legalize_run.h"

#define DEVICE (PCTL_CAP_F32 | PCTL_CAP_NATIVE_FLOAT)

enum { THREADS = 256, ROW = 40, WORDS = THREADS * ROW };

#define BUFFERS                                                     \
	"@group(0) @binding(0) var<storage, read> x: array<f32>;\n" \
	"@group(0) @binding(1) var<storage, read> w: array<f32>;\n" \
	"@group(0) @binding(2) var<storage, read> p: array<u32>;\n" \
	"@group(0) @binding(3) var<storage, read_write> y: array<f32>;\n"
#define MAIN                                                        \
	"@compute @workgroup_size(64)\n"                            \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n" \
	"  let i = id.x; let r = i * 40u; let n = p[i];\n"
#define HEAD BUFFERS MAIN

/* Its fused twin is made of it by replacing MAC(a, b, c). */
static const char *const loops[] = {
	/* accumulators that start from memory; zero and more trips, past the end of the array too */
	HEAD "var s = w[i]; for (var k = 0u; k < n; k++) { s = MAC(x[r + k], x[k * 256u], s); } "
	     "y[i] = s;}",
	/* ways out, and what is left of the loop's variables */
	HEAD "var s = 0.0; var t = 1.0; var k = 0u; var odd = 0u; var u = 5.0;\n"
	     "for (k = 0u; k < n; k++) { u = 6.0; if (k % 5u == 3u) { odd += k; continue; }\n"
	     "  let a = x[r + k]; s = MAC(a, w[k], s); if (p[k] == 7u) { t = a; break; }\n"
	     "  t = MAC(a0(k), w[k], t); }\n"
	     "y[i] = s - t * f32(k); y[i + 256u] = f32(odd); y[i + 512u] = u; y[i + 768u] = s;}\n"
	     "fn a0(k: u32) -> f32 { return x[k]; }",
	/* a nest over arrays, with a value from before it */
	HEAD "let f = w[i]; var acc: array<array<f32, 4>, 2>; acc[1][2] = x[i];\n"
	     "for (var k = 0u; k < n; k++) { var ra: array<f32, 2>; var rb: array<f32, 4>;\n"
	     "  for (var j = 0u; j < 2u; j++) { ra[j] = x[r + k + j]; }\n"
	     "  for (var j = 0u; j < 4u; j++) { rb[j] = w[k + j] - f; }\n"
	     "  for (var a = 0u; a < 2u; a++) { for (var b = 0u; b < 5u; b++) {\n"
	     "    acc[a][b] = MAC(ra[a], rb[b], acc[a][b]); } } }\n"
	     "y[i] = acc[0][0]; y[i + 256u] = acc[0][3]; y[i + 512u] = acc[1][2]; y[i + 768u] = "
	     "acc[1][1];}",
	/* vectors; a switch; a value that is only moved */
	HEAD "var s = vec4(w[i], 0.0, -w[i], 1.0); var last = 0.0;\n"
	     "for (var k = 0u; k < n; k += 4u) { let v = vec4(x[r + k], x[r + k + 1u], x[r + k + "
	     "2u], x[r + k + 3u]);\n"
	     "  switch p[k] % 3u { case 0u: { s = MAC(v, v, s); } case 1u: { s.y = MAC(v.x, w[k], "
	     "s.y); last = v.w; }\n"
	     "  default: { s = s - v; } } }\n"
	     "y[i] = s.x; y[i + 256u] = s.y; y[i + 512u] = s.z + s.w; y[i + 768u] = last;}",
	/* dense: tiles in workgroup memory */
	BUFFERS
	"var<workgroup> ta: array<f32, 64>; var<workgroup> tb: array<array<f32, 8>, 8>;\n"
	"@compute @workgroup_size(8, 8)\n"
	"fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>) "
	"{\n"
	"  var acc = 0.0;\n"
	"  for (var t = 0u; t < 40u; t += 8u) {\n"
	"    ta[l.y * 8u + l.x] = x[(g.x * 8u + l.y) * 40u + t + l.x]; tb[l.y][l.x] = w[(t + l.y) "
	"* 8u + l.x];\n"
	"    workgroupBarrier();\n"
	"    for (var k = 0u; k < 8u; k++) { acc = MAC(ta[l.y * 8u + k], tb[k][l.x], acc); }\n"
	"    workgroupBarrier();\n"
	"  }\n"
	"  y[g.x * 64u + l.y * 8u + l.x] = acc;\n}",
};
enum { N_LOOPS = sizeof(loops) / sizeof(loops[0]) };

/* MAC(a, b, c) becomes fma(a, b, c) or mac_(a, b, c) with overloads by hand: a * b + c. */
static void text_of(const char *loop, int is_fused, char *out, size_t size)
{
	size_t n = 0;

	while (*loop && n + 2 < size) {
		if (strncmp(loop, "MAC(", 4) != 0) {
			out[n++] = *loop++;
		} else if (is_fused) {
			n += (size_t)snprintf(out + n, size - n, "fma(");
			loop += 4;
		} else {
			int depth = 1, comma = 0;

			n += (size_t)snprintf(out + n, size - n, "((");
			for (loop += 4; depth && n + 8 < size; loop++) {
				depth += *loop == '(' || *loop == '[';
				depth -= *loop == ')' || *loop == ']';
				if (depth == 1 && *loop == ',')
					n += (size_t)snprintf(out + n, size - n, "%s",
							      comma++ ? ") + (" : ") * (");
				else if (depth)
					out[n++] = *loop;
			}
			n += (size_t)snprintf(out + n, size - n, "))");
		}
	}
	out[n] = 0;
}

static pctl_profile flushing(int has_fma)
{
	pctl_profile p = profile_of(PCTL_NATIVE_WRONG);

	p.native[PCTL_NATIVE_F32_ADD] = PCTL_NATIVE_NORMAL;
	p.native[PCTL_NATIVE_F32_SUB] = PCTL_NATIVE_NORMAL;
	p.native[PCTL_NATIVE_F32_MUL] = PCTL_NATIVE_NORMAL;
	if (has_fma)
		p.native[PCTL_NATIVE_F32_FMA] = PCTL_NATIVE_NORMAL;
	return p;
}

/* ---- what it looks like ------------------------------------------------------------------- */

/* Calls of forms and native operations of `main` between its first LOOP and that loop's end. */
static void look(const pctl_program *p, uint32_t *calls, uint32_t *natives, uint32_t *n_loops)
{
	const pctl_function *fn = &p->functions[p->entries[0].function];
	uint32_t depth = 0;

	*calls = *natives = *n_loops = 0;
	for (uint32_t v = 0; v < fn->n_insts; v++) {
		const uint16_t op = p->insts[fn->first_inst + v].op;

		*n_loops += op == PCTL_OP_LOOP && depth == 0;
		depth += op == PCTL_OP_LOOP;
		depth -= op == PCTL_OP_END_LOOP;
		if (*n_loops != 1 || !depth)
			continue;
		*calls += op == PCTL_OP_CALL;
		*natives += op == PCTL_OP_NADD || op == PCTL_OP_NMUL || op == PCTL_OP_NFMA;
	}
}

static void test_legalize_loop_version__twice(void **state)
{
	(void)state;
	/* the last has its loop within another */
	for (uint32_t i = 0; i + 1 < N_LOOPS; i++) {
		for (int fused = 0; fused < 2; fused++) {
			const pctl_profile profile = flushing(fused);
			uint32_t calls, natives, n_loops;
			pctl_program *made;
			legal_kernel k;
			char text[4096];

			text_of(loops[i], fused, text, sizeof(text));
			kernel_open(&k, text);
			made = kernel_legal(&k, DEVICE, &profile, 0);
			look(made, &calls, &natives, &n_loops);
			if (getenv("PCTL_TEST_PRINT")) {
				char *print = pctl_program_print(made);

				puts(print);
				free(print);
			}
			if (calls || natives < 2u - (unsigned)fused || n_loops != 2)
				fail_msg("loop %u, fused %d: %u loops, %u calls and %u native "
					 "operations in the first",
					 i, fused, n_loops, calls, natives);
			pctl_program_destroy(made);
			kernel_close(&k);
		}
	}
}

/* Number of instructions of the legalised program's LOOPs. */
static uint32_t loops_of(const char *text, const pctl_profile *profile)
{
	pctl_program *made;
	legal_kernel k;
	uint32_t n;

	kernel_open(&k, text);
	made = kernel_legal(&k, DEVICE, profile, 0);
	n = count_op(made, "main", PCTL_OP_LOOP);
	pctl_program_destroy(made);
	kernel_close(&k);
	return n;
}

static void test_legalize_loop_version__left_alone(void **state)
{
	const pctl_profile some = flushing(1), exact = profile_of(PCTL_NATIVE_EXACT),
			   wrong = profile_of(PCTL_NATIVE_WRONG);
	static const char sum[] = HEAD
		"var s = 0.0; for (var k = 0u; k < n; k++) { s = fma(x[k], w[k], s); } y[i] = s;}";
	static const char *const others[] = {
		/* proved without a test */
		HEAD "var s = 0.0; for (var k = 0u; k < n; k++) { let u = f32(k); s = fma(u, u, "
		     "s); } y[i] = s;}",
		/* three factors */
		HEAD "var s = 0.0; for (var k = 0u; k < n; k++) { s += x[k] * w[k] * x[k + 1u]; } "
		     "y[i] = s;}",
		/* what it does is seen elsewhere */
		HEAD
		"var s = 0.0; for (var k = 0u; k < n; k++) { s = fma(x[k], w[k], s); y[k] = s; }}",
		HEAD "var s = 0.0; for (var k = 0u; k < n; k++) { s = fma(x[k], w[k], s); if (k == "
		     "9u) { return; } } y[i] = s;}",
		"var<workgroup> t: array<f32, 8>;\n" HEAD
		"var s = 0.0; for (var k = 0u; k < 4u; k++) { s = fma(x[k], w[k], s); "
		"workgroupBarrier(); } y[i] = s;}",
		/* its way depends on what it computes */
		HEAD "var s = 0.0; for (var k = 0u; k < n && s < 9.0; k++) { s = fma(x[k], w[k], "
		     "s); } y[i] = s;}",
		HEAD "var s = 0.0; for (var k = 0u; k < n; k++) { s = fma(x[u32(s)], w[k], s); } "
		     "y[i] = s;}",
		HEAD "var s = 0.0; for (var k = 0u; k < n; k++) { s = fma(x[k], "
		     "w[bitcast<u32>(s)], s); } y[i] = s;}",
		/* more to test than to gain */
		HEAD "var s = 0.0; for (var k = 0u; k < n; k++) { s = x[k] + x[k + 1u] + x[k + 2u] "
		     "- x[k + 3u]; } y[i] = s;}",
	};

	(void)state;
	assert_int_equal(loops_of(sum, &some), 2);
	assert_int_equal(loops_of(sum, &exact), 1);
	assert_int_equal(loops_of(sum, &wrong), 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (loops_of(others[i], &some) != 1)
			fail_msg("%s\nhas more than one loop", others[i]);
}

/* ---- what it does ------------------------------------------------------------------------- */

/* Between 2^-4 and 2^4, of either sign. */
static uint32_t normal(uint64_t r)
{
	return 0x3d800000u + (uint32_t)(r % 0x04000000u) + ((uint32_t)(r >> 32) & 0x80000000u);
}

enum { PLAIN, ZERO_TRIPS, TINY, SUBNORMAL, EDGE, SPECIAL, ZERO, CLOSE, KINDS };

/* CLOSE: products that cancel, leaving only their last places. */
static uint32_t odd_one(uint32_t kind, uint32_t exponent, uint64_t r)
{
	static const uint32_t special[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc12345u,
					   0x7f800001u, 0x7f7fffffu, 0u,	  0x80000000u};
	const uint32_t sign = (uint32_t)(r >> 40) & 0x80000000u;

	switch (kind) {
	case TINY: /* the square of which is no normal number, mostly */
		return sign | ((uint32_t)(r % 0x22000000u));
	case SUBNORMAL:
		return sign | (uint32_t)(r % 0x00800000u);
	case ZERO:
		return sign;
	case CLOSE:
		return sign | (exponent + (uint32_t)(r % 4u));
	case EDGE: /* about the bounds of the tests */
		return sign |
		       (((r >> 33) & 1 ? 0x2b800000u : 0x0c000000u) + (uint32_t)(r % 8u) - 4u);
	default:
		return special[r % 8u];
	}
}

/* One of `every` is an odd one. */
static void fill(uint32_t *words, uint32_t n, uint32_t kind, uint32_t every, uint64_t seed)
{
	const uint32_t exponent = 0x20000000u + ((uint32_t)seed % 4u) * 0x03000000u;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t r = rig_random(seed, i);

		words[i] = normal(r);
		if (kind > ZERO_TRIPS && (r >> 20) % every == 0)
			words[i] = odd_one(kind, exponent, rig_random(seed + 100, i));
	}
}

static uint32_t in_x[WORDS], in_w[2048], in_p[THREADS], results[2][4 * THREADS];

static void compare(legal_kernel *k, rig *device, const pctl_program *made, uint32_t what)
{
	const rig_bytes there[2][4] = {{{in_x, sizeof(in_x), 0},
					{in_w, sizeof(in_w), 0},
					{in_p, sizeof(in_p), 0},
					{results[0], sizeof(results[0]), 0}},
				       {{in_x, sizeof(in_x), 0},
					{in_w, sizeof(in_w), 0},
					{in_p, sizeof(in_p), 0},
					{results[1], sizeof(results[1]), 0}}};

	memset(results, 0, sizeof(results));
	run_on(&k->r, k->p, there[0], 4, THREADS / 64);
	run_on(device, made, there[1], 4, THREADS / 64);
	for (uint32_t i = 0; i < 4 * THREADS; i++)
		if (results[0][i] != results[1][i])
			fail_msg("loop %u, data %u of seed %u: word %u is %08x as written, %08x on "
				 "%s",
				 what / 1000, what / 100 % 10, what % 100, i, results[0][i],
				 results[1][i], device->info.name);
}

/* Odd ones are a few in all, one a row, or many; in the products' factors, the sums' beginnings, or both. */
static void fill_all(uint32_t kind, uint32_t seed)
{
	static const uint32_t every_x[] = {40, 1, 1500, 3}, every_w[] = {20, 300, 1, 20};
	const uint32_t is_all = kind == ZERO || kind == CLOSE;

	fill(in_x, WORDS, is_all || seed != 1 ? kind : PLAIN, is_all ? 1 : every_x[seed],
	     8 * kind + seed);
	fill(in_w, 2048,
	     kind == ZERO	   ? SUBNORMAL
	     : is_all || seed != 2 ? kind
				   : PLAIN,
	     is_all ? 1 : every_w[seed], 8 * kind + seed + 4);
	for (uint32_t i = 0; i < THREADS; i++)
		in_p[i] = (uint32_t)(rig_random(seed, i) % (i < 4 ? 300 : ROW));
	if (kind == ZERO_TRIPS)
		memset(in_p, 0, sizeof(in_p));
}

static void on_device(uint32_t loop, int fused)
{
	const pctl_profile profile = flushing(fused);
	pctl_program *made;
	legal_kernel k;
	rig device;
	char text[4096];

	text_of(loops[loop], fused, text, sizeof(text));
	rig_open(&device, getenv("PCTL_TEST_PLUGIN"));
	kernel_open(&k, text);
	made = kernel_legal(&k, device.caps.caps, &profile, 0);
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		for (uint32_t seed = 0; seed < 4; seed++) {
			fill_all(kind, seed);
			compare(&k, &device, made, loop * 1000 + kind * 100 + seed);
		}
	}
	pctl_program_destroy(made);
	kernel_close(&k);
	rig_close(&device);
}

static void test_legalize_loop_version__device(void **state)
{
	int is_pocl;
	rig device;

	(void)state;
	if (!getenv("PCTL_TEST_PLUGIN"))
		return; /* the run on each driver, in tests/conform, names one */
	rig_open(&device, getenv("PCTL_TEST_PLUGIN"));
	is_pocl = strstr(device.info.name, "pthread") != NULL ||
		  strstr(device.info.driver, "pocl") != NULL ||
		  strstr(device.info.driver, "PoCL") != NULL;
	rig_close(&device);
	for (uint32_t i = 0; i < N_LOOPS; i++)
		for (int fused = 0; fused <= is_pocl; fused++)
			on_device(i, fused);
}

/* ---- what it is worth --------------------------------------------------------------------- */

enum { SIDE = 256, RUNS = 5 };

/* c = a b, SIDE by SIDE, tiles of 16 by 16 in workgroup memory, one element a thread. */
static const char product[] =
	"@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
	"@group(0) @binding(1) var<storage, read> b: array<f32>;\n"
	"@group(0) @binding(2) var<storage, read_write> c: array<f32>;\n"
	"var<workgroup> ta: array<array<f32, 16>, 16>; var<workgroup> tb: array<array<f32, 16>, "
	"16>;\n"
	"@compute @workgroup_size(16, 16)\n"
	"fn main(@builtin(workgroup_id) g: vec3<u32>, @builtin(local_invocation_id) l: vec3<u32>) "
	"{\n"
	"  let row = g.y * 16u + l.y; let column = g.x * 16u + l.x; var s = 0.0;\n"
	"  for (var t = 0u; t < 256u; t += 16u) {\n"
	"    ta[l.y][l.x] = a[row * 256u + t + l.x]; tb[l.y][l.x] = b[(t + l.y) * 256u + column];\n"
	"    workgroupBarrier();\n"
	"    for (var k = 0u; k < 16u; k++) { s = s + ta[l.y][k] * tb[k][l.x]; }\n"
	"    workgroupBarrier();\n"
	"  }\n"
	"  c[row * 256u + column] = s;\n}";

/* As pctl_legalise, each loop written once. */
static pctl_program *once(legal_kernel *k, const pctl_device_caps *caps,
			  const pctl_profile *profile)
{
	const pctl_program *module = NULL;
	legal_chooser *chooser = NULL;
	pctl_program *out = NULL;

	rig_must(&k->r, legal_softfloat_float(k->forms, &k->r.call, &module), "the forms");
	rig_must(&k->r, legal_chooser_create(profile, caps, 0, module, &k->r.call, &chooser),
		 "choosing");
	rig_must(&k->r, legal_float_pass(k->p, NULL, NULL, chooser, module, &k->r.call, &out),
		 "legalising");
	legal_chooser_destroy(chooser);
	return out;
}

static double seconds_of(rig *device, const pctl_program *p, uint32_t *a, uint32_t *b, uint32_t *c)
{
	const rig_bytes arrays[3] = {
		{a, SIDE * SIDE * 4, 0}, {b, SIDE * SIDE * 4, 0}, {c, SIDE * SIDE * 4, 0}};
	const uint32_t groups[3] = {SIDE / 16, SIDE / 16, 1};
	struct timespec from, to;
	double best = 1e9;
	pctl_binding bindings[3] = {0};
	rig_program wire = {0};
	pctl_kernel *kernel;

	rig_must(device, pctl_program_encode(p, &device->call, &wire.wire, &wire.n),
		 "its wire form");
	kernel = rig_build(device, wire.wire, wire.n, 0);
	for (uint32_t i = 0; i < 3; i++) {
		bindings[i].binding = i;
		bindings[i].n_bytes = arrays[i].n_bytes;
		rig_must(device,
			 device->api->buffer_create(device->dev, &device->call, arrays[i].n_bytes,
						    PCTL_BUFFER_TRANSFER | PCTL_BUFFER_STORAGE,
						    &bindings[i].buffer),
			 "a buffer");
		rig_must(device,
			 device->api->buffer_write(device->dev, &device->call, bindings[i].buffer,
						   0, arrays[i].data, arrays[i].n_bytes),
			 "writing");
	}
	for (uint32_t i = 0; i < RUNS; i++) {
		double now;

		clock_gettime(CLOCK_MONOTONIC, &from);
		rig_dispatch(device, kernel, bindings, 3, groups);
		clock_gettime(CLOCK_MONOTONIC, &to);
		now = (double)(to.tv_sec - from.tv_sec) +
		      1e-9 * (double)(to.tv_nsec - from.tv_nsec);
		best = now < best ? now : best;
	}
	rig_must(device,
		 device->api->buffer_read(device->dev, &device->call, bindings[2].buffer, 0, c,
					  arrays[2].n_bytes),
		 "reading");
	for (uint32_t i = 0; i < 3; i++)
		device->api->buffer_destroy(device->dev, bindings[i].buffer);
	device->api->kernel_destroy(device->dev, kernel);
	free(wire.wire);
	return best;
}

/* Both ways give the same; how long they take is printed. */
static void test_legalize_loop_version__price(void **state)
{
	static uint32_t a[SIDE * SIDE], b[SIDE * SIDE], c[3][SIDE * SIDE];
	const pctl_profile profile = flushing(0);
	pctl_program *made[3];
	double seconds[3];
	legal_kernel k;
	rig device;

	(void)state;
	if (!getenv("PCTL_TEST_PLUGIN") || !getenv("PCTL_TEST_PRICE"))
		return; /* a measurement, by hand */
	rig_open(&device, getenv("PCTL_TEST_PLUGIN"));
	kernel_open(&k, product);
	fill(a, SIDE * SIDE, PLAIN, 1, 1);
	fill(b, SIDE * SIDE, PLAIN, 1, 2);
	made[0] = once(&k, &device.caps, &profile);
	made[1] = kernel_legal(&k, device.caps.caps, &profile, 0);
	made[2] = kernel_legal(&k, device.caps.caps, &profile, PCTL_LEGAL_NATIVE);
	for (uint32_t i = 0; i < 3; i++) {
		seconds[i] = seconds_of(&device, made[i], a, b, c[i]);
		pctl_program_destroy(made[i]);
	}
	fprintf(stderr,
		"%s: guarded %.4f s, twice %.4f s, native %.4f s; guarded / twice %.2f, twice / "
		"native %.2f\n",
		device.info.name, seconds[0], seconds[1], seconds[2], seconds[0] / seconds[1],
		seconds[1] / seconds[2]);
	assert_memory_equal(c[0], c[1], sizeof(c[0]));
	kernel_close(&k);
	rig_close(&device);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_legalize_loop_version__twice),
		PCTL_TEST(test_legalize_loop_version__left_alone),
		PCTL_TEST(test_legalize_loop_version__device),
		PCTL_TEST(test_legalize_loop_version__price))
