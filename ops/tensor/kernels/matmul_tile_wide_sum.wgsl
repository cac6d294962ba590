// Sums of an invocation's row $, in matmul_tile_wide.wgsl.
	var s$ = V();
	var t$ = V();
