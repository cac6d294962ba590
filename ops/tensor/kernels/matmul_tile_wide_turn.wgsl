// The first block and a turn of matmul_tile_wide.wgsl: 16 terms.
	left[lane] = bitcast<V>(x);
	right[lane] = bitcast<V>(y);
	workgroupBarrier();
	for (var block = 0u; block < steps; block++) {
		if (block >= n_blocks) {
			break;
		}
