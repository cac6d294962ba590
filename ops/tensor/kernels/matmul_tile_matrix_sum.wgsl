// Sums $, in matmul_tile_matrix.wgsl.
	var s$ = S();
