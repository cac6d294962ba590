// e of a score and the greatest, as bits; of a hidden key, which is no term, nothing asks.
fn weight_of(score: u32, greatest: u32) -> u32 {
	if (score == 0xff800000u) {
		return 0u;
	}
	return bitcast<u32>(exp(bitcast<f32>(score) - bitcast<f32>(greatest)));
}
