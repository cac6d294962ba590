// Sums of products in tiles, for a processor as a BLAS has it: 8 lanes lie side by side over 32 columns, and an invocation keeps 4 rows of
// 4 columns in registers while it goes through 32 terms. A panel of b waits in workgroup memory for all 64 rows. In front: `step`,
// CHUNK, `finish`, the norms. Outside of the matrices 0 * -0 is added, which changes no sum. Dispatch: a workgroup a tile.
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
	var sums: array<array<f64, 16>, 16>;
	var totals: array<array<f64, 16>, 16>;
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
		for (var t = 0u; t < 16u; t++) {
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
				let b00 = panel[k * 32u + 0u + x];
				let b01 = panel[k * 32u + 8u + x];
				let b02 = panel[k * 32u + 16u + x];
				let b03 = panel[k * 32u + 24u + x];
				let a00 = rows[0u + k + 0u];
				s00 = step(a00, b00, s00);
				s01 = step(a00, b01, s01);
				s02 = step(a00, b02, s02);
				s03 = step(a00, b03, s03);
				let a01 = rows[32u + k + 0u];
				s10 = step(a01, b00, s10);
				s11 = step(a01, b01, s11);
				s12 = step(a01, b02, s12);
				s13 = step(a01, b03, s13);
				let a02 = rows[64u + k + 0u];
				s20 = step(a02, b00, s20);
				s21 = step(a02, b01, s21);
				s22 = step(a02, b02, s22);
				s23 = step(a02, b03, s23);
				let a03 = rows[96u + k + 0u];
				s30 = step(a03, b00, s30);
				s31 = step(a03, b01, s31);
				s32 = step(a03, b02, s32);
				s33 = step(a03, b03, s33);
				let b10 = panel[k * 32u + 32u + x];
				let b11 = panel[k * 32u + 40u + x];
				let b12 = panel[k * 32u + 48u + x];
				let b13 = panel[k * 32u + 56u + x];
				let a10 = rows[0u + k + 1u];
				s00 = step(a10, b10, s00);
				s01 = step(a10, b11, s01);
				s02 = step(a10, b12, s02);
				s03 = step(a10, b13, s03);
				let a11 = rows[32u + k + 1u];
				s10 = step(a11, b10, s10);
				s11 = step(a11, b11, s11);
				s12 = step(a11, b12, s12);
				s13 = step(a11, b13, s13);
				let a12 = rows[64u + k + 1u];
				s20 = step(a12, b10, s20);
				s21 = step(a12, b11, s21);
				s22 = step(a12, b12, s22);
				s23 = step(a12, b13, s23);
				let a13 = rows[96u + k + 1u];
				s30 = step(a13, b10, s30);
				s31 = step(a13, b11, s31);
				s32 = step(a13, b12, s32);
				s33 = step(a13, b13, s33);
				let b20 = panel[k * 32u + 64u + x];
				let b21 = panel[k * 32u + 72u + x];
				let b22 = panel[k * 32u + 80u + x];
				let b23 = panel[k * 32u + 88u + x];
				let a20 = rows[0u + k + 2u];
				s00 = step(a20, b20, s00);
				s01 = step(a20, b21, s01);
				s02 = step(a20, b22, s02);
				s03 = step(a20, b23, s03);
				let a21 = rows[32u + k + 2u];
				s10 = step(a21, b20, s10);
				s11 = step(a21, b21, s11);
				s12 = step(a21, b22, s12);
				s13 = step(a21, b23, s13);
				let a22 = rows[64u + k + 2u];
				s20 = step(a22, b20, s20);
				s21 = step(a22, b21, s21);
				s22 = step(a22, b22, s22);
				s23 = step(a22, b23, s23);
				let a23 = rows[96u + k + 2u];
				s30 = step(a23, b20, s30);
				s31 = step(a23, b21, s31);
				s32 = step(a23, b22, s32);
				s33 = step(a23, b23, s33);
				let b30 = panel[k * 32u + 96u + x];
				let b31 = panel[k * 32u + 104u + x];
				let b32 = panel[k * 32u + 112u + x];
				let b33 = panel[k * 32u + 120u + x];
				let a30 = rows[0u + k + 3u];
				s00 = step(a30, b30, s00);
				s01 = step(a30, b31, s01);
				s02 = step(a30, b32, s02);
				s03 = step(a30, b33, s03);
				let a31 = rows[32u + k + 3u];
				s10 = step(a31, b30, s10);
				s11 = step(a31, b31, s11);
				s12 = step(a31, b32, s12);
				s13 = step(a31, b33, s13);
				let a32 = rows[64u + k + 3u];
				s20 = step(a32, b30, s20);
				s21 = step(a32, b31, s21);
				s22 = step(a32, b32, s22);
				s23 = step(a32, b33, s23);
				let a33 = rows[96u + k + 3u];
				s30 = step(a33, b30, s30);
				s31 = step(a33, b31, s31);
				s32 = step(a33, b32, s32);
				s33 = step(a33, b33, s33);
			}
			if (last) {
				totals[t][0] += s00;
				totals[t][1] += s01;
				totals[t][2] += s02;
				totals[t][3] += s03;
				totals[t][4] += s10;
				totals[t][5] += s11;
				totals[t][6] += s12;
				totals[t][7] += s13;
				totals[t][8] += s20;
				totals[t][9] += s21;
				totals[t][10] += s22;
				totals[t][11] += s23;
				totals[t][12] += s30;
				totals[t][13] += s31;
				totals[t][14] += s32;
				totals[t][15] += s33;
			}
			sums[t][0] = s00;
			sums[t][1] = s01;
			sums[t][2] = s02;
			sums[t][3] = s03;
			sums[t][4] = s10;
			sums[t][5] = s11;
			sums[t][6] = s12;
			sums[t][7] = s13;
			sums[t][8] = s20;
			sums[t][9] = s21;
			sums[t][10] = s22;
			sums[t][11] = s23;
			sums[t][12] = s30;
			sums[t][13] = s31;
			sums[t][14] = s32;
			sums[t][15] = s33;
		}
		workgroupBarrier();
	}
	let first = tile * 2048u;
	let m0 = norm_b(c.x, c.z + x);
	let m1 = norm_b(c.x, c.z + 8u + x);
	let m2 = norm_b(c.x, c.z + 16u + x);
	let m3 = norm_b(c.x, c.z + 24u + x);
	for (var t = 0u; t < 16u; t++) {
		for (var r = 0u; r < 4u; r++) {
			let n = norm_a(c.x, c.y + t * 4u + r);
			let slot = first + (t * 4u + r) * 32u + x;
			temp[slot] = finish(totals[t][r * 4u], n, m0);
			temp[slot + 8u] = finish(totals[t][r * 4u + 1u], n, m1);
			temp[slot + 16u] = finish(totals[t][r * 4u + 2u], n, m2);
			temp[slot + 24u] = finish(totals[t][r * 4u + 3u], n, m3);
		}
	}
}
