// The next 16 elements of heads, in attention_scores_tile.wgsl.
	for (var c = 0u; c < steps / 16u; c++) {
		if (c * 16u >= params.v[0].z) {
			break;
		}
		for (var i = 0u; i < 4u; i++) {
			let row = i * 16u + lane / 16u;
			let q = query_bits(row, c * 16u + lane % 16u);
			let k = key_bits(row, c * 16u + lane % 16u);
			put_left(row, lane % 16u, q);
			put_right(lane % 16u, row, k);
			squares_left[i] += square(q);
			squares_right[i] += square(k);
		}
		workgroupBarrier();
