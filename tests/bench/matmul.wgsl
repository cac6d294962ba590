// C = A B of 1024 x 1024 for a CPU, as a BLAS does it. Sixteen lanes lie side by side over 64 columns, and an invocation keeps
// 4 rows of 4 columns in registers while it goes through 64 values of k. The 64 rows of B, 64 columns wide, are packed into
// workgroup memory for 64 rows of C, those of A for one tile: all rows of a matrix of 1024 begin in one set of a cache, each on
// a page of its own. What is summed so far waits in `sums`. k ascends and every step is an fma, so that the bits are those of a
// plain loop. Dispatch: 16,16.
const N = 1024u;
@group(0) @binding(0) var<storage, read> a: array<f32, 1048576>;
@group(0) @binding(1) var<storage, read> b: array<f32, 1048576>;
@group(0) @binding(2) var<storage, read_write> c: array<f32, 1048576>;
var<workgroup> panel: array<array<f32, 64>, 64>;
var<workgroup> rows: array<array<f32, 64>, 4>;

@compute @workgroup_size(16)
fn main(@builtin(local_invocation_id) lane: vec3<u32>, @builtin(workgroup_id) tile: vec3<u32>) {
	let x = lane.x & 15u;
	let column = (tile.x & 15u) * 64u + x;
	let first = (tile.y & 15u) * 64u;
	var sums: array<array<f32, 16>, 16>;
	for (var block = 0u; block < 16u; block++) {
		let k0 = block * 64u;
		for (var k = 0u; k < 64u; k++) {
			panel[k][0u + x] = b[(k0 + k) * N + column + 0u];
			panel[k][16u + x] = b[(k0 + k) * N + column + 16u];
			panel[k][32u + x] = b[(k0 + k) * N + column + 32u];
			panel[k][48u + x] = b[(k0 + k) * N + column + 48u];
		}
		for (var t = 0u; t < 16u; t++) {
			let row = first + t * 4u;
			workgroupBarrier();
			for (var r = 0u; r < 4u; r++) {
				rows[r][0u + x] = a[(row + r) * N + k0 + 0u + x];
				rows[r][16u + x] = a[(row + r) * N + k0 + 16u + x];
				rows[r][32u + x] = a[(row + r) * N + k0 + 32u + x];
				rows[r][48u + x] = a[(row + r) * N + k0 + 48u + x];
			}
			workgroupBarrier();
			var s00 = sums[t][0];
			var s01 = sums[t][1];
			var s02 = sums[t][2];
			var s03 = sums[t][3];
			var s10 = sums[t][4];
			var s11 = sums[t][5];
			var s12 = sums[t][6];
			var s13 = sums[t][7];
			var s20 = sums[t][8];
			var s21 = sums[t][9];
			var s22 = sums[t][10];
			var s23 = sums[t][11];
			var s30 = sums[t][12];
			var s31 = sums[t][13];
			var s32 = sums[t][14];
			var s33 = sums[t][15];
			for (var k = 0u; k < 64u; k++) {
				let b0 = panel[k][0u + x];
				let b1 = panel[k][16u + x];
				let b2 = panel[k][32u + x];
				let b3 = panel[k][48u + x];
				let a0 = rows[0][k];
				s00 = fma(a0, b0, s00);
				s01 = fma(a0, b1, s01);
				s02 = fma(a0, b2, s02);
				s03 = fma(a0, b3, s03);
				let a1 = rows[1][k];
				s10 = fma(a1, b0, s10);
				s11 = fma(a1, b1, s11);
				s12 = fma(a1, b2, s12);
				s13 = fma(a1, b3, s13);
				let a2 = rows[2][k];
				s20 = fma(a2, b0, s20);
				s21 = fma(a2, b1, s21);
				s22 = fma(a2, b2, s22);
				s23 = fma(a2, b3, s23);
				let a3 = rows[3][k];
				s30 = fma(a3, b0, s30);
				s31 = fma(a3, b1, s31);
				s32 = fma(a3, b2, s32);
				s33 = fma(a3, b3, s33);
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
	}
	for (var t = 0u; t < 16u; t++) {
		c[(first + t * 4u + 0u) * N + column + 0u] = sums[t][0];
		c[(first + t * 4u + 0u) * N + column + 16u] = sums[t][1];
		c[(first + t * 4u + 0u) * N + column + 32u] = sums[t][2];
		c[(first + t * 4u + 0u) * N + column + 48u] = sums[t][3];
		c[(first + t * 4u + 1u) * N + column + 0u] = sums[t][4];
		c[(first + t * 4u + 1u) * N + column + 16u] = sums[t][5];
		c[(first + t * 4u + 1u) * N + column + 32u] = sums[t][6];
		c[(first + t * 4u + 1u) * N + column + 48u] = sums[t][7];
		c[(first + t * 4u + 2u) * N + column + 0u] = sums[t][8];
		c[(first + t * 4u + 2u) * N + column + 16u] = sums[t][9];
		c[(first + t * 4u + 2u) * N + column + 32u] = sums[t][10];
		c[(first + t * 4u + 2u) * N + column + 48u] = sums[t][11];
		c[(first + t * 4u + 3u) * N + column + 0u] = sums[t][12];
		c[(first + t * 4u + 3u) * N + column + 16u] = sums[t][13];
		c[(first + t * 4u + 3u) * N + column + 32u] = sums[t][14];
		c[(first + t * 4u + 3u) * N + column + 48u] = sums[t][15];
	}
}
