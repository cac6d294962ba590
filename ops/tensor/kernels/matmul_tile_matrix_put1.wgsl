// Words $ of the block that was fetched go into arrays 1, in matmul_tile_matrix.wgsl.
	left1[left_to + $u * 32u * LEFT_LINE] = x$;
	right1[lane + $u * 128u] = y$;
