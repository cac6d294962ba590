/* An operation gives the same whether or not the compiler knows its operand: roundings and conversions of f32 values that
 * stand in the program, NaNs and numbers beyond integers among them. PoCL 3.1 lost the results of some of these, and their
 * stores. Floats are bits here; nothing is rounded by the host but what is exact. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "evidence/suite/trial.h"

#define NAN_BITS 0x7fc00000u

static const uint32_t operands[] = {
	0xfffffff9, 0x7fc00001, 0x7f800001, 0x7f800000, 0xff800000, 0x4f32d05e, 0x7149f2ca,
	0x7f7fffff, 0x80000000, 0x00000001, 0x807fffff, 0x3f000000, 0xbf000000, 0x3fc00000,
	0x40200000, 0xbf800000, 0x4b000001, 0xcb000001, 0x4f000000, 0xcf000000, 0x5f000000};
#define OPERANDS (sizeof(operands) / sizeof(operands[0]))

static const char *const operations[] = {"round(x)",	 "floor(x)",	"ceil(x)", "trunc(x)",
					 "abs(x)",	 "-x",		"i32(x)",  "u32(x)",
					 "min(x, 1.0f)", "max(x, 1.0f)"};
#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return x != x ? NAN_BITS : bits;
}

/* Truncates, saturates, and is 0 of a NaN. */
static uint32_t integer_of(float x, int is_signed)
{
	const double low = is_signed ? INT32_MIN : 0, high = is_signed ? INT32_MAX : UINT32_MAX;
	const double d = (double)x, cut = d != d ? 0 : d < low ? low : d > high ? high : trunc(d);

	return (uint32_t)(int64_t)cut;
}

/* Of a NaN and a number the number; zeros are ordered, and none of them meets a 1. */
static uint32_t extreme(float x, int is_max)
{
	return x != x ? bits_of(1) : bits_of(is_max == (x > 1) ? x : 1);
}

static uint32_t expect(uint32_t operation, uint32_t bits)
{
	const float x = float_of(bits);

	switch (operation) {
	case 0:
		return bits_of(rintf(x)); /* ties to even, the mode that C starts in */
	case 1:
		return bits_of(floorf(x));
	case 2:
		return bits_of(ceilf(x));
	case 3:
		return bits_of(truncf(x));
	case 4:
		return bits & 0x7fffffff;
	case 5:
		return bits ^ 0x80000000;
	case 6:
	case 7:
		return integer_of(x, operation == 6);
	default:
		return extreme(x, operation == 9);
	}
}

static char *text_of(const char *operation)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, "var<private> p: u32;\n"
			 "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
			 "@compute @workgroup_size(1)\nfn main() {\n");
	for (size_t i = 0; i < OPERANDS; i++)
		pctl_str_addf(&s,
			      "p = 0x%08" PRIx32
			      "u;\n{ let x = bitcast<f32>(p); out[%zu] = bitcast<u32>(%s); }\n",
			      operands[i], i, operation);
	pctl_str_add(&s, "}\n");
	return pctl_str_finish(&s);
}

static pctl_status run(suite_trial *t, const pctl_kernel_module *unit)
{
	uint32_t want[OPERANDS], before[OPERANDS], b;
	suite_work w = {.times = 1};
	pctl_status status;

	/* a store that is lost leaves what no operation gives */
	for (size_t i = 0; i < OPERANDS; i++) {
		want[i] = expect(t->p[0], operands[i]);
		before[i] = ~want[i];
	}
	b = suite_buffer_add(&w, SUITE_OUT, before, sizeof(before));
	suite_step_add(&w, unit, 1, &b, 1);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK)
		suite_words(t, operations[t->p[0]], suite_data(&w, b), want, OPERANDS);
	suite_work_drop(&w);
	return status;
}

static pctl_status trial(suite_trial *t)
{
	return suite_with_text(t, "known.wgsl", text_of(operations[t->p[0]]), run);
}

static const uint32_t sets[][SUITE_PARAMS] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}};
_Static_assert(sizeof(sets) / sizeof(sets[0]) == OPERATIONS, "a row an operation");

const suite_unit suite_known[] = {
	{.name = "known-operands",
	 .law = "an operation gives the same whether or not the compiler knows its operand",
	 .domain = "roundings and conversions of f32 that stand in the program",
	 .param = {"operation"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 5,
	 .trial = trial}};
const uint32_t suite_n_known = sizeof(suite_known) / sizeof(suite_known[0]);
