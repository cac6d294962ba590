// Two products more in f64, where they are exact.
fn quick_term(a: u32, at: u32) {
	let pair = w_pair(at);
	let p = f64(bitcast<f32>(a)) * f64(bitcast<f32>(pair.x));
	let q = f64(bitcast<f32>(a)) * f64(bitcast<f32>(pair.y));
	sums += vec2<f64>(p, abs(p));
	sums += vec2<f64>(q, abs(q));
}
