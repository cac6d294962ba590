// A product by an exact sum of its lane, where attention_scores.wgsl and attention_scores_tile.wgsl are in doubt.
override steps: u32; // no less than d

fn exactly(q_at: u32, k_at: u32) -> u32 {
	sum_clear();
	for (var e = 0u; e < steps; e++) {
		if (e >= params.v[0].z) {
			break;
		}
		sum_product(q_bits(q_at + e), k_bits(k_at + e));
	}
	return sum_round();
}
