// A product more in f64, where it is exact.
fn quick_term(a: u32, at: u32) {
	let p = f64(bitcast<f32>(a)) * f64(bitcast<f32>(w_bits(at)));
	sums += vec2<f64>(p, abs(p));
}
