// What follows the terms of a block, in matmul_tile_cpu.wgsl.
			}
			if (last) {
				totals[t][0] = select(totals[t][0] + whole(s00), whole(s00), k0 < CHUNK);
				totals[t][1] = select(totals[t][1] + whole(s01), whole(s01), k0 < CHUNK);
				totals[t][2] = select(totals[t][2] + whole(s02), whole(s02), k0 < CHUNK);
				totals[t][3] = select(totals[t][3] + whole(s03), whole(s03), k0 < CHUNK);
				totals[t][4] = select(totals[t][4] + whole(s10), whole(s10), k0 < CHUNK);
				totals[t][5] = select(totals[t][5] + whole(s11), whole(s11), k0 < CHUNK);
				totals[t][6] = select(totals[t][6] + whole(s12), whole(s12), k0 < CHUNK);
				totals[t][7] = select(totals[t][7] + whole(s13), whole(s13), k0 < CHUNK);
				totals[t][8] = select(totals[t][8] + whole(s20), whole(s20), k0 < CHUNK);
				totals[t][9] = select(totals[t][9] + whole(s21), whole(s21), k0 < CHUNK);
				totals[t][10] = select(totals[t][10] + whole(s22), whole(s22), k0 < CHUNK);
				totals[t][11] = select(totals[t][11] + whole(s23), whole(s23), k0 < CHUNK);
				totals[t][12] = select(totals[t][12] + whole(s30), whole(s30), k0 < CHUNK);
				totals[t][13] = select(totals[t][13] + whole(s31), whole(s31), k0 < CHUNK);
				totals[t][14] = select(totals[t][14] + whole(s32), whole(s32), k0 < CHUNK);
				totals[t][15] = select(totals[t][15] + whole(s33), whole(s33), k0 < CHUNK);
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
	let first = tile * CELLS;
	let m0 = norm_b(c.x, c.z + x);
	let m1 = norm_b(c.x, c.z + LANES + x);
	let m2 = norm_b(c.x, c.z + 2u * LANES + x);
	let m3 = norm_b(c.x, c.z + 3u * LANES + x);
	for (var t = 0u; t < 8u; t++) {
		for (var r = 0u; r < 4u; r++) {
			let n = norm_a(c.x, c.y + t * 4u + r);
			let slot = first + (t * 4u + r) * COLUMNS + x;
			temp[slot] = finish(totals[t][r * 4u], n, m0);
			temp[slot + LANES] = finish(totals[t][r * 4u + 1u], n, m1);
			temp[slot + 2u * LANES] = finish(totals[t][r * 4u + 2u], n, m2);
			temp[slot + 3u * LANES] = finish(totals[t][r * 4u + 3u], n, m3);
		}
	}
}
