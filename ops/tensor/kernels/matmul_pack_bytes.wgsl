// Of matmul_pack.wgsl: four integers of up to 8 bits, the first term in the lowest.
fn byte_at(p: vec3<u32>, k: u32) -> u32 {
	var word = 0u;
	if (p.y < vectors() && k < params.k) {
		word = a_word(p.x * (vectors() * params.k) + p.y * vector_step() + k * term_step()) & 255u;
	}
	return word;
}

fn word_at(p: vec3<u32>) -> u32 {
	let k = p.z * 4u;
	return byte_at(p, k) | (byte_at(p, k + 1u) << 8u) | (byte_at(p, k + 2u) << 16u) | (byte_at(p, k + 3u) << 24u);
}
