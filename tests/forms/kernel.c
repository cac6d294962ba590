/* The forms as one kernel: their texts joined, and an entry point that runs one of them, by number, on
 * each triple. See forms.h. */
#include "forms.h"

#include <stdlib.h>

#include "foundation/base/str.h"
#include "compiler/wgsl/wgsl.h"

static const char *const files[] = {"f32_int", "f64_int", "f16",    "bf16",
				    "round",   "f32_f64", "guarded"};

static const char entry_head[] =
	"@group(0) @binding(0) var<storage, read> a: array<vec2<u32>>;\n"
	"@group(0) @binding(1) var<storage, read> b: array<vec2<u32>>;\n"
	"@group(0) @binding(2) var<storage, read> c: array<vec2<u32>>;\n"
	"@group(0) @binding(3) var<storage, read_write> results: array<vec2<u32>>;\n"
	"struct Chosen {\n  form: u32,\n}\n"
	"@group(0) @binding(4) var<uniform> chosen: Chosen;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"  let x = a[id.x];\n  let y = b[id.x];\n  let z = c[id.x];\n"
	"  var r = vec2<u32>(0u, 0u);\n"
	"  switch (chosen.form) {\n";

static void hear(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "PC%04u at %u:%u: %s\n", d->code, d->pos.line, d->pos.column, d->message);
}

static void add_file(pctl_str_buf *b, const char *name)
{
	char path[512], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/core/compiler/legalize/softfloat/%s.wgsl",
		 PIPECTL_SOURCE_DIR, name);
	f = fopen(path, "r");
	if (!f)
		fail_msg("%s cannot be read", path);
	while (fgets(line, sizeof(line), f))
		pctl_str_addf(b, "%s", line);
	fclose(f);
}

/* The case of one form: its operands taken from x, y and z, its result put into two words. */
static void add_case(pctl_str_buf *b, uint32_t number, const forms_case *f)
{
	const char *member = strchr(f->name, '.');
	const int n = (int)(member ? (size_t)(member - f->name) : strlen(f->name));
	const char *open, *close;

	switch (f->signature[0]) {
	case 'i':
	case 'b':
		open = "vec2<u32>(u32(";
		close = "), 0u)";
		break;
	case 'u':
		open = "vec2<u32>(";
		close = ", 0u)";
		break;
	case 'D':
	case 'L':
		open = "bitcast<vec2<u32>>(";
		close = ")";
		break;
	default:
		open = close = "";
		break;
	}
	pctl_str_addf(b, "    case %uu: {\n      r = %s%.*s(", number, open, n, f->name);
	for (uint32_t i = 0; f->signature[2 + i]; i++) {
		const char type = f->signature[2 + i];

		pctl_str_addf(b, "%s%s%c%s", i ? ", " : "",
			      type == 'i'   ? "i32("
			      : type == 'D' ? "bitcast<f64>("
					    : "",
			      "xyz"[i],
			      type == 'i'   ? ".x)"
			      : type == 'D' ? ")"
			      : type == 'u' ? ".x"
					    : "");
	}
	pctl_str_addf(b, ")%s%s;\n    }\n", member ? member : "", close);
}

/* Ties go up instead of to even. */
static void plant(char *text)
{
	static const char right[] = "(m & 0xffu) + (q & 1u) > 0x80u";
	char *at = strstr(text, right);

	if (!at)
		fail_msg("the place for the planted fault is gone");
	memcpy(strstr(at, "q & 1u"), "0u + 1", 6);
}

rig_program forms_program(uint32_t groups, uint32_t only, int planted)
{
	const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = hear};
	const pctl_wgsl_options options = {.file = "forms", .flags = PCTL_WGSL_NATIVE};
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	rig_program out = {NULL, 0};
	pctl_program *p = NULL;
	char *text;

	for (uint32_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		add_file(&b, files[i]);
	pctl_str_addf(&b, "%s", entry_head);
	for (uint32_t i = 0; i < forms_n_cases; i++)
		if (only == UINT32_MAX ? groups >> forms_cases[i].group & 1 : only == i)
			add_case(&b, i, &forms_cases[i]);
	pctl_str_addf(&b, "    default: {\n    }\n  }\n  results[id.x] = r;\n}\n");
	text = pctl_str_finish(&b);
	if (planted)
		plant(text);
	if (pctl_wgsl_compile(text, strlen(text), &options, &call, &p) != PCTL_OK)
		fail_msg("the forms do not compile");
	if (pctl_program_encode(p, &call, &out.wire, &out.n) != PCTL_OK)
		fail_msg("the forms have no wire form");
	pctl_program_destroy(p);
	free(text);
	return out;
}
