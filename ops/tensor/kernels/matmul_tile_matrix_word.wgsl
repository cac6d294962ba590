// Words $ of the next block of each factor, in matmul_tile_matrix.wgsl.
	var x$ = a[a_at + $u * 4u * line];
	var y$ = b[b_at + $u * 4u * line];
