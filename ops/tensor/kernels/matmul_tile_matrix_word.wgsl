// Words $ of the next block of each factor, in matmul_tile_matrix.wgsl.
	var x$ = a[a_at + $u * 8u * line];
	var y$ = b[b_at + $u * 8u * line];
