/* What WGSL takes and what it refuses, one case a line in tests/golden/wgsl/spec: the front end agrees with each, or the line
 * says under which code it refuses what WGSL takes. The README there says how a line is written. */
#include <dirent.h>
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "runtime/graph/kernel.h"
#include "main.h"

#define ROOT PIPECTL_SOURCE_DIR "/tests/golden/wgsl/spec/"
#define MAX_LINE 2048
#define MAX_TEXT 8192
#define MAX_CODES 256

enum wrap { WRAP_NONE, WRAP_MODULE, WRAP_DECL, WRAP_STMT };

/* What every statement may use. */
static const char prologue[] =
	"struct S { x : i32, y : array<u32, 4> }\n"
	"@group(0) @binding(0) var<storage, read_write> rw : array<u32>;\n"
	"@group(0) @binding(1) var<storage> ro : array<u32>;\n"
	"@group(0) @binding(2) var<uniform> un : vec4<u32>;\n"
	"@group(0) @binding(3) var<storage, read_write> ra : array<atomic<u32>>;\n"
	"var<private> pi : i32; var<private> pu : u32; var<private> pf : f32; var<private> pb : "
	"bool;\n"
	"var<private> pv : vec4<u32>; var<private> pa : array<u32, 4>;\n"
	"var<workgroup> wg : array<u32, 8>; var<workgroup> wu : u32; var<workgroup> wa : "
	"atomic<u32>;\n"
	"override ov : u32 = 1;\n"
	"fn none() { }\nfn give() -> u32 { return 1u; }\n"
	"@must_use fn used() -> u32 { return 1u; }\nfn takes(a : u32) { }\n"
	"@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id : vec3<u32>,\n"
	"@builtin(workgroup_id) wid : vec3<u32>) {\n";

static uint32_t no_count(void *ctx)
{
	(void)ctx;
	return 0;
}

static const pctl_op_source no_ops = {.count = no_count};

static int no_override_lacks_a_default(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_overrides; i++)
		if (!p->overrides[i].has_default)
			return 0;
	return 1;
}

static void build(char *out, enum wrap wrap, const char *text)
{
	static const char entry[] = "\n@compute @workgroup_size(1) fn main() { }\n";

	assert_true(strlen(text) < MAX_LINE);
	sprintf(out, "%s%s%s", wrap == WRAP_STMT ? prologue : "", text,
		wrap == WRAP_STMT ? "\n}\n" : entry);
}

/* 1 when it is accepted, -1 when not by the front end or a proof; else `codes` has each code once, in order. */
static int accepts(const char *text, char *codes)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_kernels *k = pctl_kernels_create(&no_ops);
	const pctl_kernel_source source = {
		.name = "case.wgsl", .text = text, .n_text = strlen(text)};
	const pctl_kernel_module *unit;
	const pctl_program *p;
	pctl_status status = pctl_kernels_compiled(k, &source, call, &p);
	int foreign = 0;

	/* With the defaults of its overrides, and with its proofs. */
	if (status == PCTL_OK && p->n_entries == 1 && no_override_lacks_a_default(p))
		status = pctl_kernels_get(k, &source, call, &unit);
	*codes = '\0';
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++) {
		const uint32_t number = pctl_diag_list_at(l, i)->code;
		char code[16];

		snprintf(code, sizeof(code), "PC%u", number);
		if (!strstr(codes, code) && strlen(codes) + sizeof(code) < MAX_CODES)
			sprintf(codes + strlen(codes), "%s%s", *codes ? "," : "", code);
		/* PC2040 to PC2049: what an override's value makes of an expression; PC2050 and on: proofs. */
		foreign |= number < 2040 || (number > 2059 && number < 2100) || number > 2499;
	}
	pctl_kernels_destroy(k);
	pctl_diag_list_destroy(l);
	return foreign ? -1 : status == PCTL_OK;
}

/* 1 when line and front end agree. */
static int agrees(const char *file, uint32_t number, enum wrap wrap, char *line)
{
	static char text[MAX_TEXT];
	char codes[MAX_CODES], *body = line + 2, *end;
	int ok;

	if (*line == '~') {
		end = strchr(body, ' ');
		assert_non_null(end);
		*end = '\0';
		build(text, wrap, end + 1);
		ok = accepts(text, codes);
		if (!ok && !strcmp(codes, body))
			return 1;
		fprintf(stderr, "%s:%u: %s, not %s: %s\n", file, number, ok ? "accepted" : codes,
			body, end + 1);
		return 0;
	}
	build(text, wrap, body);
	ok = accepts(text, codes);
	if (ok == (*line != '-'))
		return 1;
	fprintf(stderr, "%s:%u: %s %s: %s\n", file, number, ok ? "accepted" : "refused", codes,
		body);
	return 0;
}

static uint32_t walk(const char *file, uint32_t *n)
{
	enum wrap wrap = WRAP_NONE;
	uint32_t number = 0, bad = 0;
	char path[4096], line[MAX_LINE];
	FILE *f;

	snprintf(path, sizeof(path), ROOT "%s", file);
	f = fopen(path, "rb");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		number++;
		line[strcspn(line, "\n")] = '\0';
		if (!*line || *line == '#')
			continue;
		if (!strcmp(line, "stmt")) {
			wrap = WRAP_STMT;
		} else if (!strcmp(line, "decl")) {
			wrap = WRAP_DECL;
		} else if (!strcmp(line, "module")) {
			wrap = WRAP_MODULE;
		} else {
			assert_true(wrap != WRAP_NONE && strchr("+-~*", *line) && line[1] == ' ');
			++*n;
			bad += !agrees(file, number, wrap, line);
		}
	}
	fclose(f);
	return bad;
}

static int is_cases(const struct dirent *e)
{
	const size_t n = strlen(e->d_name);

	return n > 6 && !strcmp(e->d_name + n - 6, ".cases");
}

static void test_graph_spec__the_front_end_agrees_with_every_line(void **state)
{
	struct dirent **list;
	const int n = scandir(ROOT, &list, is_cases, alphasort);
	uint32_t cases = 0, bad = 0;

	(void)state;
	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		bad += walk(list[i]->d_name, &cases);
		free(list[i]);
	}
	free(list);
	printf("%u cases, %u disagree\n", cases, bad);
	assert_true(cases > 1000);
	assert_int_equal(bad, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_graph_spec__the_front_end_agrees_with_every_line))
