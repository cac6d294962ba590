// Behind the products of moe_tile.wgsl: norms, then the stages.
		workgroupBarrier();
	}
	for (var i = 0u; i < 4u; i++) {
		if (i < TILE_ROWS / 16u) {
			norm_join(lane, i * 16u, squares_left[min(i, TILE_ROWS / 16u - 1u)]);
		}
		norm_join(lane, TILE_ROWS + i * 16u, squares_right[i]);
	}
	for (var stage = 0u; stage < TILE_ROWS / 16u; stage++) {
