// The next terms, in moe_tile.wgsl.
	for (var c = 0u; c < steps; c++) {
		if (c * TILE_TERMS >= params.n) {
			break;
		}
		let own = lane % TILE_TERMS;
		let k = c * TILE_TERMS + own;
		for (var i = 0u; i < (TILE_ROWS + TILE_LOADED - 1u) / TILE_LOADED; i++) {
			let row = i * TILE_LOADED + lane / TILE_TERMS;
			if (row < TILE_ROWS) {
				var bits = 0u;
				if (k < params.n && rows[row] != NOWHERE) {
					bits = x_bits(rows[row] + k);
				}
				put_left(row, own, bits);
				squares_left[i] += square(bits);
			}
		}
		for (var i = 0u; i < 64u / TILE_LOADED; i++) {
			let j = i * TILE_LOADED + lane / TILE_TERMS;
			let inside = k < params.n && column + j < params.m;
			squares_right[i] += put_term(own, j, (expert * params.m + min(column + j, params.m - 1u)) * params.n + min(k, params.n - 1u), inside);
		}
		workgroupBarrier();
