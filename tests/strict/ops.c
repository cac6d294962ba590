/* Implementation of ops.h. */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "foundation/base/str.h"
#include "target.h"

#define BINARY(op)                                           \
	static uint32_t do_##op(soft f, const uint32_t v[3]) \
	{                                                    \
		return soft_##op(f, v[0], v[1]);             \
	}
#define UNARY(op)                                            \
	static uint32_t do_##op(soft f, const uint32_t v[3]) \
	{                                                    \
		return soft_##op(f, v[0]);                   \
	}
BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
BINARY(min)
BINARY(max)
BINARY(compare)
UNARY(sqrt)
UNARY(negate)
UNARY(abs)
UNARY(to_i32)
UNARY(to_u32)
UNARY(from_i32)
UNARY(from_u32)

static uint32_t do_fma(soft f, const uint32_t v[3])
{
	return soft_fma(f, v[0], v[1], v[2]);
}

/* What a*b+c is, never the fused one. */
static uint32_t do_muladd(soft f, const uint32_t v[3])
{
	return soft_add(f, soft_mul(f, v[0], v[1]), v[2]);
}

static uint32_t do_floor(soft f, const uint32_t v[3])
{
	return soft_integral(f, v[0], SOFT_FLOOR);
}

static uint32_t do_ceil(soft f, const uint32_t v[3])
{
	return soft_integral(f, v[0], SOFT_CEIL);
}

static uint32_t do_trunc(soft f, const uint32_t v[3])
{
	return soft_integral(f, v[0], SOFT_TRUNC);
}

static uint32_t do_round(soft f, const uint32_t v[3])
{
	return soft_integral(f, v[0], SOFT_ROUND);
}

static uint32_t do_to_f32(soft f, const uint32_t v[3])
{
	return soft_convert(f, &soft_f32, v[0]);
}

static uint32_t do_to_f16(soft f, const uint32_t v[3])
{
	return soft_convert(f, &soft_f16, v[0]);
}

static uint32_t do_to_bf16(soft f, const uint32_t v[3])
{
	return soft_convert(f, &soft_bf16, v[0]);
}

/* Comparisons as conditions of selects and as values. */
#define COMPARE                                                                                    \
	"select(0u, 1u, X == Y) | select(0u, 2u, X != Y) | (u32(X < Y) << 2u) | select(0u, 8u, X " \
	"<= Y) | "                                                                                 \
	"(u32(X > Y) << 4u) | select(0u, 32u, X >= Y)"

#define EVERY(type, format)                                                          \
	{type, "add", format, 2, "W(X + Y)", do_add},                                \
		{type, "sub", format, 2, "W(X - Y)", do_sub},                        \
		{type, "mul", format, 2, "W(X * Y)", do_mul},                        \
		{type, "div", format, 2, "W(X / Y)", do_div},                        \
		{type, "fma", format, 3, "W(fma(X, Y, Z))", do_fma},                 \
		{type, "muladd", format, 3, "W(X * Y + Z)", do_muladd},              \
		{type, "sqrt", format, 1, "W(sqrt(X))", do_sqrt},                    \
		{type, "min", format, 2, "W(min(X, Y))", do_min},                    \
		{type, "max", format, 2, "W(max(X, Y))", do_max},                    \
		{type, "neg", format, 1, "W(-X)", do_negate},                        \
		{type, "abs", format, 1, "W(abs(X))", do_abs},                       \
		{type, "compare", format, 2, COMPARE, do_compare},                   \
		{type, "floor", format, 1, "W(floor(X))", do_floor},                 \
		{type, "ceil", format, 1, "W(ceil(X))", do_ceil},                    \
		{type, "trunc", format, 1, "W(trunc(X))", do_trunc},                 \
		{type, "round", format, 1, "W(round(X))", do_round},                 \
		{type, "to_i32", format, 1, "bitcast<u32>(i32(X))", do_to_i32},      \
		{type, "to_u32", format, 1, "u32(X)", do_to_u32},                    \
		{type, "from_i32", format, 0, "W($(bitcast<i32>(I)))", do_from_i32}, \
	{                                                                            \
		type, "from_u32", format, 0, "W($(I))", do_from_u32                  \
	}

const strict_op strict_ops[] = {
	EVERY("f32", &soft_f32),
	{"f32", "to_f16", &soft_f32, 1, "bitcast<u32>(vec2<f16>(f16(X), f16(0.0)))", do_to_f16},
	{"f32", "to_bf16", &soft_f32, 1, "bitcast<u32>(vec2<bf16>(bf16(X), bf16(0.0)))",
	 do_to_bf16},
	EVERY("f16", &soft_f16),
	{"f16", "to_f32", &soft_f16, 1, "bitcast<u32>(f32(X))", do_to_f32},
	EVERY("bf16", &soft_bf16),
	{"bf16", "to_f32", &soft_bf16, 1, "bitcast<u32>(f32(X))", do_to_f32},
};
const uint32_t n_strict_ops = sizeof(strict_ops) / sizeof(strict_ops[0]);

/* `$`, operands and W( (the bits of a value) put in. */
static void add_expression(const strict_op *op, pctl_str_buf *t)
{
	const int is_half = op->format != &soft_f32;
	int depth = 0, open = -1;

	for (const char *s = op->wgsl; *s != '\0'; s++) {
		const char *before = s == op->wgsl ? " " : s - 1;

		depth += *s == '(';
		depth -= *s == ')';
		if (*s == '$')
			pctl_str_addf(t, "%s", op->type);
		else if (*s >= 'X' && *s <= 'Z')
			pctl_str_addf(t, "%c", *s - 'X' + 'x');
		else if (*s == 'I')
			pctl_str_addf(t, "v");
		else if (*s == 'W' && *before == ' ') {
			pctl_str_addf(t, is_half ? "bitcast<u32>(vec2<%s>" : "bitcast<u32>",
				      op->type);
			open = depth;
		} else if (*s == ')' && depth == open && is_half)
			pctl_str_addf(t, ", %s(0.0)))", op->type);
		else
			pctl_str_addf(t, "%c", *s);
	}
}

uint32_t strict_op_salt(const strict_op *op)
{
	uint32_t h = 0x811c9dc5u;

	for (const char *s = op->type; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x01000193u;
	for (const char *s = op->name; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 0x01000193u;
	return h;
}

static void add_operand(const strict_op *op, const char *name, const char *word, pctl_str_buf *t)
{
	if (op->format == &soft_f32)
		pctl_str_addf(t, "  let %s = bitcast<f32>(%s);\n", name, word);
	else
		pctl_str_addf(t, "  let %s = bitcast<vec2<%s>>(%s).x;\n", name, op->type, word);
}

static const char *enable(const strict_op *op)
{
	return strstr(op->wgsl, "<f16>") != NULL || op->format == &soft_f16 ? "enable f16;\n" : "";
}

char *strict_op_text(const strict_op *op, int sent, uint32_t row)
{
	static const char *const names[3] = {"x", "y", "z"}, *const words[3] = {"n.x", "n.y",
										"n.z"};
	char *module = sent ? strdup("") : cases_wgsl(op->format), *out;
	pctl_str_buf t = PCTL_STR_BUF_INIT;

	if (sent)
		pctl_str_addf(&t, "  let k = 3u * (i + p.a);\n  let n = vec3<u32>(q[k], q[k + 1u], "
				  "q[k + 2u]);\n  let v = n.x;\n");
	else if (op->n == 0)
		pctl_str_addf(&t, "  let v = integer(0x%xu, p.base + i);\n", strict_op_salt(op));
	else
		pctl_str_addf(&t, "  let n = numbers(0x%xu, p.base + i);\n", strict_op_salt(op));
	for (int i = 0; i < op->n; i++)
		add_operand(op, names[i], words[i], &t);
	pctl_str_addf(&t, "  r[i] = ");
	add_expression(op, &t);
	pctl_str_addf(&t, ";\n");
	out = target_text(enable(op), module, t.data, sent, row);
	pctl_str_drop(&t);
	free(module);
	return out;
}

char *strict_op_pairs(const strict_op *op, uint32_t row)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;
	char *out;

	pctl_str_addf(&t, "  let at = p.base + 2u * i;\n  var both = 0u;\n"
			  "  for (var k = 0u; k < 2u; k = k + 1u) {\n");
	add_operand(op, "x", "(at >> 16u)", &t);
	add_operand(op, "y", "((at + k) & 0xffffu)", &t);
	pctl_str_addf(&t, "  both = both | ((");
	add_expression(op, &t);
	pctl_str_addf(&t, ") << (16u * k));\n  }\n  r[i] = both;\n");
	out = target_text(enable(op), "", t.data, 0, row);
	pctl_str_drop(&t);
	return out;
}

uint32_t strict_op_expect(const strict_op *op, uint32_t salt, uint32_t counter,
			  uint32_t operands[3])
{
	if (op->n == 0) {
		operands[0] = cases_integer(salt, counter);
		operands[1] = operands[2] = 0;
	} else {
		cases_numbers(op->format, salt, counter, operands);
	}
	return op->oracle(op->format, operands);
}
