// The entry point of matmul_tile_bytes.wgsl.
@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let n_blocks = blocks();
	let first = panels_at(group) * (n_blocks * 512u) + vec2<u32>(lane);
	let to = lane / 4u * LINE + lane % 4u;
	let top = lane / 64u * 64u;
	let side = lane / 32u % 2u * 64u;
	let own = lane / 32u * 256u;
	var a_at = first.x;
	var b_at = first.y;
