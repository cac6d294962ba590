// Of matmul_pack.wgsl: an integer of up to 32 bits.
fn word_at(p: vec3<u32>) -> u32 {
	var word = 0u;
	if (p.y < vectors() && p.z < params.k) {
		word = a_word(p.x * (vectors() * params.k) + p.y * vector_step() + p.z * term_step());
	}
	return word;
}
