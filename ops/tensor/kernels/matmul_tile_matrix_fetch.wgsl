// Words $ of the next block, in matmul_tile_matrix.wgsl.
	x$ = a[a_at + $u * 4u * line];
	y$ = b[b_at + $u * 4u * line];
