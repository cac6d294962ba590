// Sums of products by matrix units, in f64: workgroups of 128, several of which a multiprocessor has at once, tiles of matmul_matrix.wgsl. Blocks of 16 terms, k ascending, come through two pairs of arrays in workgroup
// memory: while subgroups multiply out of one, the next block's words are on their way in registers, and go into the other. In front: the layout, packed factors,
// `looked_at`; behind: matmul_tile_matrix_*.wgsl.
// Every LOOK terms everyone looks at its sums: how large they are there bounds the error (SEMANTICS.md 4.4).
alias L = subgroup_matrix_left<f32, 8, 16>;
alias R = subgroup_matrix_right<f32, 8, 8>;
alias S = subgroup_matrix_result<f64, 8, 16>;

// In words of four. No two rows that are read at once share a bank, nor do terms of eight columns.
const LEFT_LINE: u32 = 5u;

var<workgroup> left0: array<vec4<u32>, SIDE * LEFT_LINE>; // [row][k]: bits
var<workgroup> left1: array<vec4<u32>, SIDE * LEFT_LINE>;
var<workgroup> right0: array<vec4<u32>, SIDE * 4u>; // as packed: [column / 8][k][column % 8]
var<workgroup> right1: array<vec4<u32>, SIDE * 4u>;
var<workgroup> room: array<f64, 512>; // a result of each subgroup

fn largest(lane: u32) -> f64 {
	let at = lane / 32u * 128u + lane % 32u;
	return max(max(abs(room[at]), abs(room[at + 32u])), max(abs(room[at + 64u]), abs(room[at + 96u])));
}

// first: the tile's first vectors, by groups.
fn finish_result(result: u32, tile: u32, first: vec2<u32>, lane: u32, starts: f64) {
	let at = lane / 32u * 128u + lane % 32u;
	for (var i = 0u; i < 4u; i++) {
		let v = first + cell(result, i, lane);
		temp[tile * CELLS + (result * 4u + i) * 128u + lane] = looked_at(room[at + i * 32u], v.x, v.y, starts);
	}
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let tile = group.y * 65535u + group.x;
	let c = corner(tile);
	let first = groups_of(c.x) + c.yz / 8u;
	let line = steps_of_128() * 256u;
	let terms = params.k;
	var a_at = (first.x + lane / 32u) * line + lane % 32u;
	var b_at = (first.y + lane / 32u) * line + lane % 32u;
	let left_to = lane / 4u * LEFT_LINE + lane % 4u;
	let top = lane / 64u * (SIDE / 2u);
	let side = lane / 32u % 2u * (SIDE / 2u);
	let own = lane / 32u * 128u;
	var starts = 0.0lf;
