/* A 64-bit shift gives the same however its amount comes to be known: written down, held by a variable, counted, passed to a
 * function, or read. lavapipe (Mesa 22.3) shifted wrongly by a -32 that its compiler learned of: it had dropped the mask
 * that a shift implies before it knew the amount. */
#include <inttypes.h>
#include <stdlib.h>

#include "foundation/base/str.h"
#include "evidence/suite/trial.h"

#define MOST_LANES 4u /* and the longest stride */

enum { SHL_U64, SHR_U64, SHL_I64, SHR_I64 };

/* How the program has the amount: what is read, no compiler knows. With AMOUNT_AND_VALUE it knows what is shifted, too. */
enum { AMOUNT_LITERAL, AMOUNT_HELD, AMOUNT_COUNTED, AMOUNT_PASSED, AMOUNT_AND_VALUE, AMOUNT_READ };

/* Within the bits, beyond them and below zero: the words' edges, and what is one of them only modulo 64. */
static const uint32_t amounts[] = {0,	       1,	   31,	       32,	   33,
				   63,	       64,	   65,	       96,	   0x7fffffff,
				   0x80000020, 0xffffffa0, 0xffffffc0, 0xffffffdf, 0xffffffe0,
				   0xffffffe1, 0xffffffff};
#define SHIFTS (sizeof(amounts) / sizeof(amounts[0]))

/* Of one lane of a shift; the lanes of one vector differ. */
static uint32_t amount_of(size_t shift, uint32_t lane)
{
	return amounts[(shift + 7 * (size_t)lane) % SHIFTS];
}

static const char *operator_of(uint32_t operation)
{
	return operation == SHL_U64 || operation == SHL_I64 ? "<<" : ">>";
}

static uint64_t expect(uint32_t operation, uint64_t x, uint32_t amount)
{
	const uint32_t n = amount % 64;
	const uint64_t sign = operation == SHR_I64 && x >> 63 ? UINT64_MAX : 0;

	if (operator_of(operation)[0] == '<')
		return x << n;
	return n == 0 ? x : x >> n | sign << (64 - n);
}

/* What is shifted (words without a pattern, of both signs), by what, what lies there before and what is due: elements of
 * vectors at `stride`, of which three lanes leave one alone. */
typedef struct shifts {
	uint64_t values[SHIFTS * MOST_LANES], before[SHIFTS * MOST_LANES],
		want[SHIFTS * MOST_LANES];
	uint32_t amounts[SHIFTS * MOST_LANES];
	uint32_t stride, n;
} shifts;

static void work_out(const uint32_t *p, shifts *out)
{
	out->stride = p[2] == 3 ? 4 : p[2];
	out->n = (uint32_t)SHIFTS * out->stride;
	for (uint32_t i = 0; i < out->n; i++) {
		const uint32_t lane = i % out->stride;

		out->values[i] = suite_mix(64, i);
		out->amounts[i] = amount_of(i / out->stride, lane);
		out->want[i] = expect(p[0], out->values[i], out->amounts[i]);
		out->before[i] = lane < p[2] ? ~out->want[i] : out->want[i];
	}
}

/* An expression for an amount; a variable n0, n1.. holds it. */
static void add_amount(pctl_str_buf *s, const uint32_t *p, const shifts *all, size_t shift,
		       uint32_t lane)
{
	const size_t at = shift * all->stride + lane;
	const uint32_t n = all->amounts[at], how = p[1];

	if (how == AMOUNT_LITERAL) /* the language takes none beyond the bits */
		pctl_str_addf(s, "%" PRIu32 "u", n % 64);
	else if (how == AMOUNT_COUNTED) /* of zero, which holds none, 32 bits */
		pctl_str_addf(s, "0x%08" PRIx32 "u - countTrailingZeros(zero)", n + 32);
	else if (how == AMOUNT_READ)
		pctl_str_addf(s, "amounts[%zu]", at);
	else
		pctl_str_addf(s, "n%" PRIu32, lane);
}

static void add_shift(pctl_str_buf *s, const uint32_t *p, const shifts *all, size_t shift)
{
	const uint32_t lanes = p[2];

	for (uint32_t k = 0; k < lanes; k++)
		pctl_str_addf(s, "n%" PRIu32 " = 0x%08" PRIx32 "u; ", k,
			      all->amounts[shift * all->stride + k]);
	pctl_str_add(s, "x = ");
	if (p[1] != AMOUNT_AND_VALUE)
		pctl_str_addf(s, "values[%zu]", shift);
	for (uint32_t k = 0; p[1] == AMOUNT_AND_VALUE && k < lanes; k++)
		pctl_str_addf(s, "%sE(0x%016" PRIx64 "lu)", k == 0 ? "V(" : ", ",
			      all->values[shift * all->stride + k]);
	pctl_str_addf(s, "%s; out[%zu] = ", p[1] == AMOUNT_AND_VALUE ? ")" : "", shift);
	if (p[1] == AMOUNT_PASSED)
		pctl_str_add(s, "shifted(x, N(");
	else
		pctl_str_addf(s, "x %s N(", operator_of(p[0]));
	for (uint32_t k = 0; k < lanes; k++) {
		pctl_str_add(s, k == 0 ? "" : ", ");
		add_amount(s, p, all, shift, k);
	}
	pctl_str_add(s, p[1] == AMOUNT_PASSED ? "));\n" : ");\n");
}

static char *text_of(const uint32_t *p, const shifts *all)
{
	const char *element = p[0] == SHL_U64 || p[0] == SHR_U64 ? "u64" : "i64";
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "alias E = %s;\n", element);
	if (p[2] == 1)
		pctl_str_add(&s, "alias V = E;\nalias N = u32;\n");
	else
		pctl_str_addf(&s, "alias V = vec%" PRIu32 "<E>;\nalias N = vec%" PRIu32 "<u32>;\n",
			      p[2], p[2]);
	pctl_str_add(&s, "@group(0) @binding(0) var<storage, read> values: array<V>;\n"
			 "@group(0) @binding(1) var<storage, read> amounts: array<u32>;\n"
			 "@group(0) @binding(2) var<storage, read_write> out: array<V>;\n"
			 "var<private> zero: u32;\nvar<private> x: V;\n");
	for (uint32_t k = 0; k < p[2]; k++)
		pctl_str_addf(&s, "var<private> n%" PRIu32 ": u32;\n", k);
	pctl_str_addf(&s, "fn shifted(v: V, n: N) -> V { return v %s n; }\n", operator_of(p[0]));
	pctl_str_add(&s, "@compute @workgroup_size(1)\nfn main() {\n");
	for (size_t i = 0; i < SHIFTS; i++)
		add_shift(&s, p, all, i);
	pctl_str_add(&s, "}\n");
	return pctl_str_finish(&s);
}

static pctl_status run(suite_trial *t, const pctl_kernel_module *unit)
{
	suite_work w = {.times = 1};
	pctl_status status;
	uint32_t b[3];
	shifts s;

	work_out(t->p, &s);
	b[0] = suite_buffer_add(&w, SUITE_IN, s.values, s.n * sizeof(*s.values));
	b[1] = suite_buffer_add(&w, SUITE_IN, s.amounts, s.n * sizeof(*s.amounts));
	b[2] = suite_buffer_add(&w, SUITE_OUT, s.before, s.n * sizeof(*s.before));
	suite_step_add(&w, unit, 1, b, 3);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK)
		suite_words(t, "64 bits, shifted", suite_data(&w, b[2]),
			    (const uint32_t *)(const void *)s.want, 2 * (uint64_t)s.n);
	suite_work_drop(&w);
	return status;
}

static pctl_status trial(suite_trial *t)
{
	shifts s;

	work_out(t->p, &s);
	return suite_with_text(t, "shifts.wgsl", text_of(t->p, &s), run);
}

/* {operation, how, lanes}: each as a scalar, some as vectors. */
#define ROWS(operation)                                                        \
	{operation, AMOUNT_LITERAL, 1}, {operation, AMOUNT_HELD, 1},           \
		{operation, AMOUNT_COUNTED, 1}, {operation, AMOUNT_PASSED, 1}, \
		{operation, AMOUNT_AND_VALUE, 1}, {operation, AMOUNT_READ, 1}, \
		{operation, AMOUNT_HELD, 2}, {operation, AMOUNT_COUNTED, 3},   \
	{                                                                      \
		operation, AMOUNT_READ, 4                                      \
	}

static const uint32_t sets[][SUITE_PARAMS] = {ROWS(SHL_U64), ROWS(SHR_U64), ROWS(SHL_I64),
					      ROWS(SHR_I64)};

const suite_unit suite_shifts[] = {
	{.name = "known-shifts",
	 .law = "a 64-bit shift gives the same however its amount comes to be known",
	 .domain = "amounts within the bits and beyond, five ways to know them and one not to",
	 .param = {"operation", "how", "lanes"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 9,
	 .trial = trial}};
const uint32_t suite_n_shifts = sizeof(suite_shifts) / sizeof(suite_shifts[0]);
