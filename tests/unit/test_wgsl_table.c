/* The table of builtins: functions that are one opcode become that one, and BUILTINS.md says what
 * builtins.def does. */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/wgsl/builtins.h"
#include "compiler/wgsl/wgsl.h"

static pctl_program *compile(const char *text, uint32_t flags)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_wgsl_options o = {.file = "test.wgsl", .flags = flags};
	pctl_program *p;
	pctl_status status = pctl_wgsl_compile(text, strlen(text), &o, pctl_diag_list_call(l), &p);

	if (status != PCTL_OK) {
		pctl_diag_list_source(l, "test.wgsl", text, strlen(text));
		pctl_diag_render_text(l, stderr, 0);
	}
	assert_int_equal(status, PCTL_OK);
	pctl_diag_list_destroy(l);
	return p;
}

/* The only float instruction of a call, strict or native. */
static void test_wgsl_table__one_opcode_where_there_is_one(void **state)
{
	static const struct {
		const char *text, *strict;
	} ops[] = {
		{"x + y", "FADD"},	  {"x - y", "FSUB"},	  {"x * y", "FMUL"},
		{"x / y", "FDIV"},	  {"-x", "FNEG"},	  {"abs(x)", "FABS"},
		{"min(x, y)", "FMIN"},	  {"max(x, y)", "FMAX"},  {"sqrt(x)", "FSQRT"},
		{"fma(x, y, x)", "FFMA"}, {"floor(x)", "FFLOOR"}, {"ceil(x)", "FCEIL"},
		{"trunc(x)", "FTRUNC"},	  {"round(x)", "FROUND"}, {"sin(x)", "FSIN"},
		{"cos(x)", "FCOS"},	  {"tan(x)", "FTAN"},	  {"asin(x)", "FASIN"},
		{"acos(x)", "FACOS"},	  {"atan(x)", "FATAN"},	  {"atan2(x, y)", "FATAN2"},
		{"sinh(x)", "FSINH"},	  {"cosh(x)", "FCOSH"},	  {"tanh(x)", "FTANH"},
		{"asinh(x)", "FASINH"},	  {"acosh(x)", "FACOSH"}, {"atanh(x)", "FATANH"},
		{"exp(x)", "FEXP"},	  {"exp2(x)", "FEXP2"},	  {"exp10(x)", "FEXP10"},
		{"log(x)", "FLOG"},	  {"log2(x)", "FLOG2"},	  {"log10(x)", "FLOG10"},
		{"pow(x, y)", "FPOW"},	  {"rsqrt(x)", "FRSQRT"}, {"cbrt(x)", "FCBRT"},
		{"erf(x)", "FERF"},	  {"erfc(x)", "FERFC"},	  {"log1p(x)", "FLOG1P"},
		{"expm1(x)", "FEXPM1"},	  {"length(x)", "FABS"},
	};
	static const char *const types[] = {"f32",	 "f16",	      "bf16",
					    "vec3<f32>", "vec2<f16>", "vec4<bf16>"};
	char text[512];
	uint32_t i, k, at, native, late;

	(void)state;
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		for (k = 0; k < 12; k++) {
			const char *type = types[k % 6];
			pctl_program *p;
			const char *name;

			native = k >= 6;
			if (native && strstr(type, "bf16"))
				continue;
			if (strstr(type, "vec") && strstr(ops[i].text, "length"))
				continue;
			snprintf(text, sizeof(text),
				 "enable f16;\nfn f(x: %s, y: %s) -> %s { return %s; }\n"
				 "@compute @workgroup_size(1) fn main() { let r = f(%s(), %s()); "
				 "}\n",
				 type, type, type, ops[i].text, type, type);
			p = compile(text, native ? PCTL_WGSL_NATIVE : 0);
			assert_int_equal(p->functions[1].n_insts, 4); /* two parameters, return */
			at = p->functions[1].first_inst + 2;
			name = pctl_op_get(p->insts[at].op)->name;
			assert_string_equal(name + 1, ops[i].strict + 1);
			/* erf, erfc, log1p and expm1 have no native form. */
			late = p->insts[at].op >= PCTL_OP_FERF && p->insts[at].op <= PCTL_OP_FEXPM1;
			assert_int_equal(name[0], native && !late ? 'N' : 'F');
			pctl_program_destroy(p);
		}
}

/* ---- the published table ---- */

static void put_line(char **at, const char *name, const char *arguments, const char *text)
{
	const char *c;

	*at += sprintf(*at, "| `%s` | %s | ", name, arguments);
	for (c = text; *c; c++)
		*at += sprintf(*at, *c == '|' ? "\\%c" : "%c", *c);
	*at += sprintf(*at, " |\n");
}

static void test_wgsl_table__the_published_table_is_the_one_in_use(void **state)
{
	static const char *const counts[] = {"-", "1", "2", "3", "4"};
	static char want[1 << 16], found[1 << 16];
	const char *path = PIPECTL_SOURCE_DIR "/core/compiler/wgsl/BUILTINS.md";
	char *at = want;
	uint32_t i;
	size_t n;
	FILE *f;

	(void)state;
	at += sprintf(
		at,
		"# Builtin functions and their definitions\n\n"
		"Made from builtins.def by tests/unit/test_wgsl_table.c, which fails when it is "
		"stale and\nwrites it anew when PIPECTL_WRITE_TABLES is set. Every step of a float "
		"definition is rounded to the\ntype (nearest even); operators bind as in WGSL. "
		"Remainder: `x %% y` = x - y * trunc(x / y). Matrix\nproducts are dots of rows. "
		"Constants: abstract floats are f64; the functions called correctly\nrounded are "
		"computed in f32 on abstract arguments, after rounding to it; frexp, modf "
		"and\nquantizeToF16 make f32 of abstract arguments; a result that is infinite or "
		"NaN is an error.\n\n| function | arguments | definition |\n|---|---|---|\n");
	for (i = 0; i < pctl_wgsl_builtin_count(); i++) {
		const struct builtin *b = pctl_wgsl_builtin_at(i);

		if (pctl_wgsl_builtin_is_type(b) || b->kind == BUILTIN_REFUSED)
			continue;
		assert_true(*b->text != 0);
		put_line(&at, b->name, counts[b->n_args], b->text);
	}
	if (getenv("PIPECTL_WRITE_TABLES")) {
		f = fopen(path, "wb");
		assert_non_null(f);
		assert_int_equal(fwrite(want, 1, strlen(want), f), strlen(want));
		fclose(f);
	}
	f = fopen(path, "rb");
	assert_non_null(f);
	n = fread(found, 1, sizeof(found) - 1, f);
	found[n] = 0;
	fclose(f);
	assert_string_equal(found, want);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_wgsl_table__one_opcode_where_there_is_one),
		PCTL_TEST(test_wgsl_table__the_published_table_is_the_one_in_use))
