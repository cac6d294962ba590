// The next elements of heads, in attention_scores_tile.wgsl.
	for (var c = 0u; c < steps / TILE_TERMS; c++) {
		if (c * TILE_TERMS >= params.v[0].z) {
			break;
		}
		let own = lane % TILE_TERMS;
		for (var i = 0u; i < TILE / TILE_LOADED; i++) {
			let row = i * TILE_LOADED + lane / TILE_TERMS;
			let q = query_bits(row, c * TILE_TERMS + own);
			let k = key_bits(row, c * TILE_TERMS + own);
			put_left(row, own, q);
			put_right(own, row, k);
			squares_left[i] += square(q);
			squares_right[i] += square(k);
		}
		workgroupBarrier();
