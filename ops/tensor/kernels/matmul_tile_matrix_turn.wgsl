// A turn of matmul_tile_matrix.wgsl: 32 terms.
	for (var block = 0u; block < steps; block++) {
		if (block * 32u >= params.k) {
			break;
		}
