/* The texts of bench_tiles: workgroups of 128 x 128 (integers) or as asked (floats), two pairs of arrays in workgroup memory that
 * subgroups multiply out of by turns. */
#include "bench_tiles.h"

#include <stdarg.h>
#include <stdio.h>

#include "pipectl/program.h"

#define DEEP 64u
#define LINE \
	80u /* bytes from a row to the next in workgroup memory: no two rows of eight share a bank */
#define FLOAT_DEEP 16u

/* ---- the kernel ---- */

static void __attribute__((format(printf, 2, 3))) add(source *s, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->text + s->n, sizeof(s->text) - s->n, format, args);
	va_end(args);
	s->n += n > 0 && s->n + (size_t)n < sizeof(s->text) ? (size_t)n : 0;
}

/* n 0: the side is a uniform. */
static void head(source *s, uint32_t n)
{
	s->n = 0;
	add(s, "//# subgroup = 32\n%senable chromium_experimental_subgroup_matrix;\n",
	    n ? "" : "//# max u.n = 16384\n");
	if (n)
		add(s, "const N = %uu;\n", n);
	else
		add(s, "struct Side { n: u32 }\n@group(0) @binding(3) var<uniform> u: Side;\n");
}

static void size(source *s, uint32_t n)
{
	if (!n)
		add(s, "  let N = u.n;\n");
}

/* The words of a step into registers: `each` vectors of both factors an invocation. */
static void fetch(source *s, const char *k, uint32_t local)
{
	for (uint32_t j = 0; j < TILE * DEEP / 16 / local; j++) {
		add(s, "    x%u = a[(row + %uu + l / 4u) * (N / 16u) + (%s) / 16u + l %% 4u];\n", j,
		    j * local / 4, k);
		add(s, "    y%u = b[(column + %uu + l / 4u) * (N / 16u) + (%s) / 16u + l %% 4u];\n",
		    j, j * local / 4, k);
	}
}

static void put(source *s, uint32_t buffer, uint32_t local)
{
	for (uint32_t j = 0; j < TILE * DEEP / 16 / local; j++) {
		const uint32_t at = j * local / 4 * LINE / 16;

		add(s, "    p%u[to + %uu] = x%u;\n", buffer, at, j);
		add(s, "    q%u[to + %uu] = y%u;\n", buffer, at, j);
	}
	add(s, "    workgroupBarrier();\n");
}

static void multiply(source *s, uint32_t buffer, uint32_t wide)
{
	add(s, "    {\n");
	for (uint32_t k = 0; k < DEEP; k += 32) {
		for (uint32_t i = 0; i < 4; i++)
			add(s,
			    "      let l%u_%u = "
			    "subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>, row_major>(&p%u, "
			    "top * %uu + %uu, %uu);\n",
			    k, i, buffer, LINE, 16 * i * LINE + k, LINE);
		for (uint32_t j = 0; j < wide; j++)
			add(s,
			    "      let r%u_%u = "
			    "subgroupMatrixLoad<subgroup_matrix_right<i8, 16, 32>, "
			    "col_major>(&q%u, "
			    "side * %uu + %uu, %uu);\n",
			    k, j, buffer, LINE, 16 * j * LINE + k, LINE);
		for (uint32_t i = 0; i < 4; i++)
			for (uint32_t j = 0; j < wide; j++)
				add(s,
				    "      s%u%u = subgroupMatrixMultiplyAccumulate(l%u_%u, "
				    "r%u_%u, "
				    "s%u%u);\n",
				    i, j, k, i, k, j, i, j);
	}
	add(s, "    }\n");
}

void write_integers(source *s, uint32_t n, uint32_t wide)
{
	const uint32_t across = TILE / (16 * wide);
	const uint32_t local = TILE / 64 * across * PCTL_TILE_LANES;

	head(s, n);
	add(s, "@group(0) @binding(0) var<storage, read> a: array<vec4<i32>>;\n"
	       "@group(0) @binding(1) var<storage, read> b: array<vec4<i32>>;\n"
	       "@group(0) @binding(2) var<storage, read_write> c: array<i32>;\n");
	for (uint32_t i = 0; i < 2; i++)
		add(s,
		    "var<workgroup> p%u: array<vec4<i32>, %u>;\n"
		    "var<workgroup> q%u: array<vec4<i32>, %u>;\n",
		    i, TILE * LINE / 16, i, TILE * LINE / 16);
	add(s,
	    "@compute @workgroup_size(%u)\n"
	    "fn main(@builtin(workgroup_id) tile: vec3u, @builtin(local_invocation_index) l: u32) "
	    "{\n  let row = tile.y * %uu;\n  let column = tile.x * %uu;\n"
	    "  let top = l / %uu * 64u;\n  let side = l / 32u %% %uu * %uu;\n"
	    "  let to = l / 4u * %uu + l %% 4u;\n",
	    local, TILE, TILE, 32 * across, across, 16 * wide, LINE / 16);
	size(s, n);
	for (uint32_t j = 0; j < TILE * DEEP / 16 / local; j++)
		add(s, "  var x%u: vec4<i32>;\n  var y%u: vec4<i32>;\n", j, j);
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = 0; j < wide; j++)
			add(s, "  var s%u%u: subgroup_matrix_result<i32, 16, 16>;\n", i, j);
	add(s, "  {\n");
	fetch(s, "0u", local);
	put(s, 0, local);
	add(s, "  }\n  for (var k = 0u; k < N; k += %uu) {\n", 2 * DEEP);
	for (uint32_t step = 0; step < 2; step++) {
		char next[32];

		snprintf(next, sizeof(next), "k + %uu", (step + 1) * DEEP);
		fetch(s, next, local);
		multiply(s, step, wide);
		put(s, 1 - step, local);
	}
	add(s, "  }\n");
	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t j = 0; j < wide; j++)
			add(s,
			    "  subgroupMatrixStore<row_major>(&c, (row + top + %uu) * N + column + "
			    "side + %uu, s%u%u, N);\n",
			    16 * i, 16 * j, i, j);
	add(s, "}\n");
}

/* ---- the same of floats ---- */

static uint32_t local_of(const plan *p)
{
	return p->rows / p->own_rows * (p->columns / p->own_columns) * PCTL_TILE_LANES;
}

/* Floats from a row to the next in workgroup memory: no two of those that are read at once share a bank. */
#define LEFT_LINE (FLOAT_DEEP + 4u)
static uint32_t right_line(const plan *p)
{
	return p->columns + 8;
}

static void fetch_floats(source *s, const plan *p, const char *k)
{
	const uint32_t local = local_of(p), across = p->columns / 4;

	for (uint32_t j = 0; j < p->rows * FLOAT_DEEP / 4 / local; j++)
		add(s, "    x%u = a[((row + %uu + l / 4u) * N + %s) / 4u + l %% 4u];\n", j,
		    j * local / 4, k);
	for (uint32_t j = 0; j < p->columns * FLOAT_DEEP / 4 / local; j++)
		add(s, "    y%u = b[((%s + %uu + l / %uu) * N + column) / 4u + l %% %uu];\n", j, k,
		    j * local / across, across, across);
}

static void put_floats(source *s, const plan *p, uint32_t buffer)
{
	const uint32_t local = local_of(p), across = p->columns / 4;

	for (uint32_t j = 0; j < p->rows * FLOAT_DEEP / 4 / local; j++)
		add(s, "    p%u[l / 4u * %uu + l %% 4u + %uu] = x%u;\n", buffer, LEFT_LINE / 4,
		    j * local / 4 * LEFT_LINE / 4, j);
	for (uint32_t j = 0; j < p->columns * FLOAT_DEEP / 4 / local; j++)
		add(s, "    q%u[l / %uu * %uu + l %% %uu + %uu] = y%u;\n", buffer, across,
		    right_line(p) / 4, across, j * local / across * right_line(p) / 4, j);
	add(s, "    workgroupBarrier();\n");
}

static void multiply_floats(source *s, const plan *p, uint32_t buffer)
{
	const uint32_t down = p->own_rows / 16, across = p->own_columns / 8;

	for (uint32_t k = 0; k < FLOAT_DEEP; k += p->inner) {
		add(s, "    {\n");
		for (uint32_t i = 0; i < down; i++)
			add(s,
			    "      let l%u = subgroupMatrixLoad<subgroup_matrix_left<f32, %u, 16>, "
			    "row_major>(&p%u, top * %uu + %uu, %uu);\n",
			    i, p->inner, buffer, LEFT_LINE, 16 * i * LEFT_LINE + k, LEFT_LINE);
		for (uint32_t j = 0; j < across; j++)
			add(s,
			    "      let r%u = subgroupMatrixLoad<subgroup_matrix_right<f32, 8, %u>, "
			    "row_major>(&q%u, side + %uu, %uu);\n",
			    j, p->inner, buffer, 8 * j + k * right_line(p), right_line(p));
		for (uint32_t i = 0; i < down; i++)
			for (uint32_t j = 0; j < across; j++)
				add(s,
				    "      s%u_%u = subgroupMatrixMultiplyAccumulate(l%u, r%u, "
				    "s%u_%u);\n",
				    i, j, i, j, i, j);
		add(s, "    }\n");
	}
}

void write_floats(source *s, const plan *p, uint32_t n)
{
	const uint32_t local = local_of(p), beside = p->columns / p->own_columns;
	const uint32_t down = p->own_rows / 16, across = p->own_columns / 8;

	head(s, n);
	add(s, "@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;\n"
	       "@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;\n"
	       "@group(0) @binding(2) var<storage, read_write> c: array<f64>;\n");
	for (uint32_t i = 0; i < 2; i++)
		add(s,
		    "var<workgroup> p%u: array<vec4<f32>, %u>;\n"
		    "var<workgroup> q%u: array<vec4<f32>, %u>;\n",
		    i, p->rows * LEFT_LINE / 4, i, FLOAT_DEEP * right_line(p) / 4);
	add(s,
	    "@compute @workgroup_size(%u)\n"
	    "fn main(@builtin(workgroup_id) tile: vec3u, @builtin(local_invocation_index) l: u32) "
	    "{\n  let row = tile.y * %uu;\n  let column = tile.x * %uu;\n"
	    "  let top = l / %uu * %uu;\n  let side = l / 32u %% %uu * %uu;\n",
	    local, p->rows, p->columns, 32 * beside, p->own_rows, beside, p->own_columns);
	size(s, n);
	for (uint32_t j = 0; j < p->rows * FLOAT_DEEP / 4 / local; j++)
		add(s, "  var x%u: vec4<f32>;\n", j);
	for (uint32_t j = 0; j < p->columns * FLOAT_DEEP / 4 / local; j++)
		add(s, "  var y%u: vec4<f32>;\n", j);
	for (uint32_t i = 0; i < down; i++)
		for (uint32_t j = 0; j < across; j++)
			add(s, "  var s%u_%u: subgroup_matrix_result<f64, 8, 16>;\n", i, j);
	add(s, "  {\n");
	fetch_floats(s, p, "0u");
	put_floats(s, p, 0);
	add(s, "  }\n  for (var k = 0u; k < N; k += %uu) {\n", 2 * FLOAT_DEEP);
	for (uint32_t step = 0; step < 2; step++) {
		char next[32];

		snprintf(next, sizeof(next), "k + %uu", (step + 1) * FLOAT_DEEP);
		fetch_floats(s, p, next);
		multiply_floats(s, p, step);
		put_floats(s, p, 1 - step);
	}
	add(s, "  }\n");
	for (uint32_t i = 0; i < down; i++)
		for (uint32_t j = 0; j < across; j++)
			add(s,
			    "  subgroupMatrixStore<row_major>(&c, (row + top + %uu) * N + column "
			    "+ side + %uu, s%u_%u, N);\n",
			    16 * i, 8 * j, i, j);
	add(s, "}\n");
}
