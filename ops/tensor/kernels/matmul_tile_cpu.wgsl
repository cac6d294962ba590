// Sums of products in tiles, for a processor as a BLAS has it: LANES lie side by side over four times as many columns, and an invocation
// keeps 4 rows of 4 columns in registers while it goes through 32 terms. A panel of b waits in workgroup memory for all 32 rows. In front:
// LANES, Acc (f32, f64 or u32), `value` (of bits), `step`, CHUNK, Total and `whole` (a sum of CHUNK terms as one), `finish`, the norms; behind: matmul_tile_cpu_term.wgsl four times, matmul_tile_cpu_end.wgsl.
// Outside of the matrices 0 * -0 is added, which changes no sum. Dispatch: a workgroup a tile.
var<workgroup> panel: array<Acc, 32u * COLUMNS>; // [k][column]
var<workgroup> rows: array<Acc, 128>; // [row][k]

// whole: of all lanes all elements are there, so that none is asked for.
fn load_a(at: u32, row: u32, k: u32, whole: bool) -> Acc {
	var bits = 0u;
	if (whole) {
		bits = a_bits(at + a_place(row, k));
	} else if (row < params.m && k < params.k) {
		bits = a_bits(at + a_place(row, k));
	}
	return value(bits);
}

fn load_b(at: u32, k: u32, column: u32, whole: bool) -> Acc {
	var bits = 0x80000000u;
	if (whole) {
		bits = b_bits(at + b_place(k, column));
	} else if (column < params.n && k < params.k) {
		bits = b_bits(at + b_place(k, column));
	}
	return value(bits);
}

@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let tile = group.y * 65535u + group.x;
	let c = corner(tile);
	let at = place(c.x * params.m * params.n);
	let x = lane & (LANES - 1u);
	var sums: array<array<Acc, 16>, 8>;
	var totals: array<array<Total, 16>, 8>;
	for (var block = 0u; block < steps; block++) {
		let k0 = block * 32u;
		if (k0 >= params.k) {
			break;
		}
		let fresh = k0 % CHUNK == 0u;
		let last = (k0 + 32u) % CHUNK == 0u || k0 + 32u >= params.k;
		let whole_a = k0 + 32u <= params.k && c.y + ROWS <= params.m;
		let whole_b = k0 + 32u <= params.k && c.z + COLUMNS <= params.n;
		for (var k = 0u; k < 32u; k++) {
			panel[k * COLUMNS + x] = load_b(at.y, k0 + k, c.z + x, whole_b);
			panel[k * COLUMNS + LANES + x] = load_b(at.y, k0 + k, c.z + LANES + x, whole_b);
			panel[k * COLUMNS + 2u * LANES + x] = load_b(at.y, k0 + k, c.z + 2u * LANES + x, whole_b);
			panel[k * COLUMNS + 3u * LANES + x] = load_b(at.y, k0 + k, c.z + 3u * LANES + x, whole_b);
		}
		for (var t = 0u; t < 8u; t++) {
			let row = c.y + t * 4u;
			workgroupBarrier();
			for (var r = 0u; r < 4u; r++) {
				for (var j = 0u; j < 32u / LANES; j++) {
					rows[r * 32u + j * LANES + x] = load_a(at.x, row + r, k0 + j * LANES + x, whole_a);
				}
			}
			workgroupBarrier();
			var s00 = select(sums[t][0], Acc(), fresh);
			var s01 = select(sums[t][1], Acc(), fresh);
			var s02 = select(sums[t][2], Acc(), fresh);
			var s03 = select(sums[t][3], Acc(), fresh);
			var s10 = select(sums[t][4], Acc(), fresh);
			var s11 = select(sums[t][5], Acc(), fresh);
			var s12 = select(sums[t][6], Acc(), fresh);
			var s13 = select(sums[t][7], Acc(), fresh);
			var s20 = select(sums[t][8], Acc(), fresh);
			var s21 = select(sums[t][9], Acc(), fresh);
			var s22 = select(sums[t][10], Acc(), fresh);
			var s23 = select(sums[t][11], Acc(), fresh);
			var s30 = select(sums[t][12], Acc(), fresh);
			var s31 = select(sums[t][13], Acc(), fresh);
			var s32 = select(sums[t][14], Acc(), fresh);
			var s33 = select(sums[t][15], Acc(), fresh);
			for (var k = 0u; k < 32u; k += 4u) {
