/* Programs that are all addresses, for the tests of what is hoisted, numbered and checked once: from a seed, loops inside each
 * other over buffers of any length, indices that are affine in their variables and often outside, uniforms, loads and stores in
 * any order, barriers, ways out of loops. An invocation writes words of its own only. */
#ifndef PIPECTL_TESTS_LEGAL_SIMPLIFY_H
#define PIPECTL_TESTS_LEGAL_SIMPLIFY_H

#include <stdarg.h>
#include <stdlib.h>

#include "rig.h"

enum { ADDRESS_LANES = 32, ADDRESS_WORDS = 16, ADDRESS_TEXT = 1 << 15, ADDRESS_BUFFERS = 4 };

typedef struct address_writer {
	char *text;
	uint32_t n, loops, fuel, is_uniform;
	uint64_t seed, counter;
} address_writer;

static inline uint32_t address_pick(address_writer *w, uint32_t n)
{
	return (uint32_t)((rig_random(w->seed, w->counter++) >> 16) % n);
}

__attribute__((format(printf, 2, 3))) static inline void address_say(address_writer *w,
								     const char *format, ...)
{
	va_list args;

	va_start(args, format);
	w->n += (uint32_t)vsnprintf(w->text + w->n, ADDRESS_TEXT - w->n, format, args);
	va_end(args);
	assert_true(w->n < ADDRESS_TEXT - 1024);
}

/* A loop's variable, or what does not change in it. */
static inline void address_term(address_writer *w)
{
	static const char *const terms[] = {"i", "l", "u.n",	 "u.k",
					    "x", "y", "u.spare", "(y & 3u)"};

	if (w->loops && address_pick(w, 2))
		address_say(w, "j%u", address_pick(w, w->loops));
	else
		address_say(w, "%s", terms[address_pick(w, 8)]);
}

static inline void address_index(address_writer *w)
{
	switch (address_pick(w, 7)) {
	case 0:
		address_term(w);
		break;
	case 1:
		address_say(w, "i * u.k + ");
		address_term(w);
		break;
	case 2:
		address_term(w);
		address_say(w, " * %uu + ", address_pick(w, 6));
		address_term(w);
		break;
	case 3:
		address_say(w, "(u.s + ");
		address_term(w);
		address_say(w, ") * u.k + ");
		address_term(w);
		break;
	case 4:
		address_say(w, "(");
		address_term(w);
		address_say(w, " << %uu) + %uu", address_pick(w, 4), address_pick(w, 4));
		break;
	case 5:
		address_say(w, "(");
		address_term(w);
		address_say(w, " & 31u) + ");
		address_term(w);
		address_say(w, " / 3u");
		break;
	default:
		/* Wraps around. */
		address_term(w);
		address_say(w, " * 0x%xu + ", address_pick(w, 2) ? 0x40000000u : 0xffffffffu);
		address_term(w);
	}
}

static inline void address_simple(address_writer *w)
{
	switch (address_pick(w, 10)) {
	case 0:
		address_say(w, "y ^= (x - i) * 3u + (i - x); x += (y & 0u) + (y | 0u);\n");
		break;
	case 1:
		address_say(w, "x += a[");
		address_index(w);
		address_say(w, "];\n");
		break;
	case 2:
		address_say(w, "y ^= c[");
		address_index(w);
		address_say(w, "].%c;\n", "xyzw"[address_pick(w, 4)]);
		break;
	case 3:
		address_say(w, "b[i * 16u + ((");
		address_index(w);
		address_say(w, ") & 15u)] = x;\n");
		break;
	case 4:
		address_say(w, "x += b[i * 16u + ((");
		address_index(w);
		address_say(w, ") & 15u)];\n");
		break;
	case 5:
		address_say(w, "t[");
		address_index(w);
		address_say(w, "] += x; y += t[");
		address_index(w);
		address_say(w, "];\n");
		break;
	case 6:
		address_say(w, "y = y * 5u + arrayLength(&a) - ");
		address_index(w);
		address_say(w, ";\n");
		break;
	case 7:
		address_say(w, "b[i * 16u + (x & 15u)] += y; y = ");
		address_index(w);
		address_say(w, ";\n");
		break;
	case 8:
		address_say(w, "x += a[i * u.k + u.s]; b[i * 16u + 5u] = x * (i * u.k);\n");
		break;
	default:
		if (w->is_uniform)
			address_say(w,
				    "w[l] = x; workgroupBarrier(); x += w[(l + %uu) %% 8u]; "
				    "workgroupBarrier();\n",
				    address_pick(w, 8));
		else
			address_say(w, "x ^= u.s + w[l];\n");
	}
}

static inline void address_block(address_writer *w, uint32_t depth)
{
	const uint32_t n = 1 + address_pick(w, 4), is_uniform = w->is_uniform;

	for (uint32_t s = 0; s < n; s++) {
		const uint32_t j = w->loops, pick = address_pick(w, 8);

		if (w->fuel)
			w->fuel--;
		if (!depth || !w->fuel || pick < 4) {
			address_simple(w);
		} else if (pick < 7) {
			static const char *const ends[] = {"u.n", "min(u.n, 9u)", "6u",
							   "(u.n & 7u)", "(i & 3u) + 1u"};
			const uint32_t end = address_pick(w, 5);

			w->is_uniform = is_uniform && end < 4;
			address_say(w, "for (var j%u = %s; j%u < %s; j%u++) {\n", j,
				    address_pick(w, 3) ? "0u" : "u.s & 3u", j, ends[end], j);
			w->loops++;
			address_block(w, depth - 1);
			if (address_pick(w, 6) == 0 && !w->is_uniform)
				address_say(w, "if (x %% 5u == 0u) { %s; }\ny += 3u;\n",
					    address_pick(w, 2) ? "break" : "continue");
			w->loops--;
			address_say(w, "}\n");
			w->is_uniform = is_uniform;
		} else {
			w->is_uniform = 0;
			address_say(w, "if (x %% 3u == %uu) {\n", address_pick(w, 3));
			address_block(w, depth - 1);
			if (address_pick(w, 2)) {
				address_say(w, "} else {\n");
				address_block(w, depth - 1);
			}
			address_say(w, "}\n");
			w->is_uniform = is_uniform;
		}
	}
}

static inline void address_program(address_writer *w)
{
	address_say(w, "//# max u.n = 12\n"
		       "struct U { n: u32, k: u32, s: u32, spare: u32 }\n"
		       "@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
		       "@group(0) @binding(1) var<storage, read_write> b: array<u32>;\n"
		       "@group(0) @binding(2) var<storage, read> c: array<vec4<u32>>;\n"
		       "@group(0) @binding(3) var<uniform> u: U;\n"
		       "var<workgroup> w: array<u32, 8>;\n"
		       "@compute @workgroup_size(8)\n"
		       "fn main(@builtin(global_invocation_id) g: vec3<u32>,\n"
		       "@builtin(local_invocation_index) l: u32) {\n"
		       "let i = g.x; var x = i + 1u; var y = a[i]; var t: array<u32, 8>;\n");
	w->fuel = 24;
	w->is_uniform = 1;
	for (uint32_t s = 0; s < 3; s++)
		address_block(w, 3);
	address_say(w, "b[i * 16u] ^= x; b[i * 16u + 1u] += y; b[i * 16u + 2u] ^= t[x & 7u];\n}\n");
}

/* Of one program: what it runs on. */
typedef struct address_data {
	uint32_t a[40], b[ADDRESS_LANES * ADDRESS_WORDS], c[4 * 20], u[4];
	rig_bytes arrays[ADDRESS_BUFFERS];
} address_data;

static inline void address_fill(address_data *d, uint64_t seed)
{
	memset(d, 0, sizeof(*d));
	for (uint32_t i = 0; i < 40; i++)
		d->a[i] = (uint32_t)rig_random(seed, 100 + i);
	for (uint32_t i = 0; i < 80; i++)
		d->c[i] = (uint32_t)rig_random(seed, 200 + i);
	d->u[0] = (uint32_t)(rig_random(seed, 300) >> 40) % 13;
	d->u[1] = (uint32_t)(rig_random(seed, 301) >> 40) % 7;
	d->u[2] = (uint32_t)(rig_random(seed, 302) >> 40) % 5;
	d->arrays[0] = (rig_bytes){d->a, sizeof(d->a) - 4 * (seed % 9), 0};
	d->arrays[1] = (rig_bytes){d->b, sizeof(d->b), 0};
	d->arrays[2] = (rig_bytes){d->c, sizeof(d->c) - 16 * (seed % 7), 0};
	d->arrays[3] = (rig_bytes){d->u, sizeof(d->u), 1};
}

#endif
