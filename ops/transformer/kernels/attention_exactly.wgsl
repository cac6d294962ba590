// What attention_scores.wgsl needs of its own: the bound's root, and a product by an exact sum.
override steps: u32; // no less than d

// No less than the root, by six hundredths more at most: halved bits of an f64 are the line above the curve.
fn root_above(x: f64) -> f64 {
	return bitcast<f64>((bitcast<u64>(x) >> 1u) + (1023lu << 51u));
}

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
