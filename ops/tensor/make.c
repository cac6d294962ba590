/* tensor.iota and full: tensors made from attributes alone (SEMANTICS.md 16.5). */
#include <errno.h>
#include <stdlib.h>

#include "common/tensors/elements.h"

enum { ATTR_SHAPE, ATTR_OUT, ATTR_AXIS, ATTR_START, ATTR_STEP };
enum { ATTR_VALUE = 2 };
#define INTEGERS "i8|u8|i16|u16|i32|u32|i64|u64"

/* ---- iota ----------------------------------------------------------------------------------- */

static pctl_status iota_of(const kit_use *u, pctl_tensor_type *y, tensor_lines *lines)
{
	pctl_status status = tensor_shape_of(u, ATTR_SHAPE, y);

	if (status == PCTL_OK)
		status = tensor_dtype_of(u, ATTR_OUT, INTEGERS, &y->dtype);
	return status != PCTL_OK ? status : tensor_lines_of(u, ATTR_AXIS, y, lines);
}

static pctl_status iota_infer(const kit_use *u, pctl_op_result *out)
{
	tensor_lines lines;

	out->out[0] = (pctl_tensor_type){0};
	return iota_of(u, &out->out[0], &lines);
}

static void words(uint32_t to[2], uint64_t v)
{
	to[0] = (uint32_t)v;
	to[1] = (uint32_t)(v >> 32);
}

static void iota_plan(kit_plan *p)
{
	pctl_tensor_type y = {0};
	tensor_lines lines;
	tensor_kernel k;
	uint64_t bytes;

	p->status = iota_of(p->use, &y, &lines);
	if (p->status != PCTL_OK)
		return;
	bytes = kit_dtype_bytes(y.dtype);
	k = tensor_kernel_begin(p, "tensor/iota.wgsl", kit_elements(&y), bytes, 0);
	kit_wgsl_add(
		&k.w,
		"fn wide(low: u32, high: u32) -> u64 {\n\treturn (u64(high) << 32u) | "
		"u64(low);\n}\n"
		"fn product(i: u32) -> T {\n\tlet at = u64((i / params.v[0].x) % params.v[0].y);\n"
		"\tlet y = wide(params.v[1].x, params.v[1].y) + wide(params.v[1].z, params.v[1].w) "
		"* "
		"at;\n\treturn ");
	kit_wgsl_add(&k.w, bytes == 8	? "y;\n}\n"
			   : bytes == 4 ? "u32(y & 0xfffffffflu);\n}\n"
			   : bytes == 2 ? "u32(y & 0xfffflu);\n}\n"
					: "u32(y & 0xfflu);\n}\n");
	k.params.v[0][0] = (uint32_t)lines.inner;
	k.params.v[0][1] = (uint32_t)lines.n;
	words(&k.params.v[1][0], kit_attr(p->use, ATTR_START));
	words(&k.params.v[1][2], kit_attr(p->use, ATTR_STEP));
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status iota_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	pctl_tensor_type y = {0};
	tensor_lines lines;
	uint64_t at = 0;
	const pctl_status status = iota_of(u, &y, &lines);

	(void)in;
	for (uint64_t o = 0; status == PCTL_OK && o < lines.outer; o++) {
		uint64_t v = kit_attr(u, ATTR_START);

		for (uint64_t j = 0; j < lines.n; j++, v += kit_attr(u, ATTR_STEP))
			for (uint64_t k = 0; k < lines.inner; k++)
				tensor_put(out[0].data, at++, kit_dtype_bytes(y.dtype), v);
	}
	return status;
}

static const char *const shapes[] = {"7", "0", "3,5", "2,3,4", "65", "1", "", "4,0"};
static const char *const types[] = {"u32", "i64", "u8", "i16", "i32", "u64", "u16", "i8"};
static const pctl_op_problems iota_problems = {
	PCTL_HEAD(pctl_op_problems), "shapes of up to 65 elements", KIT_COUNT(shapes) * 8};

static void iota_problem(kit_problem *p)
{
	static const char *const steps[] = {"1", "-3",	"0", "2", "9223372036854775807",
					    "1", "256", "-1"};
	static const char *const starts[] = {"0",     "-5", "7", "250", "1", "-9223372036854775808",
					     "65535", "0"};
	const uint64_t v = p->number / KIT_COUNT(shapes) % 8;

	tensor_problem_attr(p, ATTR_SHAPE, shapes[p->number % KIT_COUNT(shapes)]);
	tensor_problem_attr(p, ATTR_OUT, types[v]);
	tensor_problem_attr(p, ATTR_AXIS, v % 2 ? "0" : "-1");
	tensor_problem_attr(p, ATTR_START, starts[v]);
	tensor_problem_attr(p, ATTR_STEP, steps[v]);
	kit_problem_rigid(p);
}

/* Along the axis, the sums of steps: of y from its first element on, what tensor.scan gives of a vector of steps. */
static void law_scanned(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *t = &l->c->types[y];
	const uint64_t n = kit_elements(t), bytes = kit_dtype_bytes(t->dtype);
	const pctl_attr exclusive = {"exclusive", "false", 0};
	uint8_t *data;
	uint32_t in;

	/* One line, of a type that tensor.scan takes. */
	if (t->rank != 1 || (t->dtype != PCTL_SCALAR_U32 && t->dtype != PCTL_SCALAR_U64))
		return;
	data = kit_law_scratch(l, n * bytes + 1);
	if (data == NULL)
		return;
	for (uint64_t i = 0; i < n; i++)
		tensor_put(data, i, bytes,
			   i == 0 ? kit_attr(&l->use, ATTR_START) : kit_attr(&l->use, ATTR_STEP));
	in = kit_law_tensor(l, t, data);
	kit_law_equal(l, y, kit_law_use(l, "tensor.scan", &in, 1, &exclusive, 1, 1));
	kit_law_free(l, data);
}

/* ---- full ----------------------------------------------------------------------------------- */

/* The f32 whose bits these are, in a type of 16 bits: 1 where it is exact. */
static int narrowed(uint32_t dtype, uint32_t bits, uint64_t *out)
{
	const uint32_t exponent = bits >> 23 & 255, fraction = bits & 0x7fffffu;
	const uint64_t sign = bits >> 31 << 15;
	uint32_t below;

	if (dtype == PCTL_SCALAR_BF16) {
		*out = bits >> 16;
		return (bits & 0xffffu) == 0;
	}
	if (exponent == 255) {
		*out = sign | 0x7c00u | (fraction != 0 ? 0x200u : 0);
		return 1;
	}
	if (exponent >= 113) {
		*out = sign | (exponent - 112) << 10 | fraction >> 13;
		return exponent <= 142 && (fraction & 0x1fffu) == 0;
	}
	/* A subnormal one counts units of 2^-24. */
	below = exponent < 102 ? 32 : 126 - exponent;
	*out = sign | (below < 25 ? (fraction | 0x800000u) >> below : 0);
	return (bits & 0x7fffffffu) == 0 ||
	       (below < 25 && ((fraction | 0x800000u) & ((1u << below) - 1)) == 0);
}

static pctl_status value_of(const kit_use *u, uint32_t dtype, uint64_t *out)
{
	const char *text = u->q->attr[ATTR_VALUE].text;
	const uint64_t bits = 8 * kit_dtype_bytes(dtype);
	const uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	char *end;

	errno = 0;
	if (strncmp(text, "0x", 2) == 0) {
		*out = strtoull(text, &end, 16);
		if (*end != '\0' || end == text + 2 || errno != 0 ||
		    *out > (dtype == PCTL_SCALAR_BOOL ? 1 : all))
			return kit_refuse_attr(u, "value", "is not bits of the type");
		return PCTL_OK;
	}
	if (tensor_is_float(dtype)) {
		const float v = kit_parse_f32(text, &end);
		const char *const size = text + (*text == '-');
		uint32_t word;

		if (end == text || *end != '\0' ||
		    ((*size < '0' || *size > '9') && strcmp(size, "Inf") != 0 &&
		     strcmp(text, "NaN") != 0))
			return kit_refuse_attr(u, "value", "is no number, Inf, NaN or bits (0x..)");
		memcpy(&word, &v, 4);
		word = v != v ? 0x7fc00000u : word;
		*out = word;
		if (dtype != PCTL_SCALAR_F32 && !narrowed(dtype, word, out))
			return kit_refuse_attr(u, "value",
					       "is not exact in the type: give its bits (0x..)");
		return PCTL_OK;
	}
	if (*text == '-') {
		const long long v = strtoll(text, &end, 10);

		*out = (uint64_t)v & all;
		if (*end != '\0' || end == text + 1 || errno != 0 || !tensor_is_signed(dtype) ||
		    v < -(long long)(all / 2) - 1)
			return kit_refuse_attr(u, "value", "is no number of the type");
		return PCTL_OK;
	}
	*out = strtoull(text, &end, 10);
	if (*end != '\0' || *text < '0' || *text > '9' || errno != 0 ||
	    *out > (dtype == PCTL_SCALAR_BOOL ? 1
		    : tensor_is_signed(dtype) ? all / 2
					      : all))
		return kit_refuse_attr(u, "value", "is no number of the type");
	return PCTL_OK;
}

static pctl_status full_of(const kit_use *u, pctl_tensor_type *y, uint64_t *value)
{
	pctl_status status = tensor_shape_of(u, ATTR_SHAPE, y);

	if (status == PCTL_OK)
		status = tensor_dtype_of(u, ATTR_OUT, TENSOR_MADE, &y->dtype);
	return status != PCTL_OK ? status : value_of(u, y->dtype, value);
}

static pctl_status full_infer(const kit_use *u, pctl_op_result *out)
{
	uint64_t value;

	out->out[0] = (pctl_tensor_type){0};
	return full_of(u, &out->out[0], &value);
}

static void full_plan(kit_plan *p)
{
	pctl_tensor_type y = {0};
	uint64_t value;
	tensor_kernel k;

	p->status = full_of(p->use, &y, &value);
	if (p->status != PCTL_OK)
		return;
	k = tensor_kernel_begin(p, "tensor/full.wgsl", kit_elements(&y), kit_dtype_bytes(y.dtype),
				0);
	kit_wgsl_add(&k.w, "fn product(i: u32) -> T {\n\treturn T((u64(params.v[0].y) << 32u) | "
			   "u64(params.v[0].x));\n}\n");
	words(k.params.v[0], value);
	tensor_kernel_run(&k, kit_out(p, 0));
}

static pctl_status full_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	pctl_tensor_type y = {0};
	uint64_t value;
	const pctl_status status = full_of(u, &y, &value);

	(void)in;
	for (uint64_t i = 0; status == PCTL_OK && i < kit_elements(&y); i++)
		tensor_put(out[0].data, i, kit_dtype_bytes(y.dtype), value);
	return status;
}

static const pctl_op_problems full_problems = {
	PCTL_HEAD(pctl_op_problems), "shapes of up to 65 elements", KIT_COUNT(shapes) * 10};

static void full_problem(kit_problem *p)
{
	static const char *const outs[] = {"f32", "f16", "bf16", "u8",	"i16",
					   "i64", "u64", "bool", "f32", "i8"};
	static const char *const values[] = {
		"0.1", "-1.5",	     "Inf", "255", "-32768", "-1", "18446744073709551615",
		"1",   "0x80000000", "0x7f"};
	const uint64_t v = p->number / KIT_COUNT(shapes) % 10;

	tensor_problem_attr(p, ATTR_SHAPE, shapes[p->number % KIT_COUNT(shapes)]);
	tensor_problem_attr(p, ATTR_OUT, outs[v]);
	tensor_problem_attr(p, ATTR_VALUE, values[v]);
	kit_problem_rigid(p);
}

/* The first element, taken for every place. */
static void law_first(kit_law *l)
{
	const uint32_t y = kit_law_out(l, 0);
	const pctl_tensor_type *t = &l->c->types[y];
	const uint64_t n = kit_elements(t);
	const pctl_tensor_type index = kit_vector(PCTL_SCALAR_U32, n);
	const pctl_attr axis = {"axis", "0", 0};
	uint32_t *zeros, in[2] = {y, 0};

	if (t->rank != 1 || n == 0)
		return;
	zeros = kit_law_scratch(l, 4 * n);
	if (zeros == NULL)
		return;
	in[1] = kit_law_tensor(l, &index, zeros);
	kit_law_equal(l, kit_law_use(l, "tensor.gather", in, 2, &axis, 1, 1), y);
	kit_law_free(l, zeros);
}

/* ---- the ops -------------------------------------------------------------------------------- */

static const pctl_port iota_out[] = {{"y", INTEGERS "[...]", "the numbers", 0, 0}};
static const pctl_port full_out[] = {{"y", TENSOR_MADE "[...]", "the same everywhere", 0, 0}};
static const pctl_attr_desc iota_attr[] = {
	{"shape", NULL, "elements of each dimension, between commas", PCTL_ATTR_STRING, 0, 0, 0},
	{"out", "u32", "type of y", PCTL_ATTR_STRING, 0, 0, 0},
	{"axis", "-1", "along which; a negative one counts from the end", PCTL_ATTR_I64, 0, 0, 0},
	{"start", "0", "the first number", PCTL_ATTR_I64, 0, 0, 0},
	{"step", "1", "from one to the next", PCTL_ATTR_I64, 0, 0, 0},
};
static const pctl_attr_desc full_attr[] = {
	{"shape", NULL, "elements of each dimension, between commas", PCTL_ATTR_STRING, 0, 0, 0},
	{"out", "f32", "type of y", PCTL_ATTR_STRING, 0, 0, 0},
	{"value", "0", "a number of the type, Inf, NaN, or bits (0x..)", PCTL_ATTR_STRING, 0, 0, 0},
};
static const pctl_law iota_laws[] = {TENSOR_LAW(
	"scanned", "of one dimension, u32 or u64: the prefix sums of start, step, step, .. are y")};
static void (*const iota_checks[])(kit_law *) = {law_scanned};
static const pctl_law full_laws[] = {
	TENSOR_LAW("first", "of one dimension: y is its first element, taken everywhere")};
static void (*const full_checks[])(kit_law *) = {law_first};

static const kit_op ops[] = {
	TENSOR_OP(iota, 1, "tensor.iota", "numbers in equal steps along an axis",
		  "y = start + step * the coordinate along the axis, modulo 2^width.",
		  PCTL_CLASS_INTEGER, NULL, 0, iota_out, iota_attr, 5, NULL),
	TENSOR_OP(full, 1, "tensor.full", "one value everywhere",
		  "y = value: an integer of the type, a float's nearest f32 (exact in f16 and "
		  "bf16), or bits.",
		  PCTL_CLASS_INTEGER, NULL, 0, full_out, full_attr, 3, NULL),
};

const kit_family tensor_make_family = {ops, NULL, KIT_COUNT(ops), 0};
