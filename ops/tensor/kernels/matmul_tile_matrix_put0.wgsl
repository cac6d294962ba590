// Words $ of the block that was fetched go into arrays 0, in matmul_tile_matrix.wgsl.
	left0[left_to + $u * 32u * LEFT_LINE] = x$;
	right0[lane + $u * 128u] = y$;
