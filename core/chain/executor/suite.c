/* See suite.h. */
#include "chain/executor/suite.h"

#include <string.h>

#include "foundation/base/str.h"

#define FRAME_OF(n)                                                       \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"       \
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(" n ")\n"                               \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>,\n"         \
	"\t@builtin(local_invocation_index) l: u32) {\n"
#define FRAME FRAME_OF("64")
#define ATOMICS(step)                                                             \
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"               \
	"@group(1) @binding(0) var<storage, read_write> y: array<atomic<u32>>;\n" \
	"@compute @workgroup_size(64)\n"                                          \
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"               \
	"\tlet a = x[id.x % arrayLength(&x)];\n"                                  \
	"\tfor (var i = 0u; i < 32u; i++) { " step " }\n}\n"

/* A text of its own, or NULL and a step. */
typedef struct entry {
	pctl_suite_kernel k;
	const char *type, *text;
} entry;

/* The long one is made by repeating. */
#define LONG "LONG"

static const entry entries[] = {
#define SUITE_GROUPS PCTL_SUITE_GROUPS
#define SUITE_JOBS PCTL_SUITE_JOBS
#define SUITE_OUTPUT PCTL_SUITE_OUTPUT
#define SUITE_BUILDS PCTL_SUITE_BUILDS
#define SUITE_STEP(name, row, type, step) \
	{{name, row, PCTL_SUITE_GROUPS, 64, 64, 0, 0, 0}, type, step},
#define SUITE_ODD_STEP(name, row, type, step) \
	{{name, row, PCTL_SUITE_GROUPS, 64, 64, 0, 1, 0}, type, step},
#define SUITE_FLOAT(name, row, step) {{name, row, PCTL_SUITE_GROUPS, 64, 64, 1, 0, 0}, "f32", step},
#define SUITE_TEXT(name, row, form, invocations, words, text) \
	{{name, row, form, invocations, words, 0, 0, 0}, NULL, text},
#define SUITE_ODD_TEXT(name, row, form, invocations, words, text) \
	{{name, row, form, invocations, words, 0, 1, 0}, NULL, text},
#include "chain/executor/suite.def"
};
#define N_ENTRIES ((uint32_t)(sizeof(entries) / sizeof(entries[0])))

const pctl_suite_kernel *pctl_suite_at(uint32_t i)
{
	return i < N_ENTRIES ? &entries[i].k : NULL;
}

uint32_t pctl_suite_count(void)
{
	return N_ENTRIES;
}

/* What steps may name. */
static void helpers(pctl_str_buf *s, const char *step)
{
	if (strstr(step, "table[") != NULL) {
		pctl_str_add(s, "const table = array<u32, 64>(");
		for (uint32_t i = 0; i < 64; i++)
			pctl_str_addf(s, "%uu, ", i * 2654435761u);
		pctl_str_add(s, ");\n");
	}
	if (strstr(step, "p[") != NULL)
		pctl_str_add(s, "var<private> p: array<u32, 64>;\n");
	if (strstr(step, "w[") != NULL)
		pctl_str_add(s, "var<workgroup> w: array<u32, 64>;\n");
	if (strstr(step, "nothing(") != NULL || strstr(step, "deep(") != NULL)
		pctl_str_add(s, "fn nothing(c: u32) -> u32 { return c; }\n");
	if (strstr(step, "deep(") != NULL)
		pctl_str_add(
			s,
			"fn mid(c: u32) -> u32 { return nothing(nothing(nothing(nothing(c)))); }\n"
			"fn deep(c: u32) -> u32 { return mid(mid(mid(mid(c)))); }\n");
	if (strstr(step, "fresh(") != NULL)
		pctl_str_add(s, "fn fresh(c: u32) -> u32 {\n\tvar q: array<u32, 64>;\n"
				"\tq[c & 63u] = c;\n\treturn q[(c >> 3u) & 63u] * 3u + c;\n}\n");
}

/* Floats start near one, integers anywhere. */
static void begin(pctl_str_buf *s, const char *type)
{
	const int is_float = type[0] == 'f';

	pctl_str_addf(s, FRAME "\tvar a = %s(x[id.x %% arrayLength(&x)] + l)%s;\n", type,
		      is_float ? " * 0.03125f + 0.5f" : "");
	pctl_str_addf(s, "\tlet b = (%s(x[0] + id.x * 2u)%s;\n", type,
		      is_float			 ? " * 0.0078125f) + 1.0f"
		      : strcmp(type, "u64") == 0 ? " * 6364136223846793005lu) | 1lu"
		      : strcmp(type, "i64") == 0 ? " * 6364136223846793005li) | 1li"
		      : type[0] == 'i'		 ? " * 1664525) | 1"
						 : " * 1664525u) | 1u");
}

/* What is said of the type is put where it may stand: shifts and the turn count in u32. */
static void steps(pctl_str_buf *s, const entry *e)
{
	pctl_str_addf(s, "\tfor (var turn = 0u; turn < 32u; turn++) {\n\t\tlet i = %s(turn);\n",
		      e->type);
	for (uint32_t k = 0; k < 8; k++)
		pctl_str_addf(s, "\t\t%s\n", e->text);
	pctl_str_add(s, "\t}\n");
	pctl_str_addf(s, "\ty[id.x] = %s;\n}\n",
		      e->type[0] == 'f'		      ? "bitcast<u32>(a)"
		      : strstr(e->type, "64") != NULL ? "u32(a) ^ u32(a >> 32u)"
						      : "u32(a)");
}

static void long_text(pctl_str_buf *s)
{
	pctl_str_add(s, FRAME "\tvar a = x[id.x % arrayLength(&x)] + number;\n");
	for (uint32_t k = 0; k < 250; k++)
		pctl_str_addf(s, "\ta = (a ^ (a >> %uu)) * %uu;\n", k % 13 + 3,
			      k * 2u + 2654435761u);
	pctl_str_add(s, "\ty[id.x] = a;\n}\n");
}

char *pctl_suite_text(uint32_t i)
{
	const entry *e = &entries[i];
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const char *is_long;

	if (e->type == NULL) {
		is_long = strstr(e->text, LONG);
		if (is_long == NULL)
			pctl_str_add(&s, e->text);
		else {
			pctl_str_add(&s, "override number: u32;\n");
			long_text(&s);
		}
	} else {
		helpers(&s, e->text);
		begin(&s, e->type);
		steps(&s, e);
	}
	if (s.failed) {
		pctl_str_drop(&s);
		return NULL;
	}
	return s.data;
}
