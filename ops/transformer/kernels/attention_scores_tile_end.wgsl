// Behind the products of attention_scores_tile.wgsl: norms, then the stages.
		workgroupBarrier();
	}
	for (var i = 0u; i < 4u; i++) {
		norm_join(lane, i * 16u, squares_left[i]);
		norm_join(lane, LINES + i * 16u, squares_right[i]);
	}
	for (var stage = 0u; stage < LINES / 16u; stage++) {
