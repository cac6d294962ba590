// Words $ of the block that was fetched go into arrays 0, in matmul_tile_bytes.wgsl.
	left0[to + $u * 32u * LINE] = x$;
	right0[to + $u * 32u * LINE] = y$;
