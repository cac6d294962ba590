// What was fetched goes into half 0, in matmul_tile_wide.wgsl.
		left[0u + lane] = bitcast<V>(x);
		right[0u + lane] = bitcast<V>(y);
		workgroupBarrier();
