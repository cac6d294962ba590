// What was fetched goes into half 1, in matmul_tile_wide.wgsl.
		left[256u + lane] = bitcast<V>(x);
		right[256u + lane] = bitcast<V>(y);
		workgroupBarrier();
