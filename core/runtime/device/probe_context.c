/* Operations in company (probe_contexts.def): one kernel over all operands, one over calm ones. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/probe_private.h"
#include "compiler/wgsl/wgsl.h"

#define ROUNDS 6 /* as probe_run.c hands over */

struct context {
	uint32_t set, arity;
	const char *first, *second; /* operations judged, without the type */
	const char *text;
};

static const struct context contexts[] = {
#define CONTEXT(set, arity, first, second, text, c) {PROBE_##set, arity, #first, #second, text},
#include "runtime/device/probe_contexts.def"
#undef CONTEXT
};
#define N_CONTEXTS (sizeof(contexts) / sizeof(contexts[0]))

/* The same texts as C, once a type; the functions are the twins of `helpers` below. */
#define EXPECTATIONS(T, W, NAME, FUSED)          \
	static T NAME##_chain(T x, T y, T z)     \
	{                                        \
		T s = x;                         \
                                                 \
		for (int k = 0; k < ROUNDS; k++) \
			s = s * y + z;           \
		return s;                        \
	}                                        \
	static T NAME##_fused(T x, T y, T z)     \
	{                                        \
		T s = x;                         \
                                                 \
		for (int k = 0; k < ROUNDS; k++) \
			s = FUSED(s, y, z);      \
		return s;                        \
	}                                        \
	static T NAME##_number(uint64_t bits)    \
	{                                        \
		const W word = (W)bits;          \
		T x;                             \
                                                 \
		memcpy(&x, &word, sizeof(x));    \
		return x;                        \
	}
EXPECTATIONS(float, uint32_t, single, fmaf)
EXPECTATIONS(double, uint64_t, twice, fma)

static uint64_t expect_single(size_t k, const uint64_t *o)
{
	const float x = single_number(o[0]), y = single_number(o[1]), z = single_number(o[2]);
	const float all[] = {
#define T float
#define FMA fmaf
#define SQRT sqrtf
#define TRUNC truncf
#define chain single_chain
#define fused single_fused
#define CONTEXT(set, arity, first, second, text, c) (c),
#include "runtime/device/probe_contexts.def"
#undef CONTEXT
#undef T
#undef FMA
#undef SQRT
#undef TRUNC
#undef chain
#undef fused
	};
	uint32_t word;

	memcpy(&word, &all[k], sizeof(word));
	return word;
}

static uint64_t expect_twice(size_t k, const uint64_t *o)
{
	const double x = twice_number(o[0]), y = twice_number(o[1]), z = twice_number(o[2]);
	const double all[] = {
#define T double
#define FMA fma
#define SQRT sqrt
#define TRUNC trunc
#define chain twice_chain
#define fused twice_fused
#define CONTEXT(set, arity, first, second, text, c) (c),
#include "runtime/device/probe_contexts.def"
#undef CONTEXT
#undef T
#undef FMA
#undef SQRT
#undef TRUNC
#undef chain
#undef fused
	};
	uint64_t word;

	memcpy(&word, &all[k], sizeof(word));
	return word;
}

/* A text of the table with this type's literal suffix. */
static void add_text(pctl_str_buf *s, uint8_t scalar, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '$')
			pctl_str_add(s, scalar == PCTL_SCALAR_F64 ? "lf" : "f");
		else
			pctl_str_add_n(s, text, 1);
	}
}

static void add_helpers(pctl_str_buf *s, uint8_t scalar)
{
	const char *t = scalar == PCTL_SCALAR_F64 ? "f64" : "f32";

	pctl_str_addf(s, "fn product(x : %s, y : %s) -> %s { return x * y; }\n", t, t, t);
	for (int fused = 0; fused < 2; fused++)
		pctl_str_addf(
			s,
			"fn %s(x : %s, y : %s, z : %s) -> %s {\n  var s = x;\n"
			"  for (var k = 0u; k < u.loops; k = k + 1u) { s = %s; }\n  return s;\n}\n",
			fused ? "fused" : "chain", t, t, t, t,
			fused ? "fma(s, y, z)" : "s * y + z");
	pctl_str_addf(s,
		      "fn across(x : %s, y : %s, z : %s) -> %s {\n"
		      "  let p = vec3<%s>(x, y, z) * vec3<%s>(y, z, x);\n  return (p.x + p.y) + "
		      "p.z;\n}\n",
		      t, t, t, t, t, t);
}

static uint32_t native_of(uint8_t scalar, const char *op)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%s", scalar == PCTL_SCALAR_F64 ? "F64" : "F32", op);
	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
		if (strcmp(pctl_native_name(i), name) == 0)
			return i;
	return PCTL_N_NATIVE;
}

static void judge(probe *p, uint8_t scalar, size_t c, const uint32_t *out, uint32_t k)
{
	const struct context *x = &contexts[c];
	const uint32_t natives[2] = {native_of(scalar, x->first), native_of(scalar, x->second)};

	for (uint32_t i = 0; i < p->n_context; i++) {
		const uint64_t at = ((uint64_t)k * p->n_context + i) * 2;
		const uint64_t got =
			scalar == PCTL_SCALAR_F64 ? out[at] | (uint64_t)out[at + 1] << 32 : out[at];
		uint64_t o[3], want;
		int tiny = 0;

		probe_operands(scalar, x->set, i, o);
		want = scalar == PCTL_SCALAR_F64 ? expect_twice(c, o) : expect_single(c, o);
		p->out->cases++;
		if (got == want || (probe_is_nan(scalar, got) && probe_is_nan(scalar, want)))
			continue;
		if (x->set == PROBE_ANY)
			tiny = probe_is_tiny(scalar, want) || probe_is_tiny(scalar, o[0]) ||
			       (x->arity > 1 && probe_is_tiny(scalar, o[1]));
		for (int j = 0; j < 2; j++)
			if (p->out->profile.native[natives[j]] != PCTL_NATIVE_ABSENT)
				probe_lower(p, natives[j],
					    tiny ? PCTL_NATIVE_NORMAL : PCTL_NATIVE_WRONG, x->text,
					    o, x->arity, got, want);
	}
}

/* A context only speaks against operations that are right alone: a division that is wrong anyway would hide nothing
 * but blame a product beside it. */
static int worth(const probe *p, uint8_t scalar, const struct context *x)
{
	const uint8_t first = p->out->profile.native[native_of(scalar, x->first)];
	const uint8_t second = p->out->profile.native[native_of(scalar, x->second)];

	return first >= PCTL_NATIVE_NORMAL && second >= PCTL_NATIVE_NORMAL;
}

static void run_set(probe *p, uint8_t scalar, uint32_t set)
{
	const uint64_t in_words = (uint64_t)p->n_context * 6,
		       out_words = (uint64_t)p->n_context * N_CONTEXTS * 2;
	uint32_t *in = calloc(in_words, 4), *out = calloc(out_words, 4), n = 0, chosen[N_CONTEXTS];
	pctl_str_buf s = PCTL_STR_BUF_INIT, e = PCTL_STR_BUF_INIT;
	char *text = NULL;

	probe_frame(&s, 0);
	add_helpers(&s, scalar);
	pctl_str_add(&s, "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id "
			 ": vec3<u32>) {\n"
			 "  let i = id.x;\n  if (i >= u.n) { return; }\n");
	for (uint32_t k = 0; k < 3; k++) {
		pctl_str_addf(&s, "  let %c = ", "xyz"[k]);
		probe_read_text(&s, scalar, k);
		pctl_str_add(&s, ";\n");
	}
	for (uint32_t c = 0; c < N_CONTEXTS; c++) {
		char at[64], *expression;

		if (contexts[c].set != set || !worth(p, scalar, &contexts[c]))
			continue;
		snprintf(at, sizeof(at), "2u * (%" PRIu32 "u * u.n + i)", n);
		add_text(&e, scalar, contexts[c].text);
		expression = pctl_str_finish(&e);
		if (expression != NULL)
			probe_write_text(&s, scalar, expression, at);
		free(expression);
		chosen[n++] = c;
	}
	pctl_str_add(&s, "}\n");
	text = pctl_str_finish(&s);
	if (text == NULL || in == NULL || out == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
		goto out;
	}
	for (uint32_t i = 0; i < p->n_context; i++) {
		uint64_t o[3];

		probe_operands(scalar, set, i, o);
		for (uint32_t k = 0; k < 3; k++) {
			in[6 * i + 2 * k] = (uint32_t)o[k];
			in[6 * i + 2 * k + 1] = (uint32_t)(o[k] >> 32);
		}
	}
	if (n != 0 && probe_run(p, text, PCTL_WGSL_NATIVE, p->n_context, in, in_words, out,
				(uint64_t)p->n_context * n * 2)) {
		for (uint32_t k = 0; k < n; k++)
			judge(p, scalar, chosen[k], out, k);
	} else if (n != 0 && p->status == PCTL_OK) {
		/* What cannot be asked in company is not admitted. */
		for (uint32_t k = 0; k < n; k++)
			probe_lower(
				p, native_of(scalar, contexts[chosen[k]].first), PCTL_NATIVE_WRONG,
				"the device does not build its operations together", NULL, 0, 0, 0);
	}
out:
	free(text);
	free(in);
	free(out);
}

void probe_contexts(probe *p, uint8_t scalar)
{
	for (uint32_t set = PROBE_ANY; set <= PROBE_CALM && p->status == PCTL_OK; set++)
		run_set(p, scalar, set);
}

/* ---- through f64 -------------------------------------------------------------------------- */

static const struct {
	uint8_t result;
	const char *text;
} through[] = {
	{PCTL_SCALAR_F64, "f64(x) * 3.0lf"},	   {PCTL_SCALAR_F64, "sqrt(f64(x))"},
	{PCTL_SCALAR_F64, "f64(x) * f64(y)"},	   {PCTL_SCALAR_F32, "f32(f64(x) * 0.5lf)"},
	{PCTL_SCALAR_F32, "f32(f64(x) * f64(y))"}, {PCTL_SCALAR_F32, "f32(sqrt(f64(x)))"},
};
#define N_THROUGH ((uint32_t)(sizeof(through) / sizeof(through[0])))

static uint64_t expect_through(uint32_t k, const uint64_t *o)
{
	const double x = (double)single_number(o[0]), y = (double)single_number(o[1]);
	const double wide[] = {x * 3.0, sqrt(x), x * y, x * 0.5, x * y, sqrt(x)};
	const float narrow = (float)wide[k];
	uint64_t bits = 0;

	if (through[k].result == PCTL_SCALAR_F64)
		memcpy(&bits, &wide[k], sizeof(wide[k]));
	else
		memcpy(&bits, &narrow, sizeof(narrow));
	return bits;
}

/* One kernel a text: x and y are used for nothing else. */
static void run_through(probe *p, uint32_t k)
{
	const uint64_t words = (uint64_t)p->n_context * 6;
	uint32_t *in = calloc(words, 4), *out = calloc(words, 4);
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;

	probe_frame(&s, 0);
	pctl_str_add(&s, "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id "
			 ": vec3<u32>) {\n"
			 "  let i = id.x;\n  if (i >= u.n) { return; }\n  let x = ");
	probe_read_text(&s, PCTL_SCALAR_F32, 0);
	pctl_str_add(&s, ";\n  let y = ");
	probe_read_text(&s, PCTL_SCALAR_F32, 1);
	pctl_str_add(&s, ";\n");
	probe_write_text(&s, through[k].result, through[k].text, "2u * i");
	pctl_str_add(&s, "}\n");
	text = pctl_str_finish(&s);
	if (text == NULL || in == NULL || out == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
		goto out;
	}
	for (uint32_t i = 0; i < p->n_context; i++) {
		uint64_t o[3];

		probe_operands(PCTL_SCALAR_F32, PROBE_ANY, i, o);
		in[6 * i] = (uint32_t)o[0];
		in[6 * i + 2] = (uint32_t)o[1];
	}
	if (!probe_run(p, text, PCTL_WGSL_NATIVE, p->n_context, in, words, out,
		       (uint64_t)p->n_context * 2))
		goto out;
	for (uint32_t i = 0; i < p->n_context; i++) {
		const int is_f64 = through[k].result == PCTL_SCALAR_F64;
		const uint64_t got = out[2 * i] | (is_f64 ? (uint64_t)out[2 * i + 1] << 32 : 0);
		uint64_t o[3], want;
		int tiny;

		probe_operands(PCTL_SCALAR_F32, PROBE_ANY, i, o);
		want = expect_through(k, o);
		p->out->cases++;
		if (got == want ||
		    (probe_is_nan(through[k].result, got) && probe_is_nan(through[k].result, want)))
			continue;
		tiny = probe_is_tiny(PCTL_SCALAR_F32, o[0]) ||
		       probe_is_tiny(PCTL_SCALAR_F32, o[1]) ||
		       (!is_f64 && probe_is_tiny(PCTL_SCALAR_F32, want));
		probe_lower(p, PCTL_NATIVE_F32_TO_F64,
			    tiny ? PCTL_NATIVE_NORMAL : PCTL_NATIVE_WRONG, through[k].text, o, 2,
			    got, want);
		if (!is_f64)
			probe_lower(p, PCTL_NATIVE_F64_TO_F32,
				    tiny ? PCTL_NATIVE_NORMAL : PCTL_NATIVE_WRONG, through[k].text,
				    o, 2, got, want);
	}
out:
	free(text);
	free(in);
	free(out);
}

void probe_through_f64(probe *p)
{
	const uint8_t *v = p->out->profile.native;

	for (uint32_t k = 0; k < N_THROUGH && p->status == PCTL_OK; k++)
		if (probe_is_drawn(p, PCTL_SCALAR_F64 + 64u, k, N_THROUGH) &&
		    v[PCTL_NATIVE_F32_TO_F64] >= PCTL_NATIVE_NORMAL &&
		    v[PCTL_NATIVE_F64_TO_F32] >= PCTL_NATIVE_NORMAL)
			run_through(p, k);
}
