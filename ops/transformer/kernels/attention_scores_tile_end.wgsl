// Behind the products of attention_scores_tile.wgsl: norms, then the stages.
		workgroupBarrier();
	}
	workgroupBarrier(); // for the proof: turns of a loop and what follows it are one interval else
	for (var i = 0u; i < LINES / TILE_LOADED; i++) {
		norm_join(lane, i * TILE_LOADED, squares_left[i]);
	}
	for (var i = 0u; i < TILE / TILE_LOADED; i++) {
		norm_join(lane, LINES + i * TILE_LOADED, squares_right[i]);
	}
	workgroupBarrier();
	for (var stage = 0u; stage < LINES / 16u; stage++) {
