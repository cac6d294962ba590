// A factor of f32, packed as matmul_pack.wgsl does, where an invocation's four words lie behind each other, too. In front: the same but `word_at` and NEXT; the factor by fours.
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let part = group.y * 65535u + group.x;
	let p = first_of_four(part, lane);
	var words = vec4<u32>(OUTSIDE);
	if (p.y < vectors() && p.z < params.k) {
		words = a[(p.x * (vectors() * params.k) + p.y * vector_step() + p.z * term_step()) / 4u];
	}
	packed[part * 256u + lane] = words;
}
