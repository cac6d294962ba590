// The terms of an element as they lie in a and b.
fn factors_of(e: vec3<u32>) -> vec2<u32> {
	return place((e.x * params.m + e.y) * params.n + e.z);
}

fn left_bits(at: u32, k: u32) -> u32 {
	return a_bits(at + k * params.a_column);
}

fn right_bits(at: u32, k: u32) -> u32 {
	return b_bits(at + k * params.b_row);
}

fn terms_of() -> u32 {
	return params.k;
}

fn term_of(at: vec2<u32>, k: u32) -> vec2<u32> {
	return vec2<u32>(left_bits(at.x, k), right_bits(at.y, k));
}
