// By the sum of the weights: of nothing +0.
fn divided(sum_bits: u32, s: u32) -> u32 {
	return select(bitcast<u32>(bitcast<f32>(sum_bits) / bitcast<f32>(s)), 0u, s == 0u);
}
