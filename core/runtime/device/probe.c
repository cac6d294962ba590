/* The probe's frame: single native operations type by type, verdicts, witnesses. Operations of one type go into one
 * kernel; when the device does not build that, each is tried alone, so that one missing operation hides no other. */
#include "runtime/device/probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "pipectl/float_env.h"
#include "runtime/device/probe_private.h"
#include "compiler/wgsl/wgsl.h"
#include "foundation/base/clock.h"

/* Cases an operation, and what a simulator gets instead, so that it is done in seconds too. */
#define N_SINGLE 49152u
#define N_CONTEXT 16384u
#define N_ALONE 4096u
#define N_SINGLE_SLOW 4096u
#define N_CONTEXT_SLOW 512u
#define SLOW_NS 1000000000u /* of the kernel of 32-bit integers */

void probe_lower(probe *p, uint32_t native, uint8_t verdict, const char *text,
		 const uint64_t *operands, uint32_t n_operands, uint64_t got, uint64_t want)
{
	pctl_witness *w = &p->out->native_witness[native];
	char inputs[80] = "";
	size_t n = 0;

	if (verdict >= p->out->profile.native[native])
		return;
	p->out->profile.native[native] = verdict;
	for (uint32_t i = 0; i < n_operands && n < sizeof(inputs); i++) {
		const int k = snprintf(inputs + n, sizeof(inputs) - n, " %c=0x%" PRIx64, "xyz"[i],
				       operands[i]);

		n += k > 0 ? (size_t)k : 0;
	}
	snprintf(w->text, sizeof(w->text), "%s:%s gave 0x%" PRIx64 ", not 0x%" PRIx64, text, inputs,
		 got, want);
}

void probe_frame(pctl_str_buf *s, int f16)
{
	pctl_str_add(s, "//# max u.loops = 8\n");
	if (f16)
		pctl_str_add(s, "enable f16;\n");
	pctl_str_add(s, "struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
			"@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
			"@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
			"@group(0) @binding(2) var<uniform> u : Counts;\n");
}

void probe_read_text(pctl_str_buf *s, uint8_t scalar, uint32_t k)
{
	switch (scalar) {
	case PCTL_SCALAR_F64:
		pctl_str_addf(s,
			      "bitcast<f64>(vec2<u32>(a[6u * i + %" PRIu32 "u], a[6u * i + %" PRIu32
			      "u]))",
			      2 * k, 2 * k + 1);
		break;
	case PCTL_SCALAR_F32:
		pctl_str_addf(s, "bitcast<f32>(a[6u * i + %" PRIu32 "u])", 2 * k);
		break;
	case PCTL_SCALAR_F16:
		pctl_str_addf(s, "bitcast<vec2<f16>>(a[6u * i + %" PRIu32 "u]).x", 2 * k);
		break;
	case PCTL_SCALAR_I32:
		pctl_str_addf(s, "bitcast<i32>(a[6u * i + %" PRIu32 "u])", 2 * k);
		break;
	default:
		pctl_str_addf(s, "a[6u * i + %" PRIu32 "u]", 2 * k);
		break;
	}
}

void probe_write_text(pctl_str_buf *s, uint8_t scalar, const char *e, const char *at)
{
	switch (scalar) {
	case PCTL_SCALAR_F64:
		pctl_str_addf(
			s, "  { let v = bitcast<vec2<u32>>(%s); r[%s] = v.x; r[%s + 1u] = v.y; }\n",
			e, at, at);
		break;
	case PCTL_SCALAR_F16:
		pctl_str_addf(s, "  r[%s] = bitcast<u32>(vec2<f16>(%s, 0.0h));\n", at, e);
		break;
	case PCTL_SCALAR_BOOL:
		pctl_str_addf(s, "  r[%s] = select(0u, 1u, %s);\n", at, e);
		break;
	default:
		pctl_str_addf(s, "  r[%s] = bitcast<u32>(%s);\n", at, e);
		break;
	}
}

static const char *text_of(const probe_native *n)
{
	switch (n->op) {
	case PCTL_OP_NADD:
		return "x + y";
	case PCTL_OP_NSUB:
		return "x - y";
	case PCTL_OP_NMUL:
		return "x * y";
	case PCTL_OP_NDIV:
		return "x / y";
	case PCTL_OP_NFMA:
		return "fma(x, y, z)";
	case PCTL_OP_NSQRT:
		return "sqrt(x)";
	case PCTL_OP_NNEG:
		return "-x";
	case PCTL_OP_NABS:
		return "abs(x)";
	case PCTL_OP_NMIN:
		return "min(x, y)";
	case PCTL_OP_NMAX:
		return "max(x, y)";
	case PCTL_OP_NEQ:
		return "x == y";
	case PCTL_OP_NNE:
		return "x != y";
	case PCTL_OP_NLT:
		return "x < y";
	case PCTL_OP_NLE:
		return "x <= y";
	case PCTL_OP_NGT:
		return "x > y";
	case PCTL_OP_NGE:
		return "x >= y";
	case PCTL_OP_NFLOOR:
		return "floor(x)";
	case PCTL_OP_NCEIL:
		return "ceil(x)";
	case PCTL_OP_NTRUNC:
		return "trunc(x)";
	case PCTL_OP_NROUND:
		return "round(x)";
	default:
		return n->result == PCTL_SCALAR_F64   ? "f64(x)"
		       : n->result == PCTL_SCALAR_F32 ? "f32(x)"
		       : n->result == PCTL_SCALAR_F16 ? "f16(x)"
		       : n->result == PCTL_SCALAR_I32 ? "i32(x)"
						      : "u32(x)";
	}
}

/* ---- judging ------------------------------------------------------------------------------ */

/* Result k of case i as the device wrote it. */
static uint64_t result_at(const uint32_t *out, uint32_t n, uint32_t k, uint32_t i, uint8_t scalar)
{
	const uint64_t at = ((uint64_t)k * n + i) * 2;
	const uint64_t word = out[at];

	if (scalar == PCTL_SCALAR_F64)
		return word | (uint64_t)out[at + 1] << 32;
	return scalar == PCTL_SCALAR_F16 ? word & 0xffff : word;
}

/* Could flushing alone explain it: some subnormal operands taken for zeros of their sign, the result too? The guards of
 * the legaliser build on that, so anything else is wrong. */
static int is_flushed(const probe_native *row, const uint64_t *x, uint32_t arity, uint64_t got)
{
	const uint64_t sign = 1ull << (pctl_scalar_bits(row->operand) - 1);
	const uint64_t result_sign = 1ull << (pctl_scalar_bits(row->result) - 1);

	for (uint32_t flushed = 0; flushed < 1u << arity; flushed++) {
		uint64_t y[3] = {x[0], x[1], x[2]}, want;

		for (uint32_t j = 0; j < arity; j++)
			if (flushed & 1u << j && probe_is_subnormal(row->operand, y[j]))
				y[j] &= sign;
		if (!probe_expect(row, y, &want))
			continue;
		if (got == want ||
		    (probe_is_nan(row->result, got) && probe_is_nan(row->result, want)) ||
		    (probe_is_tiny(row->result, want) && (got == (want & result_sign) || got == 0)))
			return 1;
	}
	return 0;
}

static void judge(probe *p, uint32_t native, const uint32_t *out, uint32_t n, uint32_t k)
{
	const probe_native *row = &probe_natives[native];
	const uint32_t arity = probe_arity(row->op);
	const int moves = row->op == PCTL_OP_NNEG || row->op == PCTL_OP_NABS;

	if (p->out->profile.native[native] == PCTL_NATIVE_ABSENT)
		p->out->profile.native[native] = PCTL_NATIVE_EXACT;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t got = result_at(out, n, k, i, row->result);
		uint64_t x[3], want;
		int tiny;

		probe_operands(row->operand, PROBE_ANY, i, x);
		if (!probe_expect(row, x, &want))
			continue;
		p->out->cases++;
		if (got == want ||
		    (!moves && probe_is_nan(row->result, got) && probe_is_nan(row->result, want)))
			continue;
		tiny = !moves && is_flushed(row, x, arity, got);
		probe_lower(p, native, tiny ? PCTL_NATIVE_NORMAL : PCTL_NATIVE_WRONG, text_of(row),
			    x, arity, got, want);
	}
}

static void note_nan_bits(probe *p, const uint32_t *out, uint32_t n, uint32_t k)
{
	uint8_t *fact = &p->out->facts[PCTL_FACT_NAN_BITS];

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t got = result_at(out, n, k, i, PCTL_SCALAR_F32);

		if (!probe_is_nan(PCTL_SCALAR_F32, got))
			continue;
		if (*fact == PCTL_NATIVE_ABSENT)
			*fact = PCTL_NATIVE_EXACT;
		if (got != 0x7fc00000 && *fact == PCTL_NATIVE_EXACT) {
			*fact = PCTL_NATIVE_WRONG;
			snprintf(p->out->fact_witness[PCTL_FACT_NAN_BITS].text,
				 sizeof(pctl_witness), "a sum gave NaN 0x%08" PRIx64, got);
		}
	}
}

/* ---- running ------------------------------------------------------------------------------ */

/* Run rows[0 .. n_rows), all on one operand type. 1: ran and judged. */
static int run_rows(probe *p, uint8_t scalar, const uint32_t *rows, uint32_t n_rows)
{
	const uint64_t in_words = (uint64_t)p->n_single * 6,
		       out_words = (uint64_t)p->n_single * n_rows * 2;
	uint32_t *in = calloc(in_words, 4), *out = calloc(out_words, 4);
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text = NULL;
	int ran = 0, f16 = 0;

	for (uint32_t k = 0; k < n_rows; k++)
		f16 = f16 || scalar == PCTL_SCALAR_F16 ||
		      probe_natives[rows[k]].result == PCTL_SCALAR_F16;
	probe_frame(&s, f16);
	pctl_str_add(&s, "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id "
			 ": vec3<u32>) {\n"
			 "  let i = id.x;\n  if (i >= u.n) { return; }\n");
	for (uint32_t k = 0; k < 3; k++) {
		pctl_str_addf(&s, "  let %c = ", "xyz"[k]);
		probe_read_text(&s, scalar, k);
		pctl_str_add(&s, ";\n");
	}
	for (uint32_t k = 0; k < n_rows; k++) {
		const probe_native *row = &probe_natives[rows[k]];
		char at[64];

		snprintf(at, sizeof(at), "2u * (%" PRIu32 "u * u.n + i)", k);
		probe_write_text(&s, row->result, text_of(row), at);
	}
	pctl_str_add(&s, "}\n");
	text = pctl_str_finish(&s);
	if (text == NULL || in == NULL || out == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
		goto out;
	}
	for (uint32_t i = 0; i < p->n_single; i++) {
		uint64_t x[3];

		probe_operands(scalar, PROBE_ANY, i, x);
		for (uint32_t k = 0; k < 3; k++) {
			in[6 * i + 2 * k] = (uint32_t)x[k];
			in[6 * i + 2 * k + 1] = (uint32_t)(x[k] >> 32);
		}
	}
	ran = probe_run(p, text, PCTL_WGSL_NATIVE, p->n_single, in, in_words, out, out_words);
	for (uint32_t k = 0; ran && k < n_rows; k++) {
		judge(p, rows[k], out, p->n_single, k);
		if (rows[k] == PCTL_NATIVE_F32_ADD)
			note_nan_bits(p, out, p->n_single, k);
	}
out:
	free(text);
	free(in);
	free(out);
	return ran;
}

/* Can the device have this row at all, by what it says of itself? */
static int possible(const probe *p, const probe_native *row)
{
	const uint8_t scalars[2] = {row->operand, row->result};

	for (int i = 0; i < 2; i++)
		if ((scalars[i] == PCTL_SCALAR_F64 && !(p->caps->caps & PCTL_CAP_F64)) ||
		    (scalars[i] == PCTL_SCALAR_F32 && !(p->caps->caps & PCTL_CAP_F32)) ||
		    (scalars[i] == PCTL_SCALAR_F16 && !(p->caps->caps & PCTL_CAP_F16)))
			return 0;
	return 1;
}

int probe_is_drawn(const probe *p, uint32_t set, uint32_t i, uint32_t n)
{
	return p->draw == 0 || probe_random(p->draw + set) % n == i;
}

static void singles(probe *p, uint8_t scalar)
{
	const uint32_t all = p->n_single;
	uint32_t rows[PCTL_N_NATIVE], n = 0;

	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
		if (probe_natives[i].operand == scalar && possible(p, &probe_natives[i]))
			rows[n++] = i;
	if (n == 0)
		return;
	run_rows(p, scalar, rows, n);
	/* Once more, each in a kernel of its own: what a driver does to one operation may hang on the others. */
	p->n_single = all < N_ALONE ? all : N_ALONE;
	for (uint32_t i = 0; i < n && p->status == PCTL_OK; i++)
		if (probe_is_drawn(p, scalar, i, n))
			run_rows(p, scalar, &rows[i], 1);
	p->n_single = all;
}

/* Does the row's result hang on whether subnormals are kept? */
static int is_sensitive(const probe_native *row)
{
	if (row->operand != PCTL_SCALAR_F32 && row->result != PCTL_SCALAR_F32)
		return 0;
	switch (row->op) {
	case PCTL_OP_NNEG:
	case PCTL_OP_NABS:
	case PCTL_OP_NTRUNC:
	case PCTL_OP_NROUND:
		return 0;
	case PCTL_OP_NCONVERT:
		return row->operand == PCTL_SCALAR_F64 || row->result == PCTL_SCALAR_F64;
	default:
		return 1;
	}
}

/* A driver that loses f32 subnormals anywhere is not trusted to keep them elsewhere: whether it flushes may be decided
 * for a whole kernel (NVIDIA's Vulkan driver keeps them in sums and loses them in conversions to f64, but not always). */
static void spread_flushing(probe *p)
{
	uint8_t *v = p->out->profile.native;
	uint32_t flushes = PCTL_N_NATIVE;

	for (uint32_t i = 0; i < PCTL_N_NATIVE && flushes == PCTL_N_NATIVE; i++)
		if (is_sensitive(&probe_natives[i]) && v[i] == PCTL_NATIVE_NORMAL)
			flushes = i;
	for (uint32_t i = 0; i < PCTL_N_NATIVE && flushes < PCTL_N_NATIVE; i++) {
		if (!is_sensitive(&probe_natives[i]) || v[i] != PCTL_NATIVE_EXACT)
			continue;
		v[i] = PCTL_NATIVE_NORMAL;
		snprintf(p->out->native_witness[i].text, sizeof(pctl_witness),
			 "as %s loses subnormals", pctl_native_name(flushes));
	}
}

static pctl_status run(const pctl_backend *table, pctl_device *dev, const pctl_device_caps *caps,
		       uint64_t draw, const pctl_call *call, pctl_profile_record *out)
{
	static const uint8_t scalars[] = {PCTL_SCALAR_F32, PCTL_SCALAR_F64, PCTL_SCALAR_F16,
					  PCTL_SCALAR_I32, PCTL_SCALAR_U32};
	probe p = {.table = table,
		   .dev = dev,
		   .caps = caps,
		   .call = call,
		   .out = out,
		   .n_single = N_SINGLE,
		   .n_context = N_CONTEXT,
		   .draw = draw};

	memset(&out->profile, 0, sizeof(out->profile));
	memset(out->facts, 0, sizeof(out->facts));
	memset(out->native_witness, 0, sizeof(out->native_witness));
	memset(out->fact_witness, 0, sizeof(out->fact_witness));
	out->cases = 0;
	out->claim[0] = '\0';
	out->signer[0] = out->path[0] = '\0';
	p.status = pctl_profile_key(out, call);
	probe_integers(&p);
	probe_programs(&p);
	if (p.slowest_ns > SLOW_NS) {
		p.n_single = N_SINGLE_SLOW;
		p.n_context = N_CONTEXT_SLOW;
	}
	for (size_t i = 0; i < sizeof(scalars) && p.status == PCTL_OK; i++)
		singles(&p, scalars[i]);
	probe_contexts(&p, PCTL_SCALAR_F32);
	probe_contexts(&p, PCTL_SCALAR_F64);
	probe_through_f64(&p);
	spread_flushing(&p);
	return p.status;
}

pctl_status pctl_probe_device(const pctl_backend *table, pctl_device *dev,
			      const pctl_device_caps *caps, const pctl_call *call,
			      pctl_profile_record *out)
{
	/* What is expected of native operations is the host's own. */
	PCTL_FLOAT_ENV(saved);

	return run(table, dev, caps, 0, call, out);
}

/* Take the claim's verdict where it is the weaker one. 0: it is the better one, and said so. */
static int take(uint8_t claimed, uint8_t *seen, const char *name, const pctl_witness *w,
		char why[256])
{
	if (claimed > *seen) {
		snprintf(why, 256, "%s is %s here, not %s%s%s", name, pctl_verdict_name(*seen),
			 pctl_verdict_name(claimed), w->text[0] == '\0' ? "" : ": ", w->text);
		return 0;
	}
	*seen = claimed;
	return 1;
}

pctl_status pctl_probe_claim(const pctl_backend *table, pctl_device *dev,
			     const pctl_device_caps *caps, const pctl_profile_record *claim,
			     const pctl_call *call, pctl_profile_record *out, int *holds,
			     char why[256])
{
	uint64_t draw = 0;
	pctl_status status;
	PCTL_FLOAT_ENV(saved);

	*holds = 1;
	/* Whoever knew which are drawn could be right about these alone. */
	if (getrandom(&draw, sizeof(draw), 0) != (ssize_t)sizeof(draw) || draw == 0)
		draw = pctl_clock_ns() | 1;
	status = run(table, dev, caps, draw, call, out);
	for (uint32_t i = 0; status == PCTL_OK && *holds && i < PCTL_N_FACTS; i++)
		*holds = take(claim->facts[i], &out->facts[i], pctl_fact_name(i),
			      &out->fact_witness[i], why);
	for (uint32_t i = 0; status == PCTL_OK && *holds && i < PCTL_N_NATIVE; i++)
		*holds = take(claim->profile.native[i], &out->profile.native[i],
			      pctl_native_name(i), &out->native_witness[i], why);
	return status;
}
