// Sums of products in tiles, for a processor as a BLAS has it: 8 lanes lie side by side over 32 columns, and an invocation keeps 4 rows of
// 4 columns in registers while it goes through 32 terms. A panel of b waits in workgroup memory for all 32 rows. In front: `step`,
// CHUNK, `finish`, the norms; behind it: matmul_tile_cpu_term.wgsl four times, matmul_tile_cpu_end.wgsl. Outside of the matrices 0 * -0 is added, which changes no sum. Dispatch: a workgroup a tile.
var<workgroup> panel: array<f64, 1024>; // [k][column]
var<workgroup> rows: array<f64, 128>; // [row][k]

fn load_a(at: u32, row: u32, k: u32) -> f64 {
	var bits = 0u;
	if (row < params.m && k < params.k) {
		bits = a_bits(at + row * params.a_row + k * params.a_column);
	}
	return f64(bitcast<f32>(bits));
}

fn load_b(at: u32, k: u32, column: u32) -> f64 {
	var bits = 0x80000000u;
	if (column < params.n && k < params.k) {
		bits = b_bits(at + k * params.b_row + column * params.b_column);
	}
	return f64(bitcast<f32>(bits));
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let tile = group.y * 65535u + group.x;
	let c = corner(tile);
	let at = place(c.x * params.m * params.n);
	let x = lane & 7u;
	var sums: array<array<f64, 16>, 8>;
	var totals: array<array<f64, 16>, 8>;
	for (var block = 0u; block < steps; block++) {
		let k0 = block * 32u;
		if (k0 >= params.k) {
			break;
		}
		let fresh = k0 % CHUNK == 0u;
		let last = (k0 + 32u) % CHUNK == 0u || k0 + 32u >= params.k;
		for (var k = 0u; k < 32u; k++) {
			panel[k * 32u + x] = load_b(at.y, k0 + k, c.z + x);
			panel[k * 32u + 8u + x] = load_b(at.y, k0 + k, c.z + 8u + x);
			panel[k * 32u + 16u + x] = load_b(at.y, k0 + k, c.z + 16u + x);
			panel[k * 32u + 24u + x] = load_b(at.y, k0 + k, c.z + 24u + x);
		}
		for (var t = 0u; t < 8u; t++) {
			let row = c.y + t * 4u;
			workgroupBarrier();
			for (var r = 0u; r < 4u; r++) {
				rows[r * 32u + x] = load_a(at.x, row + r, k0 + x);
				rows[r * 32u + 8u + x] = load_a(at.x, row + r, k0 + 8u + x);
				rows[r * 32u + 16u + x] = load_a(at.x, row + r, k0 + 16u + x);
				rows[r * 32u + 24u + x] = load_a(at.x, row + r, k0 + 24u + x);
			}
			workgroupBarrier();
			var s00 = select(sums[t][0], 0.0lf, fresh);
			var s01 = select(sums[t][1], 0.0lf, fresh);
			var s02 = select(sums[t][2], 0.0lf, fresh);
			var s03 = select(sums[t][3], 0.0lf, fresh);
			var s10 = select(sums[t][4], 0.0lf, fresh);
			var s11 = select(sums[t][5], 0.0lf, fresh);
			var s12 = select(sums[t][6], 0.0lf, fresh);
			var s13 = select(sums[t][7], 0.0lf, fresh);
			var s20 = select(sums[t][8], 0.0lf, fresh);
			var s21 = select(sums[t][9], 0.0lf, fresh);
			var s22 = select(sums[t][10], 0.0lf, fresh);
			var s23 = select(sums[t][11], 0.0lf, fresh);
			var s30 = select(sums[t][12], 0.0lf, fresh);
			var s31 = select(sums[t][13], 0.0lf, fresh);
			var s32 = select(sums[t][14], 0.0lf, fresh);
			var s33 = select(sums[t][15], 0.0lf, fresh);
			for (var k = 0u; k < 32u; k += 4u) {
