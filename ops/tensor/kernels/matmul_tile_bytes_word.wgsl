// Words $ of the next block of each factor, in matmul_tile_bytes.wgsl.
	var x$ = a[a_at + $u * 128u];
	var y$ = b[b_at + $u * 128u];
