// Of matmul_pack.wgsl, where factors are packed as matmul_packed_wide.wgsl says.
fn first_of_four(part: u32, lane: u32) -> vec3<u32> {
	let eights = blocks() * 2u;
	let panels = panels_of_matrix(vectors());
	let panel = part / eights;
	return vec3<u32>(panel / panels, panel % panels * 128u + lane % 32u * 4u, part % eights * 8u + lane / 32u);
}
