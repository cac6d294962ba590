/* Texts of tiles; see tile.h. */
#include "common/tensors/tile.h"

#include <stdio.h>

#include "kernels.h"

/* Workgroup memory of a tile: terms and the room (which are one for f64), norms. */
static uint32_t bytes_of(uint32_t rows, int units)
{
	const uint32_t terms = rows * 8 * 8 + 8 * 65 * 8;

	return (units	       ? rows * 20 * 4 + 8 * 136 * 4 + 8192
		: terms > 8192 ? terms
			       : 8192) +
	       (rows + TENSOR_TILE_SIDE) * 8;
}

static int fits(const kit_plan *p, uint32_t rows, uint32_t bytes, int units)
{
	return p->caps->max_invocations >= TENSOR_TILE_LOCAL &&
	       p->caps->max_workgroup_bytes >= bytes_of(rows, units) + bytes;
}

int tensor_tile_fits(const kit_plan *p, uint32_t rows, uint32_t bytes)
{
	return fits(p, rows, bytes, 0);
}

tensor_tile tensor_tile_of(const kit_plan *p, uint32_t rows, uint32_t bytes)
{
	return (tensor_tile){rows, (p->caps->proven & PCTL_PLAN_PROVEN_F64_TILES) != 0 &&
					   fits(p, rows, bytes, 1)};
}

static void add_each(const tensor_tile *t, kit_wgsl *w, const char *text)
{
	static const char *const numbers[] = {"0", "1", "2", "3"};

	for (uint32_t i = 0; i < t->rows / 16; i++)
		kit_wgsl_named(w, text, numbers[i]);
}

void tensor_tile_begin(const tensor_tile *t, kit_wgsl *w)
{
	if (t->units)
		kit_wgsl_add(w,
			     "//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n");
}

void tensor_tile_head(const kit_plan *p, const tensor_tile *t, kit_wgsl *w, int norms)
{
	char text[64];

	snprintf(text, sizeof(text), "const TILE_ROWS: u32 = %uu;\n", t->rows);
	kit_wgsl_add(w, text);
	if (!t->units)
		kit_wgsl_add(w, (p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0
					? "fn step(a: vec4<f64>, b: vec4<f64>, s: vec4<f64>) -> "
					  "vec4<f64> {\n\treturn fma(a, b, s);\n}\n"
					: "fn step(a: vec4<f64>, b: vec4<f64>, s: vec4<f64>) -> "
					  "vec4<f64> {\n\treturn s + a * b;\n}\n");
	kit_wgsl_add(w, t->units ? KERNEL_TILE_UNITS : KERNEL_TILE_F64);
	if (norms)
		kit_wgsl_add(w, KERNEL_TILE_NORMS);
}

void tensor_tile_sums(const tensor_tile *t, kit_wgsl *w)
{
	add_each(t, w, t->units ? KERNEL_TILE_UNITS_SUM : KERNEL_TILE_F64_SUM);
}

void tensor_tile_multiply(const tensor_tile *t, kit_wgsl *w)
{
	kit_wgsl_add(w, t->units ? KERNEL_TILE_UNITS_OPEN : KERNEL_TILE_F64_OPEN);
	add_each(t, w, t->units ? KERNEL_TILE_UNITS_MULTIPLY : KERNEL_TILE_F64_MULTIPLY);
	kit_wgsl_add(w, "\t}\n");
}

void tensor_tile_stages(const tensor_tile *t, kit_wgsl *w)
{
	add_each(t, w, t->units ? KERNEL_TILE_UNITS_STAGE : KERNEL_TILE_F64_STAGE);
}
