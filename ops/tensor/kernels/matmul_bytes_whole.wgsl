// Of matmul_bytes_a.wgsl and matmul_bytes_four.wgsl: a word of a vector whose terms lie one behind the other, a multiple of four of them.
fn word_at(p: vec3<u32>) -> u32 {
	return a[(p.x * (vectors() * params.k) + p.y * vector_step()) / 4u + p.z];
}
