// Behind the products of moe_tile.wgsl: norms, then the stages.
		workgroupBarrier();
	}
	workgroupBarrier(); // for the proof: turns of a loop and what follows it are one interval else
	for (var i = 0u; i < (TILE_ROWS + TILE_LOADED - 1u) / TILE_LOADED; i++) {
		norm_join(lane, i * TILE_LOADED, squares_left[i]);
	}
	for (var i = 0u; i < 64u / TILE_LOADED; i++) {
		norm_join(lane, TILE_ROWS + i * TILE_LOADED, squares_right[i]);
	}
	workgroupBarrier();
	for (var stage = 0u; stage < TILE_ROWS / 16u; stage++) {
