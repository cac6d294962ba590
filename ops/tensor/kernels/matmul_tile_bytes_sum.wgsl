// Sums $, in matmul_tile_bytes.wgsl.
	var s$ = S();
