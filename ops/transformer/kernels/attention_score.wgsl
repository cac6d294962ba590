// A score from a product, as bits. In front: CAPPED.
fn score_of(product_bits: u32) -> u32 {
	let s = bitcast<f32>(product_bits) * bitcast<f32>(params.v[4].x);
	if (CAPPED) {
		let most = bitcast<f32>(params.v[4].y);
		return bitcast<u32>(most * tanh(s / most));
	}
	return bitcast<u32>(s);
}
