// The same of blocks with a minimum, which joins with the sum of x.
fn quick_terms(x: u32, w: u32, left: u32) {
	let b = w / w_BLOCK * w_BYTES;
	let e = w % w_BLOCK;
	var sum = vec2<f64>();
	var ones = vec2<f64>();
	for (var l = 0u; l < 8u; l++) {
		let a = f64(bitcast<f32>(x_bits(x + l)));
		let p = a * f64(w_q(b, e, l));
		sum += vec2<f64>(p, abs(p));
		ones += vec2<f64>(a, abs(a));
	}
	let d = f64(unpack2x16float(w_half(b + w_D)).x * f32(w_s(b, e)));
	let m = f64(w_low(b, e));
	sums += vec2<f64>(d * sum.x, abs(d) * sum.y);
	sums += vec2<f64>(m * ones.x, abs(m) * ones.y);
}
