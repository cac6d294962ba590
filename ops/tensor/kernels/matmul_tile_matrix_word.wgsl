// Word $ of the next block of each factor, in matmul_tile_matrix.wgsl.
	var x$ = 0u;
	var y$ = 0u;
