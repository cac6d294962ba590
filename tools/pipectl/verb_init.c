/* `init`: a first pipeline that a person can change: a shader job, an op job, and data for them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "foundation/base/file.h"
#include "foundation/conf/conf.h"

#define SAMPLES 1024u

static const char pipeline_text[] =
	"// What runs on what: `pipectl check`, `plan` and `run` take this file. The language: man "
	"pipectl-pipeline.\n"
	"pipeline : {\n"
	"  name = \"%s\";\n"
	"  about = \"Scales numbers with a shader of ours, then adds them up\";\n"
	"  class = \"integer\"; // integer, strict or approximate: the most that a job here may "
	"need\n"
	"  gas_limit = \"1_000_000\"; // gas: the work that a run may cost at most, the same on "
	"every device\n"
	"  params : { factor = 3; }; // --set factor=5\n"
	"  inputs : {\n"
	"    values : { type = \"u32[n]\"; file = \"values.u32\"; }; // or --in values=FILE\n"
	"  };\n"
	"  jobs = (\n"
	"    {\n"
	"      id = \"scale\";\n"
	"      shader = \"scale.wgsl\";\n"
	"      entry = \"main\";\n"
	"      dispatch = ( \"n/64\" ); // workgroups of 64 invocations, rounded up\n"
	"      in : { x = \"$values\"; };\n"
	"      out : { y = \"u32[n]\"; };\n"
	"      override : { factor = \"$factor\"; };\n"
	"    },\n"
	"    // An op of a library; `pipectl op list` has them all.\n"
	"    { id = \"flip\"; op = \"int.reverse@1\"; in : { x = \"scale.y\"; }; }\n"
	"  );\n"
	"  outputs : { scaled = \"scale.y\"; flipped = \"flip.y\"; };\n"
	"};\n";

static const char shader_text[] = "// One invocation an element. An access behind the end of a "
				  "buffer reads zero and writes nothing.\n"
				  "override factor : u32 = 1u;\n"
				  "@group(0) @binding(0) var<storage, read> x : array<u32>;\n"
				  "@group(0) @binding(1) var<storage, read_write> y : array<u32>;\n"
				  "\n"
				  "@compute @workgroup_size(64)\n"
				  "fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
				  "  if (id.x < arrayLength(&y)) {\n"
				  "    y[id.x] = x[id.x] * factor;\n"
				  "  }\n"
				  "}\n";

/* 0, 1, 2, ..: little-endian u32. */
static void fill(uint8_t data[4 * SAMPLES])
{
	for (uint32_t i = 0; i < SAMPLES; i++) {
		for (uint32_t k = 0; k < 4; k++)
			data[4 * i + k] = (uint8_t)(i >> 8 * k);
	}
}

/* The name of a pipeline, of what a directory is called: letters, digits, '_', '-' and '.', a letter first. */
static const char *name_of(pctl_app *app, const char *dir)
{
	char *full = realpath(dir, NULL), *name;
	const char *slash = full == NULL ? NULL : strrchr(full, '/');

	name = pctl_arena_dup(app->arena,
			      slash == NULL || slash[1] == '\0' ? "pipeline" : slash + 1);
	free(full);
	for (char *s = name; s != NULL && *s != '\0'; s++) {
		int letter = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z');

		if (!letter && (s == name || strchr("0123456789_-.", *s) == NULL))
			*s = s == name ? 'p' : '_';
	}
	return name;
}

pctl_status pctl_verb_init(pctl_app *app)
{
	const char *dir = app->line.n_arguments == 0 ? "." : app->line.arguments[0];
	const char *name = pctl_option_value(&app->line, "--name"), *text;
	uint8_t data[4 * SAMPLES];
	struct {
		const char *name, *path;
		const void *data;
		size_t n;
	} files[3] = {{.name = "scale.wgsl", .data = shader_text, .n = sizeof(shader_text) - 1},
		      {.name = "values.u32", .data = data, .n = sizeof(data)}};
	struct stat st;
	pctl_status status = pctl_file_make_dirs(dir, app->call);

	fill(data);
	if (status == PCTL_OK && name == NULL)
		name = name_of(app, dir);
	if (status != PCTL_OK)
		return status;
	text = name == NULL ? NULL : pctl_arena_printf(app->arena, pipeline_text, name);
	files[2].name = name == NULL ? NULL : pctl_arena_printf(app->arena, "%s.pipe.cfg", name);
	files[2].data = text;
	files[2].n = text == NULL ? 0 : strlen(text);
	for (uint32_t i = 0; i < 3; i++) {
		files[i].path = files[i].name == NULL ? NULL
						      : pctl_arena_printf(app->arena, "%s/%s", dir,
									  files[i].name);
		if (text == NULL || files[i].path == NULL)
			return pctl_no_memory(app->call, "a pipeline");
		if (lstat(files[i].path, &st) == 0)
			status = pctl_refuse_at(
				app->call, PC24_OUTPUT_EXISTS, NULL, "name another directory",
				"%s is there already; nothing was written", files[i].path);
	}
	if (status == PCTL_OK && (strchr(name, '/') != NULL || strchr(name, '"') != NULL ||
				  strchr(name, '\\') != NULL || strlen(name) > 100))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--name takes letters, digits, '_', '-' and '.', not \"%s\"",
				   name);
	for (uint32_t i = 0; status == PCTL_OK && i < 3; i++)
		status = pctl_file_write(files[i].path, files[i].data, files[i].n, 1, app->call);
	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_kv_string(&app->document, "pipeline", files[2].path);
		pctl_json_kv_string(&app->document, "shader", files[0].path);
		pctl_json_kv_string(&app->document, "data", files[1].path);
	} else {
		for (uint32_t i = 3; i-- > 0;)
			printf("%s\n", files[i].path);
		if (!app->quiet)
			fprintf(stderr, "now: pipectl run %s\n", files[2].path);
	}
	return PCTL_OK;
}
