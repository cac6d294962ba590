// Words $ of the block that was fetched go into arrays 1, in matmul_tile_bytes.wgsl.
	left1[to + $u * 32u * LINE] = x$;
	right1[to + $u * 32u * LINE] = y$;
