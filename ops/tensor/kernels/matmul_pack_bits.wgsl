// Of matmul_pack.wgsl: a float's bits.
fn word_at(p: vec3<u32>) -> u32 {
	var word = OUTSIDE;
	if (p.y < vectors() && p.z < params.k) {
		word = a_bits(p.x * (vectors() * params.k) + p.y * vector_step() + p.z * term_step());
	}
	return word;
}
