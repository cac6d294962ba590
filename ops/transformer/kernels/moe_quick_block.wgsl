// Eight neighbouring elements of a block with one scale: products with its integers are exact in f64, and so is the scale, which joins once.
fn quick_terms(x: u32, w: u32, left: u32) {
	let b = w / w_BLOCK * w_BYTES;
	let e = w % w_BLOCK;
	var sum = vec2<f64>();
	for (var l = 0u; l < 8u; l++) {
		let p = f64(bitcast<f32>(x_bits(x + l))) * f64(w_q(b, e, l));
		sum += vec2<f64>(p, abs(p));
	}
	let d = f64(unpack2x16float(w_half(b + w_D)).x * f32(w_s(b, e)));
	sums += vec2<f64>(d * sum.x, abs(d) * sum.y);
}
