// A turn of matmul_tile_bytes.wgsl: two blocks, the second where there is one.
	workgroupBarrier();
	for (var block = 0u; block < steps; block += 2u) {
		if (block >= n_blocks) {
			break;
		}
