/* The kernels that bench_tiles measures, as WGSL. */
#ifndef PCTL_BENCH_TILES_H
#define PCTL_BENCH_TILES_H

#include <stddef.h>
#include <stdint.h>

#define TILE 128u /* rows and columns of a workgroup of the product of integers */

typedef struct source {
	char text[32768];
	size_t n;
} source;

/* Rows and columns of the product of floats. */
typedef struct plan {
	uint32_t rows, columns;		/* of a workgroup */
	uint32_t own_rows, own_columns; /* of a subgroup */
	uint32_t inner;			/* terms of a product: 8 or 16 */
} plan;

/* Sides of n; 0: a uniform. wide: tiles of 16 columns of a subgroup, which has 64 rows. */
void write_integers(source *s, uint32_t n, uint32_t wide);
void write_floats(source *s, const plan *p, uint32_t n);

#endif
