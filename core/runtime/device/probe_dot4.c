/* Products of packed bytes by an instruction of the device's own (PCTL_CAP_DOT4): is it the sum of four products, whatever
 * stands around it? What is not shown to be right is written by ordinary integers at little cost. optional.h keeps the
 * answer. */
#include <stdlib.h>

#include "runtime/device/probe_private.h"

#define N_DOT4 4096u
#define N_RESULTS 8u

static const char text[] =
	"struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
	"@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
	"@group(0) @binding(2) var<uniform> u : Counts;\n"
	"fn both(x : u32, y : u32) -> u32 {\n"
	"  return bitcast<u32>(dot4I8Packed(x, y)) ^ dot4U8Packed(y, x); }\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
	"  let i = id.x;\n  if (i >= u.n) { return; }\n"
	"  let x = a[2u * i];\n  let y = a[2u * i + 1u];\n"
	"  r[8u * i] = bitcast<u32>(dot4I8Packed(x, y));\n"
	"  r[8u * i + 1u] = dot4U8Packed(x, y);\n"
	"  r[8u * i + 2u] = bitcast<u32>(dot4I8Packed(x, 0x80ff7f01u) + bitcast<i32>(y));\n"
	"  r[8u * i + 3u] = y - dot4U8Packed(0xff80017fu, x);\n"
	"  r[8u * i + 4u] = both(y, x);\n"
	"  var s = bitcast<i32>(x);\n  var t = y;\n"
	"  for (var k = 0u; k < 6u; k++) {\n"
	"    if (k >= u.loops) { break; }\n"
	"    s += dot4I8Packed(x ^ t, y + k);\n    t = dot4U8Packed(t, x) + bitcast<u32>(s);\n  }\n"
	"  r[8u * i + 5u] = bitcast<u32>(s) ^ t;\n"
	/* Unsigned by signed bytes on top of a sum that wraps, as plans write them: devices may have that as one instruction. */
	"  var m = bitcast<i32>(y | 0x7fff0000u);\n  var w = bitcast<i32>(x);\n"
	"  for (var k = 0u; k < 6u; k++) {\n    if (k >= u.loops) { break; }\n"
	"    let v = u.n * 0xfe01u + k;\n"
	"    m += dot4I8Packed((x + k) ^ 0x80808080u, y) - dot4I8Packed(0x80808080u, y);\n"
	"    w += dot4I8Packed(v ^ 0x80808080u, y + k) - dot4I8Packed(0x80808080u, y + k);\n"
	"    w += dot4I8Packed((y ^ k) ^ 0x80808080u, v) - dot4I8Packed(0x80808080u, v);\n  }\n"
	"  r[8u * i + 6u] = bitcast<u32>(m);\n  r[8u * i + 7u] = bitcast<u32>(w);\n}\n";

static uint32_t operand(uint32_t i, uint32_t k)
{
	static const uint32_t edges[] = {0,	     1,		 0x80,	     0xff,
					 0x7f,	     0x8000,	 0x80000000, 0xffffffff,
					 0x80808080, 0x7f7f7f7f, 0xff00ff,   0x80ff7f01};
	const uint32_t n = sizeof(edges) / sizeof(edges[0]);

	if (i < n * n)
		return edges[k ? i / n : i % n];
	return (uint32_t)probe_random(0x5f00000000u + (uint64_t)i * 2 + k);
}

/* Products one at a time, as the definition has them. */
static uint32_t dot4(uint32_t x, uint32_t y, int is_signed)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < 32; k += 8) {
		const int64_t p = (x >> k) & 0xff, q = (y >> k) & 0xff;

		sum += is_signed ? (p - (p > 127 ? 256 : 0)) * (q - (q > 127 ? 256 : 0)) : p * q;
	}
	return (uint32_t)sum;
}

static uint32_t mixed(uint32_t x, uint32_t y)
{
	int64_t sum = 0;

	for (uint32_t k = 0; k < 32; k += 8)
		sum += (int64_t)((x >> k) & 0xff) * (int8_t)((y >> k) & 0xff);
	return (uint32_t)sum;
}

static void expected(uint32_t x, uint32_t y, uint32_t out[N_RESULTS])
{
	uint32_t s = x, t = y;

	out[0] = dot4(x, y, 1);
	out[1] = dot4(x, y, 0);
	out[2] = dot4(x, 0x80ff7f01u, 1) + y;
	out[3] = y - dot4(0xff80017fu, x, 0);
	out[4] = dot4(y, x, 1) ^ dot4(x, y, 0);
	for (uint32_t k = 0; k < 6; k++) {
		s += dot4(x ^ t, y + k, 1);
		t = dot4(t, x, 0) + s;
	}
	out[5] = s ^ t;
	out[6] = y | 0x7fff0000u;
	out[7] = x;
	for (uint32_t k = 0; k < 6; k++) {
		const uint32_t v = N_DOT4 * 0xfe01u + k;

		out[6] += mixed(x + k, y);
		out[7] += mixed(v, y + k) + mixed(y ^ k, v);
	}
}

pctl_status pctl_probe_dot4(const pctl_backend *table, pctl_device *dev,
			    const pctl_device_caps *caps, const pctl_call *call, int *exact)
{
	probe p = {.table = table,
		   .dev = dev,
		   .caps = caps,
		   .call = call,
		   .timeout_ns = PROBE_OPTIONAL_NS};
	uint32_t *in = calloc(N_DOT4 * 2, 4), *out = calloc(N_DOT4 * N_RESULTS, 4);
	uint32_t want[N_RESULTS];

	*exact = 0;
	if (in == NULL || out == NULL) {
		p.status = pctl_no_memory(call, "a probe");
		goto out;
	}
	for (uint32_t i = 0; i < N_DOT4 * 2; i++)
		in[i] = operand(i / 2, i % 2);
	if (!probe_run(&p, text, 0, N_DOT4, in, N_DOT4 * 2, out, N_DOT4 * N_RESULTS))
		goto out;
	*exact = 1;
	for (uint32_t i = 0; i < N_DOT4; i++) {
		expected(in[2 * i], in[2 * i + 1], want);
		for (uint32_t k = 0; k < N_RESULTS; k++)
			*exact &= out[i * N_RESULTS + k] == want[k];
	}
out:
	free(in);
	free(out);
	return p.status;
}
