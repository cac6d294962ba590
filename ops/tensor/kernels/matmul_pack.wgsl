// A factor, packed for tiles as matmul_packed.wgsl or matmul_packed_wide.wgsl says: an invocation writes four words. Outside of the matrix stands OUTSIDE, 0 in a and -0 in b, so
// that products there are -0, which changes no sum. In front: `word_at`, `vectors` of a matrix, `vector_step` and `term_step` through memory; `first_of_four` (matrix, vector and term of an
// invocation's first word) and NEXT.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let part = group.y * 65535u + group.x;
	let p0 = first_of_four(part, lane);
	let p1 = p0 + NEXT;
	let p2 = p1 + NEXT;
	let p3 = p2 + NEXT;
	packed[part * 256u + lane] = vec4<u32>(word_at(p0), word_at(p1), word_at(p2), word_at(p3));
}
