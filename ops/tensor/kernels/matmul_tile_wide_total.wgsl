// The same of all chunks before, in matmul_tile_wide.wgsl.
	var u$ = V();
	var v$ = V();
