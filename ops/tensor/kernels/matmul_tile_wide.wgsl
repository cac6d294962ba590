// Sums of products in the order of terms, by workgroups of 256, tiles of matmul_wide.wgsl. Blocks of 8 terms, k ascending, come through two halves of workgroup memory:
// while everyone multiplies out of one, the next block's words are on their way in registers, and go into the other. In front: packed factors, V (four f32 or u32), `step`; behind: matmul_tile_wide_*.wgsl.
var<workgroup> left: array<V, 512>; // [k][row]
var<workgroup> right: array<V, 512>; // [k][column]

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let tile = group.y * 65535u + group.x;
	let c = corner(tile);
	let first = (panels_of(c.x) + c.yz / 128u) * (blocks() * 512u) + vec2<u32>(lane);
	let n_blocks = blocks();
	let row = lane / 16u;
	let column = lane % 16u;
	var a_at = first.x;
	var b_at = first.y;
	var x = a[a_at];
	var y = b[b_at];
