/* The OpenCL C of a kernel as NVIDIA's devices of compute capability 9.0 get it, without one: everything native is taken to be exact, and
 * matrix tiles and subgroups to be proven. For reading what a text in WGSL becomes, and for compiling it elsewhere.
 * usage: kernel_text FILE.wgsl GROUPS [NAME=VALUE...], of the overrides */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/legal.h"
#include "foundation/diag/diag.h"
#include "runtime/graph/kernel.h"

#include "clc/emit.h"

#define OVERRIDES_MAX 8
#define NVIDIA (EMIT_DP4A | EMIT_WARPS | EMIT_REDUX | EMIT_MMA | EMIT_MMA_WIDE)

static char *whole_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *s = calloc(1, 1 << 20);
	const size_t n = f != NULL && s != NULL ? fread(s, 1, (1 << 20) - 1, f) : 0;

	if (f != NULL)
		fclose(f);
	if (n != 0)
		return s;
	free(s);
	return NULL;
}

static pctl_status print(const char *wgsl, const pctl_override_value *overrides, uint32_t n,
			 uint32_t groups, const pctl_call *call)
{
	static const pctl_device_caps caps = {
		.head = PCTL_HEAD(pctl_device_caps),
		.caps = PCTL_CAP_I64 | PCTL_CAP_I64_DIV | PCTL_CAP_F32 | PCTL_CAP_NATIVE_FLOAT |
			PCTL_CAP_STORE16 | PCTL_CAP_F64 | PCTL_CAP_DOT4 | PCTL_CAP_SUBGROUPS |
			PCTL_CAP_TILES,
		.max_binding_bytes = 1ull << 34,
		.max_groups = {4194303, 65535, 65535},
		.max_invocations = 1024,
		.max_local = {1024, 1024, 64},
		.max_workgroup_bytes = 49152,
		.max_bindings = 40,
		.subgroup_size = 32};
	pctl_profile profile;
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
				      .profile = &profile,
				      .keeps_dot4 = 1,
				      .subgroup_size = 32,
				      .subgroup_kinds = PCTL_SUBGROUP_KINDS,
				      .tile_products = PCTL_TILE_PRODUCTS};
	const uint32_t grid[3] = {groups, 1, 1};
	const pctl_kernel_source source = {.name = "kernel.wgsl",
					   .text = wgsl,
					   .n_text = strlen(wgsl),
					   .overrides = overrides,
					   .n_overrides = n,
					   .groups = grid};
	pctl_kernels *kernels = pctl_kernels_create(NULL);
	const pctl_kernel_module *unit;
	pctl_program *legal = NULL;
	text out = {0};
	pctl_status status;

	memset(&profile, PCTL_NATIVE_EXACT, sizeof(profile));
	status = kernels == NULL ? PCTL_E_NOMEM : pctl_kernels_get(kernels, &source, call, &unit);
	if (status == PCTL_OK)
		status = pctl_softfloat_create(call, &options.forms);
	if (status == PCTL_OK)
		status = pctl_legalise(unit->program, &caps, &options, call, &legal);
	if (status == PCTL_OK)
		status = emit_program(legal, call, NVIDIA, &out);
	if (status == PCTL_OK)
		fputs(out.s, stdout);
	text_free(&out);
	pctl_program_destroy(legal);
	pctl_softfloat_destroy(options.forms);
	pctl_kernels_destroy(kernels);
	return status;
}

int main(int argc, char **argv)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_override_value overrides[OVERRIDES_MAX];
	uint32_t n = 0;
	char *wgsl = argc > 2 ? whole_file(argv[1]) : NULL;
	pctl_status status;

	if (wgsl == NULL)
		return fprintf(stderr, "usage: kernel_text FILE.wgsl GROUPS [NAME=VALUE...]\n"), 2;
	for (int i = 3; i < argc && n < OVERRIDES_MAX; i++, n++) {
		char *value = strchr(argv[i], '=');

		if (value == NULL)
			return fprintf(stderr, "kernel_text: %s is no NAME=VALUE\n", argv[i]), 2;
		*value = '\0';
		overrides[n] = (pctl_override_value){.name = argv[i], .text = value + 1};
	}
	status = print(wgsl, overrides, n, (uint32_t)strtoul(argv[2], NULL, 10),
		       pctl_diag_list_call(l));
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(l, i)->code,
			pctl_diag_list_at(l, i)->message);
	pctl_diag_list_destroy(l);
	free(wgsl);
	return status != PCTL_OK;
}
