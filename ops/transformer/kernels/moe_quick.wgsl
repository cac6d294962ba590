// Eight neighbouring products more in f64, where each is exact; those from `left` on are none.
fn quick_terms(x: u32, w: u32, left: u32) {
	for (var l = 0u; l < 8u; l++) {
		let p = f64(bitcast<f32>(x_bits(x + min(l, left - 1u)))) * f64(bitcast<f32>(w_bits(w + min(l, left - 1u))));
		sums += select(vec2<f64>(), vec2<f64>(p, abs(p)), l < left);
	}
}
