/* The hard cases of the elementary functions (hard/FUNCTION.txt) as strict WGSL on a device, legalised for one whose
 * arithmetic is exact (its f64 is used) or of which nothing is proved (integers only). One kernel a format and function.
 * usage: hard --plugin FILE [--device N] [--integers | --fuse] FILE.txt... */
#include <getopt.h>
#include <stdlib.h>

#include "compiler/legalize/legal.h"
#include "rig.h"
#include "compiler/wgsl/wgsl.h"

enum { MOST = 1 << 16 };

static struct {
	const char *plugin;
	uint32_t device, integers, fuse;
	char **files;
	int n;
} set;

static const char *const formats[3] = {"f32", "f16", "bf16"};

typedef struct list {
	uint32_t n;
	uint32_t a[MOST], b[MOST], want[MOST], got[MOST];
} list;

/* The lines of one format. 1: two operands a line. */
static int list_read(const char *path, const char *format, list *l)
{
	FILE *file = fopen(path, "r");
	char text[160], type[8];
	int two = 0;

	l->n = 0;
	if (!file)
		fail_msg("%s cannot be read", path);
	while (fgets(text, sizeof(text), file) && l->n < MOST) {
		unsigned v[3];
		const int n = sscanf(text, "%7s %x %x %x", type, &v[0], &v[1], &v[2]);

		if (text[0] == '#' || n < 3 || strcmp(type, format))
			continue;
		two = n == 4;
		l->a[l->n] = v[0];
		l->b[l->n] = two ? v[1] : 0;
		l->want[l->n++] = two ? v[2] : v[1];
	}
	fclose(file);
	return two;
}

static uint8_t *kernel_wire(rig *r, const char *function, const char *format, int two, uint64_t *n)
{
	const pctl_wgsl_options how = {.file = "hard.wgsl"};
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options)};
	const int wide = strcmp(format, "f32") == 0;
	pctl_program *p = NULL, *legal = NULL;
	pctl_profile profile;
	uint8_t *wire = NULL;
	char text[1600], in[2][64];

	for (int i = 0; i < 2; i++)
		snprintf(in[i], sizeof(in[i]),
			 wide ? "bitcast<%s>(%c[i])" : "bitcast<vec2<%s>>(%c[i]).x", format,
			 "ab"[i]);
	snprintf(text, sizeof(text),
		 "%s@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
		 "@group(0) @binding(1) var<storage, read> b: array<u32>;\n"
		 "@group(0) @binding(2) var<storage, read_write> y: array<u32>;\n"
		 "@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) id: "
		 "vec3<u32>) {\n"
		 "  let i = id.x;\n  let v = %s(%s%s%s);\n  y[i] = %s + 0u * b[i];\n}\n",
		 strcmp(format, "f16") == 0 ? "enable f16;\n" : "", function, in[0],
		 two ? ", " : "", two ? in[1] : "",
		 wide			      ? "bitcast<u32>(v)"
		 : strcmp(format, "f16") == 0 ? "bitcast<u32>(vec2<f16>(v, f16(0.0)))"
					      : "bitcast<u32>(vec2<bf16>(v, bf16(0.0)))");
	memset(profile.native, PCTL_NATIVE_EXACT, sizeof(profile.native));
	if (!set.fuse)
		profile.native[PCTL_NATIVE_F32_FMA] = profile.native[PCTL_NATIVE_F64_FMA] =
			PCTL_NATIVE_WRONG;
	options.profile = set.integers ? NULL : &profile;
	rig_must(r, pctl_wgsl_compile(text, strlen(text), &how, &r->call, &p), "the kernel");
	rig_must(r, pctl_legalise(p, &r->caps, &options, &r->call, &legal), "legalising");
	rig_must(r, pctl_program_encode(legal, &r->call, &wire, n), "its wire form");
	pctl_program_destroy(legal);
	pctl_program_destroy(p);
	return wire;
}

static void test_hard(void **state)
{
	static list l;
	uint32_t wrong = 0, total = 0;
	rig r;

	(void)state;
	rig_load(&r, set.plugin, &rig_host);
	assert_true(rig_device(&r, set.device));
	r.loud = 1;
	for (int f = 0; f < set.n; f++) {
		const char *base =
			strrchr(set.files[f], '/') ? strrchr(set.files[f], '/') + 1 : set.files[f];
		char function[32];

		snprintf(function, sizeof(function), "%.*s", (int)strcspn(base, "."), base);
		for (int t = 0; t < 3; t++) {
			const int two = list_read(set.files[f], formats[t], &l);
			const uint32_t rounded = (l.n + 63) / 64 * 64;
			const rig_bytes arrays[3] = {{l.a, rounded * 4, 0},
						     {l.b, rounded * 4, 0},
						     {l.got, rounded * 4, 0}};
			uint64_t n_wire;
			uint8_t *wire;

			if (!l.n)
				continue;
			wire = kernel_wire(&r, function, formats[t], two, &n_wire);
			rig_run(&r, wire, n_wire, 0, arrays, 3, rounded / 64, 1, 1);
			free(wire);
			total += l.n;
			for (uint32_t i = 0; i < l.n; i++)
				if (l.got[i] != l.want[i] && wrong++ < 20)
					fprintf(stderr, "%s %s %x %x: %x, should be %x\n", function,
						formats[t], l.a[i], l.b[i], l.got[i], l.want[i]);
			fprintf(stderr, "%s %s: %u cases\n", function, formats[t], l.n);
		}
	}
	rig_close(&r);
	assert_true(total > 0);
	assert_int_equal(wrong, 0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"plugin", 1, 0, 'p'},
						{"device", 1, 0, 'd'},
						{"integers", 0, 0, 'i'},
						{"fuse", 0, 0, 'f'},
						{0, 0, 0, 0}};
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_hard)};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			set.plugin = optarg;
		else if (c == 'd')
			set.device = (uint32_t)strtoul(optarg, NULL, 0);
		else if (c == 'i')
			set.integers = 1;
		else if (c == 'f')
			set.fuse = 1;
		else
			return 2;
	}
	set.files = argv + optind;
	set.n = argc - optind;
	if (!set.plugin || !set.n)
		return 2;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
