// Words $ of the next block, in matmul_tile_bytes.wgsl.
		x$ = a[a_at + $u * 128u];
		y$ = b[b_at + $u * 128u];
