// The terms of an element as they lie in packed a and b. In front: matmul_packed.wgsl.
fn factors_of(e: vec3<u32>) -> vec2<u32> {
	let v = groups_of(e.x) * 8u + e.yz;
	return (v >> vec2<u32>(3u)) * (steps_of_128() * 1024u) + vec2<u32>((v.x & 7u) * 16u, v.y & 7u);
}

fn left_bits(at: u32, k: u32) -> u32 {
	return a[at + (k >> 4u) * 128u + (k & 15u)];
}

fn right_bits(at: u32, k: u32) -> u32 {
	return b[at + k * 8u];
}

fn terms_of() -> u32 {
	return params.k;
}

fn term_of(at: vec2<u32>, k: u32) -> vec2<u32> {
	return vec2<u32>(left_bits(at.x, k), right_bits(at.y, k));
}
