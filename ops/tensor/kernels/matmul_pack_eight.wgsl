// Of matmul_pack.wgsl, where factors are packed as matmul_packed.wgsl says. In front: `groups` (of a matrix), `of_four` (vector and term of four words' first, in eight vectors
// by 16 terms).
fn first_of_four(part: u32, lane: u32) -> vec3<u32> {
	let eight = part / steps_of_128();
	let at = of_four(lane & 31u);
	return vec3<u32>(eight / groups(), eight % groups() * 8u + at.x, part % steps_of_128() * 128u + lane / 32u * 16u + at.y);
}
