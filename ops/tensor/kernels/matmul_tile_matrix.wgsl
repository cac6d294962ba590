// Sums of products by matrix units, in f64: workgroups of 256, tiles of matmul_matrix.wgsl. Blocks of 16 terms, k ascending, come through
// workgroup memory: while subgroups multiply, the next block's words are on their way in registers. In front: the layout, the
// norms, `settled`, `left_at` (row, k) and `right_at` (k, column) of the first word of a block that a lane brings, LEFT_STEP and RIGHT_STEP from one to the next; behind: matmul_tile_matrix_*.wgsl.
// Every LOOK terms everyone looks at its sums: how large they are there bounds the error (SEMANTICS.md 4.4). Outside of the matrices 0 * -0 is added,
// which changes no sum.
alias L = subgroup_matrix_left<f32, 16, 16>;
alias R = subgroup_matrix_right<f32, 8, 16>;
alias S = subgroup_matrix_result<f64, 8, 16>;

const LOOK: u32 = 512u;
// No two rows that are read at once share a bank.
const LEFT_LINE: u32 = 20u;
const RIGHT_LINE: u32 = SIDE + 8u;

var<workgroup> left0: array<u32, SIDE * LEFT_LINE>; // [row][k]: bits
var<workgroup> right0: array<u32, 16u * RIGHT_LINE>; // [k][column]
var<workgroup> room: array<f64, 1024>; // a result of each subgroup

fn load_a(at: u32, row: u32, k: u32) -> u32 {
	var bits = 0u;
	if (row < params.m && k < params.k) {
		bits = a_bits(at + row * params.a_row + k * params.a_column);
	}
	return bits;
}

fn load_b(at: u32, k: u32, column: u32) -> u32 {
	var bits = 0x80000000u;
	if (column < params.n && k < params.k) {
		bits = b_bits(at + k * params.b_row + column * params.b_column);
	}
	return bits;
}

fn largest(lane: u32) -> f64 {
	let at = lane / 32u * 128u + lane % 32u;
	return max(max(abs(room[at]), abs(room[at + 32u])), max(abs(room[at + 64u]), abs(room[at + 96u])));
}

fn finish_result(result: u32, tile: u32, c: vec3<u32>, lane: u32, starts: f64) {
	let at = lane / 32u * 128u + lane % 32u;
	for (var i = 0u; i < 4u; i++) {
		let p = cell(result, i, lane);
		let a = norm_a(c.x, c.y + p.x);
		let b = norm_b(c.x, c.z + p.y);
		temp[tile * CELLS + (result * 4u + i) * 256u + lane] = settled(room[at + i * 32u], a, b, f64(min(params.k, LOOK) + 1u), starts);
	}
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let tile = group.y * 65535u + group.x;
	let c = corner(tile);
	let at = place(c.x * params.m * params.n);
	let top = lane / 128u * (SIDE / 2u);
	let side = lane / 32u % 4u * (SIDE / 4u);
	let own = lane / 32u * 128u;
	var starts = 0.0lf;
	var next = 0u;
