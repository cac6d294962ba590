// No less than the root, by six hundredths more at most: halved bits of an f64 are the line above the curve.
fn root_above(x: f64) -> f64 {
	return bitcast<f64>((bitcast<u64>(x) >> 1u) + (1023lu << 51u));
}
