// Of matmul_pack.wgsl, where bytes are packed for matmul_tile_bytes.wgsl: in the blocks of matmul_packed_wide.wgsl, of 16 words, but one vector after the other. A workgroup has half a
// block.
fn first_of_four(part: u32, lane: u32) -> vec3<u32> {
	let halves = blocks() * 2u;
	let panels = panels_of_matrix(vectors());
	let panel = part / halves;
	return vec3<u32>(panel / panels, panel % panels * 128u + part % 2u * 64u + lane / 4u, part % halves / 2u * 16u + lane % 4u * 4u);
}
