// Of matmul_pack.wgsl: four integers of 8 bits in a word, where the terms of a vector lie one behind the other and are a multiple of four.
fn word_at(p: vec3<u32>) -> u32 {
	var word = 0u;
	if (p.y < vectors() && p.z < params.k / 4u) {
		word = a[(p.x * (vectors() * params.k) + p.y * vector_step()) / 4u + p.z];
	}
	return word;
}
