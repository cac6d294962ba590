// The exact sum of the exact products where each element of b is the exact sum of two f32, which have products of their own. Beside an infinity or
// a NaN their sum, rounded or not, has the sign, the zero and the infinity that decide.
fn product(element: u32) -> u32 {
	let at = place(element);
	sum_clear();
	for (var i = 0u; i < steps; i++) {
		if (i >= params.k) {
			break;
		}
		let factor = a_bits(at.x + i * params.a_column);
		let pair = b_pair(at.y + i * params.b_row);
		let all = vec3<u32>(factor, pair) & vec3<u32>(0x7f800000u);
		if (any(all == vec3<u32>(0x7f800000u))) {
			sum_product(factor, bitcast<u32>(bitcast<f32>(pair.x) + bitcast<f32>(pair.y)));
		} else {
			sum_product(factor, pair.x);
			sum_product(factor, pair.y);
		}
	}
	return sum_round();
}
