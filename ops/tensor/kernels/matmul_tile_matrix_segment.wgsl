// A segment of matmul_tile_matrix.wgsl, to the next look, and a turn: 32 terms.
	workgroupBarrier();
	for (var start = 0u; start < steps; start += LOOK / 32u) {
		if (start * 32u >= terms) {
			break;
		}
		for (var i = 0u; i < LOOK / 32u; i++) {
			if ((start + i) * 32u >= terms) {
				break;
			}
