// Before words are fetched, in matmul_tile_matrix.wgsl.
	a_at += 32u;
	b_at += 32u;
