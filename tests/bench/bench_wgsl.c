/* Megabytes of WGSL a second through the front end, on a text made of many functions. usage: bench_wgsl [FUNCTIONS] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "foundation/base/str.h"
#include "foundation/diag/diag.h"
#include "compiler/wgsl/wgsl.h"

#define TRIES 5

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static char *source(unsigned functions, size_t *n)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, "@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n");
	for (unsigned i = 0; i < functions; i++)
		pctl_str_addf(&s,
			      "// Mixes a value; number %u of many.\n"
			      "fn mix%u(value: u32, steps: u32) -> u32 {\n"
			      "\tvar state = value ^ %uu;\n"
			      "\tfor (var i = 0u; i < 16u; i++) {\n"
			      "\t\tif ((state & 1u) == 1u && i < steps) {\n"
			      "\t\t\tstate = (state >> 1u) ^ 0xedb88320u;\n"
			      "\t\t} else {\n"
			      "\t\t\tstate = state * 1664525u + vec3<u32>(i, steps, 7u).zyx.x;\n"
			      "\t\t}\n"
			      "\t}\n"
			      "\treturn select(state, ~state, steps > 3u);\n"
			      "}\n",
			      i, i, i);
	pctl_str_add(&s, "@compute @workgroup_size(64)\n"
			 "fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n");
	for (unsigned i = 0; i < functions; i++)
		pctl_str_addf(&s, "\tdata[id.x] = mix%u(data[id.x], %uu);\n", i, i % 16);
	pctl_str_add(&s, "}\n");
	*n = s.n;
	return pctl_str_finish(&s);
}

int main(int argc, char **argv)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_wgsl_options options = {"bench.wgsl", 0, 0, NULL};
	pctl_status status = PCTL_OK;
	double best = 1e9;
	size_t n;
	char *text = source(argc > 1 ? (unsigned)atoi(argv[1]) : 2000, &n);

	for (int i = 0; text != NULL && status == PCTL_OK && i < TRIES; i++) {
		pctl_program *p = NULL;
		double begun = now_s(), took;

		status = pctl_wgsl_compile(text, n, &options, pctl_diag_list_call(l), &p);
		took = now_s() - begun;
		best = took < best ? took : best;
		pctl_program_destroy(p);
	}
	pctl_diag_render_text(l, stderr, 0);
	if (status == PCTL_OK)
		printf("{\"bench\":\"wgsl\",\"bytes\":%zu,\"mb_per_s\":%.2f}\n", n,
		       (double)n / best * 1e-6);
	free(text);
	pctl_diag_list_destroy(l);
	return status != PCTL_OK;
}
