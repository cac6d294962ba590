/* tensor.convert: elements of any type with numbers as those of another but blocks, rounded once (SEMANTICS.md 13.4). The kernel takes an element
 * apart into a sign, an integer and a power of two, and rounds that by integer instructions alone. */
#include <stdio.h>

#include "convert.h"
#include "kernels.h"

#define NUMBERS                                                                                \
	"f64|f32|f16|bf16|f8e4m3|f8e5m2|f4|i8|u8|i16|u16|i32|u32|i64|u64|i4|u4|i2|u2|ternary|" \
	"binary|bool"
#define BLOCKS "q4_0|q4_1|q5_0|q5_1|q8_0|q2_k|q3_k|q4_k|q5_k|q6_k"

static const uint32_t to_types[] = {
	PCTL_SCALAR_F64,   PCTL_SCALAR_F32, PCTL_SCALAR_F16, PCTL_SCALAR_BF16, PCTL_DTYPE_F8E4M3,
	PCTL_DTYPE_F8E5M2, PCTL_DTYPE_F4,   PCTL_SCALAR_I8,  PCTL_SCALAR_U8,   PCTL_SCALAR_I16,
	PCTL_SCALAR_U16,   PCTL_SCALAR_I32, PCTL_SCALAR_U32, PCTL_SCALAR_I64,  PCTL_SCALAR_U64,
	PCTL_DTYPE_I4,	   PCTL_DTYPE_U4,   PCTL_DTYPE_I2,   PCTL_DTYPE_U2,    PCTL_DTYPE_TERNARY,
	PCTL_DTYPE_BINARY, PCTL_SCALAR_BOOL};

uint32_t convert_type(uint32_t i)
{
	return i < KIT_COUNT(to_types) ? to_types[i] : PCTL_SCALAR_NONE;
}

pctl_status convert_to(const kit_use *u, uint32_t *out)
{
	const char *name = u->q->attr[CONVERT_TO].text;

	for (uint32_t i = 0; (*out = convert_type(i)) != PCTL_SCALAR_NONE; i++)
		if (strcmp(kit_dtype_name(*out), name) == 0)
			return PCTL_OK;
	return kit_refuse_attr(u, "to", "is no element type that can be made: one of " NUMBERS);
}

static pctl_status infer(const kit_use *u, pctl_op_result *out)
{
	const pctl_tensor_type *x = &u->q->in[0];
	uint32_t to;
	pctl_status status = convert_to(u, &to);

	if (status != PCTL_OK)
		return status;
	if (kit_bytes(x) == UINT64_MAX)
		return kit_refuse_type(u, 0, "rows of whole blocks");
	out->out[0] = *x;
	out->out[0].dtype = to;
	/* What comes of a NaN in f4 is a failure, which tells where: of the whole, not of a part. */
	if (to != PCTL_DTYPE_F4)
		out->n_cut = x->rank;
	out->cut[0] = (1u << out->n_cut) - 1u;
	return kit_limit(u, "elements", kit_elements(x), TENSOR_ELEMENTS_MAX);
}

/* ---- the kernel ----------------------------------------------------------------------------- */

void convert_add_number(kit_wgsl *w, const char *name, uint64_t value)
{
	char text[80];

	snprintf(text, sizeof(text), "const %s: u32 = %lluu;\n", name, (unsigned long long)value);
	kit_wgsl_add(w, text);
}

void convert_add_wide(kit_wgsl *w, const char *name, uint64_t value)
{
	char text[80];

	snprintf(text, sizeof(text), "const %s: u64 = 0x%llxlu;\n", name,
		 (unsigned long long)value);
	kit_wgsl_add(w, text);
}

void convert_add_integer(kit_wgsl *w, const char *name, int value)
{
	char text[80];

	snprintf(text, sizeof(text), "const %s: i32 = %di;\n", name, value);
	kit_wgsl_add(w, text);
}

static void flag(kit_wgsl *w, const char *name, int value)
{
	char text[80];

	snprintf(text, sizeof(text), "const %s: bool = %s;\n", name, value ? "true" : "false");
	kit_wgsl_add(w, text);
}

static int bias(const tensor_float_layout *f)
{
	return (1 << (f->exponent - 1)) - 1;
}

/* The code of the largest finite magnitude. */
static uint64_t largest(const tensor_float_layout *f)
{
	const uint64_t ones = (1ull << (f->exponent + f->fraction)) - 1;

	if (f->infinities)
		return (((1ull << f->exponent) - 1) << f->fraction) - 1;
	return f->nan ? ones - 1 : ones;
}

#define CODE_TEXT 200u

/* How the code of element i is found in x. */
static void code_text(uint32_t bits, char text[CODE_TEXT])
{
	if (bits >= 32)
		snprintf(text, CODE_TEXT, "fn code(i: u32) -> u64 {\n\treturn %s;\n}\n",
			 bits == 64 ? "x[i]" : "u64(x[i])");
	else
		snprintf(
			text, CODE_TEXT,
			"fn code(i: u32) -> u64 {\n\treturn u64(extractBits(x[i / %uu], i %% %uu * "
			"%uu, %uu));\n}\n",
			32 / bits, 32 / bits, bits, bits);
}

void convert_add_code(kit_wgsl *w, uint32_t from, const char *code)
{
	const tensor_float_layout *f = tensor_float_layout_of(from);
	uint32_t block;

	kit_wgsl_add(w, code);
	convert_add_number(w, "FROM_BITS", kit_dtype_bits(from, &block));
	convert_add_number(w, "FROM_FRACTION", f->fraction);
	convert_add_integer(w, "FROM_BIAS", bias(f));
	convert_add_wide(w, "FROM_LARGEST", largest(f));
	flag(w, "FROM_INFINITIES", f->infinities != 0);
	kit_wgsl_add(w, KERNEL_CONVERT_FROM_FLOAT);
}

void convert_add_reading(kit_wgsl *w, uint32_t from)
{
	const kit_block_format *block = kit_block_format_of(from);
	const tensor_float_layout *f = tensor_float_layout_of(from);
	char text[CODE_TEXT];
	uint32_t n;
	const uint32_t bits = kit_dtype_bits(from, &n);

	if (block != NULL) {
		kit_wgsl_block(w, block, "x", 0);
		if (block->kind == KIT_BLOCK_SCALED)
			kit_wgsl_add(w, "fn x_m(b: u32, e: u32) -> i32 {\n\treturn 0i;\n}\n");
		convert_add_number(w, "MINIMUM", (uint64_t)block->kind);
		kit_wgsl_add(w, KERNEL_CONVERT_FROM_BLOCK);
		return;
	}
	if (f != NULL) {
		code_text(bits, text);
		convert_add_code(w, from, text);
		return;
	}
	code_text(bits, text);
	kit_wgsl_add(w, text);
	convert_add_number(w, "FROM_BITS", bits);
	flag(w, "FROM_SIGNED", tensor_is_signed(from));
	flag(w, "FROM_BINARY", from == PCTL_DTYPE_BINARY);
	flag(w, "FROM_BOOL", from == PCTL_SCALAR_BOOL);
	kit_wgsl_add(w, KERNEL_CONVERT_FROM_INTEGER);
}

static void add_writing_float(kit_wgsl *w, const tensor_float_layout *f, int saturate)
{
	const uint64_t most = largest(f);
	/* All ones of the exponent, and quiet; of f8e4m3 the only one. */
	const uint64_t nan = !f->nan	     ? 0
			     : f->infinities ? (((2ull << f->exponent) - 1) << (f->fraction - 1))
					     : most + 1;

	convert_add_number(w, "TO_EXPONENT", f->exponent);
	convert_add_number(w, "TO_FRACTION", f->fraction);
	convert_add_integer(w, "TO_LEAST", 1 - bias(f) - (int)f->fraction);
	convert_add_wide(w, "TO_LARGEST", most);
	convert_add_wide(w, "TO_BEYOND", saturate || (!f->infinities && !f->nan) ? most : most + 1);
	convert_add_wide(w, "TO_NAN", nan);
	flag(w, "TO_SIGNED_BEYOND", saturate || f->infinities || !f->nan);
	kit_wgsl_add(w, KERNEL_CONVERT_TO_FLOAT);
}

void convert_add_writing(kit_wgsl *w, uint32_t to, int saturate)
{
	const tensor_float_layout *f = tensor_float_layout_of(to);
	uint32_t block;
	const uint32_t bits = kit_dtype_bits(to, &block);
	const int is_signed = tensor_is_signed(to);
	const uint64_t ones = UINT64_MAX >> (64 - bits);

	convert_add_number(w, "TO_BITS", bits);
	if (f != NULL) {
		add_writing_float(w, f, saturate);
		return;
	}
	convert_add_wide(w, "TO_HIGH", to == PCTL_DTYPE_TERNARY ? 1 : is_signed ? ones >> 1 : ones);
	convert_add_wide(w, "TO_LOW",
			 to == PCTL_DTYPE_TERNARY ? 1
			 : is_signed		  ? (ones >> 1) + 1
						  : 0);
	flag(w, "TO_BOOL", to == PCTL_SCALAR_BOOL);
	flag(w, "TO_BINARY", to == PCTL_DTYPE_BINARY);
	kit_wgsl_add(w, KERNEL_CONVERT_TO_INTEGER);
}

#define BINDING(n, access, name, T) \
	"@group(0) @binding(" n ") var<storage, " access "> " name ": array<" T ">;\n"

static void kernel_text(kit_wgsl *w, uint32_t from, uint32_t to, int saturate, int checked)
{
	uint32_t block;
	const uint32_t from_bits = kit_dtype_bits(from, &block),
		       to_bits = kit_dtype_bits(to, &block);

	kit_wgsl_add(w, "struct Params {\n\t@size(16) count: u32,\n}\n"
			"@group(0) @binding(0) var<uniform> params: Params;\n");
	kit_wgsl_add(w, from_bits == 64 && kit_block_format_of(from) == NULL
				? BINDING("1", "read", "x", "u64")
				: BINDING("1", "read", "x", "u32"));
	kit_wgsl_add(w, to_bits == 64 ? BINDING("2", "read_write", "y", "u64")
				      : BINDING("2", "read_write", "y", "u32"));
	if (checked)
		kit_wgsl_add(w, BINDING("3", "read_write", "seen", "u32"));
	kit_wgsl_add(w, KERNEL_CONVERT_CODE);
	convert_add_reading(w, from);
	convert_add_writing(w, to, saturate);
	if (to_bits < 64)
		convert_add_number(w, "PER", 32 / to_bits);
	kit_wgsl_add(w, to_bits == 64 ? KERNEL_CONVERT_WIDE
			: checked     ? KERNEL_CONVERT_CHECKED
				      : KERNEL_CONVERT_WORDS);
}

static int has_nan(uint32_t dtype)
{
	const tensor_float_layout *f = tensor_float_layout_of(dtype);

	return kit_block_format_of(dtype) != NULL || (f != NULL && f->nan);
}

static void plan(kit_plan *p)
{
	const kit_use *u = p->use;
	const pctl_tensor_type *x = &u->q->in[0];
	const uint64_t n = kit_elements(x);
	const uint32_t params[4] = {(uint32_t)n, 0, 0, 0};
	kit_kernel kernel = {"tensor/convert.wgsl", NULL, 64, NULL, 0};
	uint32_t to, block, seen = 0, most, at;
	uint64_t words;
	int checked;
	kit_wgsl w;

	p->status = convert_to(u, &to);
	if (p->status != PCTL_OK || n == 0)
		return;
	if (to == x->dtype) {
		kit_copy(p, kit_in(p, 0), 0, kit_out(p, 0), 0, (kit_bytes(x) + 3) / 4 * 4);
		return;
	}
	checked = to == PCTL_DTYPE_F4 && has_nan(x->dtype);
	words = kit_dtype_bits(to, &block) == 64 ? n
						 : (n + 32 / kit_dtype_bits(to, &block) - 1) /
							   (32 / kit_dtype_bits(to, &block));
	w = kit_wgsl_make(u, 24576);
	kernel_text(&w, x->dtype, to, kit_attr(u, CONVERT_SATURATE) != 0, checked);
	p->status = kit_wgsl_status(&w);
	kernel.text = w.text;
	at = kit_params(p, params, sizeof(params));
	if (checked)
		seen = kit_temp(p, 4 * words);
	kit_run(p, &kernel, words,
		(kit_slot[]){KIT_ALL(at), KIT_ALL(kit_in(p, 0)), KIT_ALL(kit_out(p, 0)),
			     KIT_ALL(seen)},
		checked ? 4 : 3);
	kit_wgsl_free(&w);
	if (checked) {
		most = kit_temp(p, 4);
		kit_run_op(p, "tensor.reduce_max", 1,
			   (kit_arg[]){{seen, kit_vector(PCTL_SCALAR_U32, words)},
				       {most, kit_vector(PCTL_SCALAR_U32, 1)}},
			   2, NULL, 0);
		kit_assert(p, most, 4, 0, "an element of x is a NaN, which f4 does not have");
	}
}

/* ---- the op --------------------------------------------------------------------------------- */

static const pctl_port in[] = {{"x", NUMBERS "|" BLOCKS "[...]", "the elements", 0, 0}};
static const pctl_port out[] = {{"y", NUMBERS "[...]", "the same as elements of `to`", 0, 0}};
static const pctl_attr_desc attr[] = {
	{"to", NULL, "the element type of y", PCTL_ATTR_STRING, 0, 0, 0},
	{"saturate", "false",
	 "what is beyond the largest number of a float type, infinities too, becomes that number",
	 PCTL_ATTR_BOOL, 0, 0, 1},
};
static const pctl_law laws[] = {
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "fixed", NULL,
	 "where x is of another type and y has at most 53 bits: y made f64 and made y's type again "
	 "is y"},
	{PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED, 0, "back", NULL,
	 "where y is of x's type, or x of integers of at most 8 bits and y of integers of more, or "
	 "floats that have them all: y made x's "
	 "type again is x; where x is of blocks: x made f64 first gives the same y"},
};
static void (*const checks[])(kit_law *) = {convert_law_fixed, convert_law_back};
static const pctl_example boundaries[] = {
	{"nothing", {0}}, {"one", {1}}, {"a block", {32}}, {"a word and one", {33}}};

static const kit_op ops[] = {
	{
		.desc = {KIT_PLAN_OP("tensor.convert", 1, PCTL_CLASS_INTEGER),
			 .doc = "elements of one type as those of another, rounded once",
			 .spec = "y[..] is the element of type `to` that is nearest to the number "
				 "x[..], "
				 "ties to the even code.\n"
				 "Floats: subnormals and the sign of zero are kept; NaN becomes "
				 "the "
				 "canonical one; what rounds to more than the\n"
				 "largest number becomes infinity (f8e4m3: NaN, f4: 6), with "
				 "saturate "
				 "the largest, infinities too. f4 has no\n"
				 "NaN: the job fails. Integers: saturated, NaN is 0; ternary as -1 "
				 "to 1. "
				 "binary: -1 below zero, else +1.\n"
				 "bool: 0 where x is 0. Elements of blocks are the exact numbers "
				 "of "
				 "their format. Between equal types the bits\n"
				 "are moved. At most 2^31 elements.",
			 KIT_IN(in), KIT_OUT(out), KIT_ATTR(attr)},
		.rules = KIT_PLAN_RULES(laws, boundaries),
		.laws = checks,
		.problems = &convert_problems,
		.problem = convert_problem,
		.infer = infer,
		.plan = plan,
		.reference = convert_reference,
	},
};

const kit_family tensor_convert_family = {ops, NULL, KIT_COUNT(ops), 0};
