// A factor, packed for matrix units as matmul_packed.wgsl says: an invocation writes four words. Outside of the matrix stands OUTSIDE, 0 in a and -0 in b, so that
// products there are -0, which changes no sum. In front: `vectors` and `groups` of a matrix, `vector_step` and `term_step` through memory; of a group of eight vectors by 16 terms
// `of_four` (vector and term of four words' first) and NEXT.
fn word_at(matrix: u32, v: u32, k: u32) -> u32 {
	var word = OUTSIDE;
	if (v < vectors() && k < params.k) {
		word = a_bits(matrix * (vectors() * params.k) + v * vector_step() + k * term_step());
	}
	return word;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let part = group.y * 65535u + group.x;
	let eight = part / steps_of_128();
	let matrix = eight / groups();
	let p0 = vec2<u32>(eight % groups() * 8u, part % steps_of_128() * 128u + lane / 32u * 16u) + of_four(lane & 31u);
	let p1 = p0 + NEXT;
	let p2 = p1 + NEXT;
	let p3 = p2 + NEXT;
	packed[part * 256u + lane] = vec4<u32>(word_at(matrix, p0.x, p0.y), word_at(matrix, p1.x, p1.y), word_at(matrix, p2.x, p2.y), word_at(matrix, p3.x, p3.y));
}
