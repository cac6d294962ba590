/* Programs that are all control for the test of flattening: from a seed, conditions, switches and loops inside each
 * other with jumps out of them, calls, values that live on behind what was nested, accesses outside of arrays, atomics
 * and, in uniform control flow, barriers. */
#ifndef PIPECTL_TESTS_LEGAL_FLATTEN_H
#define PIPECTL_TESTS_LEGAL_FLATTEN_H

#include <stdarg.h>
#include <stdlib.h>

#include "rig.h"

enum { FLAT_LANES = 64, FLAT_WORDS = 8, FLAT_TEXT = 1 << 16 };

typedef struct flat_writer {
	char *text;
	uint32_t n;
	uint64_t seed, counter;
	uint32_t names, loops, fuel;
	uint32_t lets[64], n_lets;
	int in_loop, breakable, is_uniform, in_main, functions;
} flat_writer;

static inline uint32_t flat_pick(flat_writer *w, uint32_t n)
{
	return (uint32_t)((rig_random(w->seed, w->counter++) >> 16) % n);
}

__attribute__((format(printf, 2, 3))) static inline void flat_say(flat_writer *w,
								  const char *format, ...)
{
	va_list args;

	va_start(args, format);
	w->n += (uint32_t)vsnprintf(w->text + w->n, FLAT_TEXT - w->n, format, args);
	va_end(args);
	assert_true(w->n < FLAT_TEXT - 1024);
}

/* Sees what it must not see where it is evaluated although it should not be: a function has effects. */
static inline void flat_condition(flat_writer *w)
{
	const uint32_t k = flat_pick(w, 16);

	if (w->is_uniform) {
		flat_say(w, "((u.%c >> %uu) & 3u) != %uu", "xyzw"[k % 4], flat_pick(w, 8),
			 flat_pick(w, 4));
		return;
	}
	switch (flat_pick(w, 6)) {
	case 0:
		flat_say(w, "a[(x ^ %uu) & 63u] > y", k);
		break;
	case 1:
		flat_say(w, "x %% %uu != 0u && a[y %% 80u] %% 3u < 2u", 2 + k % 4);
		break;
	case 2:
		if (w->functions) {
			flat_say(w, "(y & %uu) == 0u || f%u(x, y) %% 5u > 1u", 1 + k % 7,
				 flat_pick(w, (uint32_t)w->functions));
			break;
		}
		/* fallthrough */
	default:
		flat_say(w, "((x >> %uu) & 3u) != %uu", flat_pick(w, 12), flat_pick(w, 4));
	}
}

static inline void flat_simple(flat_writer *w)
{
	const uint32_t k = flat_pick(w, 1000);

	switch (flat_pick(w, 8)) {
	case 0:
		flat_say(w, "y = y ^ (x / (y & 3u)); p = p * 5u + %uu;\n", k);
		break;
	case 1:
		flat_say(w, "atomicAdd(&t[x & 7u], %uu);\n", k);
		break;
	case 2:
		if (w->in_main)
			flat_say(w, "r[i * 8u + (y & 7u)] = x; r[1000000u + x] = %uu;\n", k);
		else
			flat_say(w, "p += x;\n");
		break;
	case 3:
		flat_say(w, "let v%u = x * %uu + y;\n", w->names, k | 1);
		if (w->n_lets < 64)
			w->lets[w->n_lets++] = w->names;
		w->names++;
		break;
	case 4:
		if (w->n_lets)
			flat_say(w, "x ^= v%u + %uu;\n", w->lets[flat_pick(w, w->n_lets)], k);
		break;
	case 5:
		if (w->functions)
			flat_say(w, "x += f%u(y, x ^ %uu);\n", flat_pick(w, (uint32_t)w->functions),
				 k);
		break;
	default:
		flat_say(w, "x = x * 31u + a[(x ^ %uu) %% 90u] + %uu;\n", k, k);
	}
}

static inline void flat_jump(flat_writer *w)
{
	const uint32_t k = flat_pick(w, 3);

	if (w->is_uniform)
		return;
	if (k == 0 && w->in_loop)
		flat_say(w, "continue;\n");
	else if (k == 1 && w->breakable)
		flat_say(w, "break;\n");
	else if (w->in_main)
		flat_say(w, "return;\n");
	else
		flat_say(w, "return x ^ %uu;\n", flat_pick(w, 99));
}

static inline void flat_block(flat_writer *w, int depth);

static inline void flat_loop(flat_writer *w, int depth)
{
	const int in_loop = w->in_loop, breakable = w->breakable;
	const uint32_t name = w->names++, n = 1 + flat_pick(w, 3);

	w->loops++;
	w->in_loop = w->breakable = 1;
	switch (flat_pick(w, 3)) {
	case 0:
		flat_say(w, "let n%u = min(x & 3u, %uu);\nfor (var k%u = 0u; k%u < n%u; k%u++) {\n",
			 name, n, name, name, name, name);
		flat_block(w, depth - 1);
		flat_say(w, "}\n");
		break;
	case 1:
		flat_say(w, "for (var k%u = 0u; k%u < %uu && (", name, name, n);
		flat_condition(w);
		flat_say(w, "); k%u++) {\n", name);
		flat_block(w, depth - 1);
		flat_say(w, "}\n");
		break;
	default:
		flat_say(w, "for (var k%u = %uu; k%u > 0u; k%u -= 1u) {\n", name, n, name, name);
		flat_block(w, depth - 1);
		flat_say(w, "}\n");
	}
	w->loops--;
	w->in_loop = in_loop;
	w->breakable = breakable;
}

static inline void flat_switch(flat_writer *w, int depth)
{
	const int breakable = w->breakable;
	const char *on = w->is_uniform ? "u.x" : "x";

	w->breakable = 1;
	flat_say(w, "switch (%s %% 5u) {\ncase 0u, 3u: {\n", on);
	flat_block(w, depth - 1);
	flat_say(w, "}\ncase 2u: { }\n");
	if (flat_pick(w, 2)) {
		flat_say(w, "case 1u: {\n");
		flat_block(w, depth - 1);
		flat_say(w, "}\n");
	}
	flat_say(w, "default: {\n");
	flat_block(w, depth - 1);
	flat_say(w, "}\n}\n");
	w->breakable = breakable;
}

static inline void flat_statement(flat_writer *w, int depth)
{
	const uint32_t pick = flat_pick(w, 20);

	if (w->fuel)
		w->fuel--;
	if (!depth || !w->fuel || pick < 8) {
		flat_simple(w);
	} else if (pick < 11 && w->loops < 2) {
		flat_loop(w, depth);
	} else if (pick < 13) {
		flat_switch(w, depth);
	} else if (pick == 13) {
		flat_say(w, "{\n");
		flat_block(w, depth - 1);
		flat_say(w, "}\n");
	} else if (pick == 14 && w->is_uniform) {
		flat_say(w, "w[l] = x; workgroupBarrier(); x += w[7u - l]; workgroupBarrier();\n");
	} else {
		flat_say(w, "if (");
		flat_condition(w);
		flat_say(w, ") {\n");
		flat_block(w, depth - 1);
		if (flat_pick(w, 2)) {
			flat_say(w, "} else {\n");
			flat_block(w, depth - 1);
		}
		flat_say(w, "}\n");
	}
}

static inline void flat_block(flat_writer *w, int depth)
{
	const uint32_t lets = w->n_lets, n = 1 + flat_pick(w, 3);

	for (uint32_t i = 0; i < n; i++)
		flat_statement(w, depth);
	if (depth && flat_pick(w, 4) == 0)
		flat_jump(w);
	w->n_lets = lets;
}

static inline void flat_program(flat_writer *w, int depth)
{
	const int functions = (int)flat_pick(w, 3);

	flat_say(w, "@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
		    "@group(0) @binding(1) var<storage, read_write> r: array<u32>;\n"
		    "@group(0) @binding(2) var<storage, read_write> t: array<atomic<u32>>;\n"
		    "@group(0) @binding(3) var<uniform> u: vec4<u32>;\n"
		    "var<private> p: u32; var<workgroup> w: array<u32, 8>;\n");
	for (int f = 0; f < functions; f++) {
		flat_say(w, "fn f%d(c: u32, d: u32) -> u32 { var x = c; var y = d;\n", f);
		w->functions = f;
		w->fuel = 12;
		/* A function is called where there are loops already. */
		w->loops = 1;
		flat_block(w, depth / 2);
		w->loops = 0;
		flat_say(w, "return x + y;\n}\n");
	}
	w->functions = functions;
	flat_say(w, "@compute @workgroup_size(8)\n"
		    "fn main(@builtin(global_invocation_id) g: vec3<u32>,\n"
		    "@builtin(local_invocation_index) l: u32) {\n"
		    "let i = g.x; var x = a[i]; var y = a[63u - i];\n");
	w->in_main = 1;
	w->is_uniform = 1;
	w->fuel = 16;
	for (int i = 0; i < 2; i++)
		flat_statement(w, depth / 2);
	w->is_uniform = 0;
	w->fuel = 60;
	for (int i = 0; i < 3; i++)
		flat_statement(w, depth);
	flat_say(w, "r[i * 8u] = x; r[i * 8u + 1u] ^= y; r[i * 8u + 2u] += p;\n}\n");
}

#endif
