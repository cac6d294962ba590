// The next 16 terms, in moe_tile.wgsl.
	for (var c = 0u; c < steps; c++) {
		if (c * 16u >= params.n) {
			break;
		}
		let k = c * 16u + lane % 16u;
		for (var i = 0u; i < TILE_ROWS / 16u; i++) {
			let row = i * 16u + lane / 16u;
			var bits = 0u;
			if (k < params.n && rows[row] != NOWHERE) {
				bits = x_bits(rows[row] + k);
			}
			put_left(row, lane % 16u, bits);
			squares_left[i] += square(bits);
		}
		for (var i = 0u; i < 4u; i++) {
			let j = i * 16u + lane / 16u;
			let inside = k < params.n && column + j < params.m;
			squares_right[i] += put_term(lane % 16u, j, (expert * params.m + min(column + j, params.m - 1u)) * params.n + min(k, params.n - 1u), inside);
		}
		workgroupBarrier();
