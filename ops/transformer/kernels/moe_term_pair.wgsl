// A product more, exactly, of an element that is the sum of two f32. Beside an infinity or a NaN their sum, rounded or not, has the sign, the zero and the
// infinity that decide.
fn exact_term(a: u32, at: u32) {
	let pair = w_pair(at);
	let all = vec3<u32>(a, pair) & vec3<u32>(0x7f800000u);
	if (any(all == vec3<u32>(0x7f800000u))) {
		sum_product(a, bitcast<u32>(bitcast<f32>(pair.x) + bitcast<f32>(pair.y)));
	} else {
		sum_product(a, pair.x);
		sum_product(a, pair.y);
	}
}
