// The terms of an element where each element of b is the exact sum of two f32: two terms side by side. Beside an infinity or a NaN their sum, rounded or not, has
// the sign, the zero and the infinity that decide, and the second term is none.
fn factors_of(e: vec3<u32>) -> vec2<u32> {
	return place((e.x * params.m + e.y) * params.n + e.z);
}

fn terms_of() -> u32 {
	return params.k * 2u;
}

fn term_of(at: vec2<u32>, k: u32) -> vec2<u32> {
	let factor = a_bits(at.x + (k >> 1u) * params.a_column);
	let pair = b_pair(at.y + (k >> 1u) * params.b_row);
	let all = vec3<u32>(factor, pair) & vec3<u32>(0x7f800000u);
	if (any(all == vec3<u32>(0x7f800000u))) {
		let sum = bitcast<u32>(bitcast<f32>(pair.x) + bitcast<f32>(pair.y));
		return select(vec2<u32>(factor, sum), vec2<u32>(), (k & 1u) == 1u);
	}
	return vec2<u32>(factor, select(pair.x, pair.y, (k & 1u) == 1u));
}
