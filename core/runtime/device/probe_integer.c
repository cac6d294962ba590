/* Integers, atomics and barriers: what every program stands on. Expectations come from the scalar evaluator of
 * core/compiler, atomics and barriers are judged by what must be left in memory whatever the order was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/probe_private.h"
#include "compiler/eval/eval.h"
#include "compiler/wgsl/wgsl.h"

#define N_INTEGER 8192u
#define N_SHARED 4096u

struct operation {
	uint16_t op;
	uint8_t result; /* 0: the operand's type */
	const char *text;
};

/* `y` is of the operands' type, `n` a u32. */
static const struct operation operations[] = {
	{PCTL_OP_ADD, 0, "x + y"},
	{PCTL_OP_SUB, 0, "x - y"},
	{PCTL_OP_MUL, 0, "x * y"},
	{PCTL_OP_DIV_WGSL, 0, "x / y"},
	{PCTL_OP_MOD, 0, "x % y"},
	{PCTL_OP_AND, 0, "x & y"},
	{PCTL_OP_OR, 0, "x | y"},
	{PCTL_OP_XOR, 0, "x ^ y"},
	{PCTL_OP_NOT, 0, "~x"},
	{PCTL_OP_SHL, 0, "x << (n & (%u))"},
	{PCTL_OP_SHR, 0, "x >> (n & (%u))"},
	{PCTL_OP_MIN, 0, "min(x, y)"},
	{PCTL_OP_MAX, 0, "max(x, y)"},
	{PCTL_OP_POPCOUNT, 0, "countOneBits(x)"},
	{PCTL_OP_CLZ, 0, "countLeadingZeros(x)"},
	{PCTL_OP_CTZ, 0, "countTrailingZeros(x)"},
	{PCTL_OP_REVERSE, 0, "reverseBits(x)"},
	{PCTL_OP_FIRST_LEADING, 0, "firstLeadingBit(x)"},
	{PCTL_OP_FIRST_TRAILING, 0, "firstTrailingBit(x)"},
	{PCTL_OP_EQ, PCTL_SCALAR_BOOL, "x == y"},
	{PCTL_OP_LT, PCTL_SCALAR_BOOL, "x < y"},
	{PCTL_OP_LE, PCTL_SCALAR_BOOL, "x <= y"},
};
#define N_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static uint64_t operand(uint32_t i, uint32_t k)
{
	static const uint64_t edges[] = {0,	     1,		 2,	     UINT64_MAX,
					 INT64_MAX,  1ull << 63, UINT32_MAX, INT32_MAX,
					 1ull << 31, 1ull << 32, 0xffff,     3};
	const uint32_t n = sizeof(edges) / sizeof(edges[0]);
	const uint64_t r = probe_random(0x2f00000000u + (uint64_t)i * 4 + k);

	if (i < n * n)
		return edges[k ? i / n : i % n];
	return r >> (probe_random(r) & 63);
}

static void lower_fact(probe *p, uint32_t fact, const char *text, uint64_t x, uint64_t y,
		       uint64_t got, uint64_t want)
{
	if (p->out->facts[fact] == PCTL_NATIVE_WRONG)
		return;
	p->out->facts[fact] = PCTL_NATIVE_WRONG;
	snprintf(p->out->fact_witness[fact].text, sizeof(pctl_witness),
		 "%s: x=0x%" PRIx64 " y=0x%" PRIx64 " gave 0x%" PRIx64 ", not 0x%" PRIx64, text, x,
		 y, got, want);
}

static char *arithmetic_text(uint8_t scalar)
{
	const uint32_t bits = pctl_scalar_bits(scalar);
	const char *t = pctl_scalar_name(scalar);
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	probe_frame(&s, 0);
	pctl_str_add(&s,
		     "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id : "
		     "vec3<u32>) {\n"
		     "  let i = id.x;\n  if (i >= u.n) { return; }\n  let n = a[4u * i + 2u];\n");
	for (uint32_t k = 0; k < 2; k++) {
		if (bits == 64)
			pctl_str_addf(&s,
				      "  let %c = bitcast<%s>(vec2<u32>(a[4u * i + %uu], a[4u * i "
				      "+ %uu]));\n",
				      "xy"[k], t, 2 * k, 2 * k + 1);
		else
			pctl_str_addf(&s, "  let %c = bitcast<%s>(a[4u * i + %uu]);\n", "xy"[k], t,
				      2 * k);
	}
	for (uint32_t k = 0; k < N_OPERATIONS; k++) {
		char at[64], e[96], mask[16];
		const char *percent = strstr(operations[k].text, "%u");

		snprintf(at, sizeof(at), "2u * (%" PRIu32 "u * u.n + i)", k);
		snprintf(mask, sizeof(mask), "%" PRIu32 "u", bits - 1);
		if (percent != NULL)
			snprintf(e, sizeof(e), "%.*s%s%s", (int)(percent - operations[k].text),
				 operations[k].text, mask, percent + 2);
		else
			snprintf(e, sizeof(e), "%s", operations[k].text);
		/* Two words move like those of a 64-bit float. */
		probe_write_text(&s,
				 operations[k].result ? operations[k].result
				 : bits == 64	      ? PCTL_SCALAR_F64
						      : PCTL_SCALAR_U32,
				 e, at);
	}
	pctl_str_add(&s, "}\n");
	return pctl_str_finish(&s);
}

static void arithmetic(probe *p, uint8_t scalar, uint32_t fact)
{
	const uint64_t in_words = (uint64_t)N_INTEGER * 4,
		       out_words = (uint64_t)N_INTEGER * N_OPERATIONS * 2;
	const uint32_t bits = pctl_scalar_bits(scalar);
	const uint64_t mask = bits == 64 ? UINT64_MAX : UINT32_MAX;
	uint32_t *in = calloc(in_words, 4), *out = calloc(out_words, 4);
	char *text = arithmetic_text(scalar);

	if (text == NULL || in == NULL || out == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
		goto out;
	}
	for (uint32_t i = 0; i < N_INTEGER; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			in[4 * i + 2 * k] = (uint32_t)operand(i, k);
			in[4 * i + 2 * k + 1] = (uint32_t)(operand(i, k) >> 32);
		}
	}
	/* The amount of a shift is y's low word, which 32-bit operands have at this very place. */
	if (!probe_run(p, text, 0, N_INTEGER, in, in_words, out, out_words)) {
		if (p->status == PCTL_OK)
			lower_fact(p, fact, "the device builds no kernel", 0, 0, 0, 0);
		goto out;
	}
	if (p->out->facts[fact] == PCTL_NATIVE_ABSENT)
		p->out->facts[fact] = PCTL_NATIVE_EXACT;
	for (uint32_t k = 0; k < N_OPERATIONS; k++) {
		for (uint32_t i = 0; i < N_INTEGER; i++) {
			const uint64_t at = ((uint64_t)k * N_INTEGER + i) * 2;
			const int shift =
				operations[k].op == PCTL_OP_SHL || operations[k].op == PCTL_OP_SHR;
			uint64_t args[2] = {operand(i, 0) & mask, operand(i, 1) & mask};
			uint64_t got = out[at], want;

			if (bits == 64 && !operations[k].result)
				got |= (uint64_t)out[at + 1] << 32;
			if (shift)
				args[1] = in[4 * i + 2] & (bits - 1);
			pctl_eval(operations[k].op,
				  operations[k].result ? operations[k].result : scalar, scalar,
				  args, &want);
			p->out->cases++;
			if (got != want)
				lower_fact(p, fact, operations[k].text, args[0], args[1], got,
					   want);
		}
	}
out:
	free(text);
	free(in);
	free(out);
}

static const char atomics_text[] =
	"struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
	"@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> r : array<atomic<u32>>;\n"
	"@group(0) @binding(2) var<uniform> u : Counts;\n"
	"@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
	"  let i = id.x;\n  if (i >= u.n) { return; }\n"
	"  let before = atomicAdd(&r[0], 1u);\n"
	"  atomicSub(&r[1], a[i]);\n  atomicMax(&r[2], a[i]);\n  atomicXor(&r[3], a[i]);\n"
	"  atomicOr(&r[4], a[i]);\n  atomicMin(&r[5], a[i]);\n  atomicAnd(&r[6], a[i]);\n"
	"  atomicAdd(&r[8u + before], 1u);\n"
	"  if (atomicCompareExchangeWeak(&r[7], 0u, i + 1u).exchanged) { atomicAdd(&r[8u + u.n], "
	"1u); }\n"
	"}\n";

static void atomics(probe *p)
{
	uint32_t *in = calloc(N_SHARED, 4), *out = calloc(N_SHARED + 9, 4);
	uint32_t want[7] = {N_SHARED, 0, 0, 0, 0, 0, 0};

	if (in == NULL || out == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
		goto out;
	}
	for (uint32_t i = 0; i < N_SHARED; i++) {
		in[i] = (uint32_t)probe_random(0x3f00000000u + i);
		want[1] -= in[i];
		want[2] = in[i] > want[2] ? in[i] : want[2];
		want[3] ^= in[i];
		want[4] |= in[i];
	}
	if (!probe_run(p, atomics_text, 0, N_SHARED, in, N_SHARED, out, N_SHARED + 9))
		goto out;
	p->out->facts[PCTL_FACT_ATOMICS] = PCTL_NATIVE_EXACT;
	p->out->cases += N_SHARED;
	for (uint32_t k = 0; k < 7; k++)
		if (out[k] != want[k])
			lower_fact(p, PCTL_FACT_ATOMICS, "what atomics left in memory", k, N_SHARED,
				   out[k], want[k]);
	/* Every old value of the counter came exactly once, and one exchange succeeded. */
	for (uint32_t i = 0; i < N_SHARED; i++)
		if (out[8 + i] != 1)
			lower_fact(p, PCTL_FACT_ATOMICS, "old values of atomicAdd", i, 0,
				   out[8 + i], 1);
	if (out[8 + N_SHARED] != 1 || out[7] == 0 || out[7] > N_SHARED)
		lower_fact(p, PCTL_FACT_ATOMICS, "compareExchange", out[7], 0, out[8 + N_SHARED],
			   1);
out:
	free(in);
	free(out);
}

static const char barriers_text[] =
	"struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
	"@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
	"@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
	"@group(0) @binding(2) var<uniform> u : Counts;\n"
	"var<workgroup> t : array<u32, 64>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id : vec3<u32>, @builtin(local_invocation_index) l "
	": u32) {\n"
	"  t[l] = a[id.x];\n  workgroupBarrier();\n"
	"  for (var s = 32u; s > 0u; s = s >> 1u) {\n"
	"    let v = t[l] * 3u + t[l ^ s];\n    workgroupBarrier();\n"
	"    t[l] = v;\n    workgroupBarrier();\n  }\n"
	"  r[id.x] = t[63u - l];\n}\n";

static void barriers(probe *p)
{
	uint32_t *in = calloc(N_SHARED, 4), *out = calloc(N_SHARED, 4);

	if (in == NULL || out == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
		goto out;
	}
	for (uint32_t i = 0; i < N_SHARED; i++)
		in[i] = (uint32_t)probe_random(0x4f00000000u + i);
	if (!probe_run(p, barriers_text, 0, N_SHARED, in, N_SHARED, out, N_SHARED))
		goto out;
	p->out->facts[PCTL_FACT_BARRIERS] = PCTL_NATIVE_EXACT;
	p->out->cases += N_SHARED;
	for (uint32_t g = 0; g < N_SHARED; g += 64) {
		uint32_t t[64], v[64];

		memcpy(t, in + g, sizeof(t));
		for (uint32_t s = 32; s > 0; s /= 2) {
			for (uint32_t l = 0; l < 64; l++)
				v[l] = t[l] * 3 + t[l ^ s];
			memcpy(t, v, sizeof(t));
		}
		for (uint32_t l = 0; l < 64; l++)
			if (out[g + l] != t[63 - l])
				lower_fact(p, PCTL_FACT_BARRIERS,
					   "an exchange through workgroup memory", g, l, out[g + l],
					   t[63 - l]);
	}
out:
	free(in);
	free(out);
}

void probe_integers(probe *p)
{
	if (p->status == PCTL_OK)
		arithmetic(p, PCTL_SCALAR_U32, PCTL_FACT_INT32);
	if (p->status == PCTL_OK)
		arithmetic(p, PCTL_SCALAR_I32, PCTL_FACT_INT32);
	if (p->status == PCTL_OK && p->caps->caps & PCTL_CAP_I64) {
		arithmetic(p, PCTL_SCALAR_U64, PCTL_FACT_INT64);
		arithmetic(p, PCTL_SCALAR_I64, PCTL_FACT_INT64);
	}
	if (p->status == PCTL_OK)
		atomics(p);
	if (p->status == PCTL_OK)
		barriers(p);
}
