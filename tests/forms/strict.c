/* The same operations as a program has them: strict floats in WGSL, legalised for a profile that grants
 * what the groups say. See forms.h. */
#include "forms.h"

#include <stdlib.h>

#include "foundation/base/str.h"
#include "compiler/legalize/legal.h"
#include "compiler/wgsl/wgsl.h"

static const char strict_head[] =
	"@group(0) @binding(0) var<storage, read> a: array<vec2<u32>>;\n"
	"@group(0) @binding(1) var<storage, read> b: array<vec2<u32>>;\n"
	"@group(0) @binding(2) var<storage, read> c: array<vec2<u32>>;\n"
	"@group(0) @binding(3) var<storage, read_write> results: array<vec2<u32>>;\n"
	"struct Chosen {\n  form: u32,\n}\n"
	"@group(0) @binding(4) var<uniform> chosen: Chosen;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"  let x = a[id.x].x;\n  let y = b[id.x].x;\n  let z = c[id.x].x;\n"
	"  var r = 0u;\n"
	"  switch (chosen.form) {\n";

/* `$` stands for the type, X Y Z for operands of it, x for the first word. A result is of the type unless
 * it says otherwise. */
static const struct {
	const char *name, *expression;
	char result;
} operations[] = {
	{"add", "X + Y", '$'},	   {"sub", "X - Y", '$'},	 {"mul", "X * Y", '$'},
	{"div", "X / Y", '$'},	   {"fma", "fma(X, Y, Z)", '$'}, {"min", "min(X, Y)", '$'},
	{"max", "max(X, Y)", '$'}, {"eq", "X == Y", 'u'},	 {"lt", "X < Y", 'u'},
	{"le", "X <= Y", 'u'},	   {"sqrt", "sqrt(X)", '$'},	 {"floor", "floor(X)", '$'},
	{"ceil", "ceil(X)", '$'},  {"trunc", "trunc(X)", '$'},	 {"round", "round(X)", '$'},
	{"to_i32", "i32(X)", 'u'}, {"to_u32", "u32(X)", 'u'},	 {"from_i32", "$(i32(x))", '$'},
	{"from_u32", "$(x)", '$'},
};
#define N_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* The operation of a form named f32_add_int, f16_add or bf16_add, and its type; N_OPERATIONS: none. */
static size_t operation_of(const char *name, char type[8])
{
	static const char *const types[] = {"f32", "f16", "bf16"};
	char full[40];

	for (size_t t = 0; t < 3; t++) {
		for (size_t i = 0; i < N_OPERATIONS; i++) {
			snprintf(full, sizeof(full), "%s_%s%s", types[t], operations[i].name,
				 t ? "" : "_int");
			if (strcmp(name, full) != 0)
				continue;
			snprintf(type, 8, "%s", types[t]);
			return i;
		}
	}
	return N_OPERATIONS;
}

int forms_is_strict(const forms_case *f)
{
	char type[8];

	return operation_of(f->name, type) < N_OPERATIONS;
}

static void add_operand(pctl_str_buf *b, const char *type, char word)
{
	if (strcmp(type, "f32") == 0)
		pctl_str_addf(b, "bitcast<f32>(%c)", word);
	else
		pctl_str_addf(b, "bitcast<vec2<%s>>(%c).x", type, word);
}

static void add_strict(pctl_str_buf *b, uint32_t number, const forms_case *f)
{
	char type[8];
	const size_t op = operation_of(f->name, type);
	const int is_word = operations[op].result == 'u';
	const int is_half = strcmp(type, "f32") != 0;

	pctl_str_addf(b, "    case %uu: {\n      r = %s", number,
		      is_word	? "u32("
		      : is_half ? "bitcast<u32>(vec2("
				: "bitcast<u32>(");
	for (const char *s = operations[op].expression; *s; s++) {
		if (*s == '$')
			pctl_str_addf(b, "%s", type);
		else if (*s >= 'X' && *s <= 'Z')
			add_operand(b, type, (char)(*s - 'X' + 'x'));
		else
			pctl_str_addf(b, "%c", *s);
	}
	if (is_half && !is_word)
		pctl_str_addf(b, ", %s(0.0)))", type);
	else
		pctl_str_addf(b, ")");
	pctl_str_addf(b, ";\n    }\n");
}

static pctl_profile profile_of(uint32_t groups)
{
	pctl_profile p = {{0}};

	for (uint32_t i = 0; i < PCTL_N_NATIVE && groups >> G_EXACT & 1; i++)
		p.native[i] = PCTL_NATIVE_EXACT;
	for (uint32_t i = PCTL_NATIVE_F64_ADD; i <= PCTL_NATIVE_F64_FROM_U32 && groups >> G_F64 & 1;
	     i++)
		p.native[i] = PCTL_NATIVE_EXACT;
	/* Drivers choose between zeros as they like. */
	p.native[PCTL_NATIVE_F32_MIN] = p.native[PCTL_NATIVE_F32_MAX] = PCTL_NATIVE_WRONG;
	if (groups >> G_EXACT & 1)
		return p;
	p.native[PCTL_NATIVE_F64_FMA] = PCTL_NATIVE_WRONG;
	if (groups >> G_F64 & 1)
		p.native[PCTL_NATIVE_F32_TO_F64] = p.native[PCTL_NATIVE_F64_TO_F32] =
			PCTL_NATIVE_NORMAL;
	if (groups >> G_NORMAL & 1) {
		p.native[PCTL_NATIVE_F32_ADD] = p.native[PCTL_NATIVE_F32_SUB] = PCTL_NATIVE_NORMAL;
		p.native[PCTL_NATIVE_F32_MUL] = p.native[PCTL_NATIVE_F32_DIV] = PCTL_NATIVE_NORMAL;
	}
	if (groups >> G_ROOT & 1)
		p.native[PCTL_NATIVE_F32_SQRT] = PCTL_NATIVE_NORMAL;
	if (groups >> G_FUSED & 1)
		p.native[PCTL_NATIVE_F32_FMA] = PCTL_NATIVE_NORMAL;
	return p;
}

rig_program forms_strict_program(rig *r, uint32_t groups, uint32_t only)
{
	const pctl_wgsl_options wgsl = {.file = "strict"};
	const pctl_profile profile = profile_of(groups);
	const pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
					    .profile = &profile};
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	pctl_program *p = NULL, *legal = NULL;
	rig_program out = {NULL, 0};
	char *text;

	pctl_str_addf(&b, "enable f16;\n%s", strict_head);
	for (uint32_t i = 0; i < forms_n_cases; i++)
		if (forms_is_strict(&forms_cases[i]) && (only == UINT32_MAX || only == i))
			add_strict(&b, i, &forms_cases[i]);
	pctl_str_addf(&b, "    default: {\n    }\n  }\n  results[id.x] = vec2<u32>(r, 0u);\n}\n");
	text = pctl_str_finish(&b);
	rig_must(r, pctl_wgsl_compile(text, strlen(text), &wgsl, &r->call, &p),
		 "the strict kernel");
	rig_must(r, pctl_legalise(p, &r->caps, &options, &r->call, &legal), "legalising");
	rig_must(r, pctl_program_encode(legal, &r->call, &out.wire, &out.n), "its wire form");
	pctl_program_destroy(legal);
	pctl_program_destroy(p);
	free(text);
	return out;
}
