// What follows the terms of a block, in matmul_tile_cpu.wgsl.
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
	let first = tile * 1024u;
	let m0 = norm_b(c.x, c.z + x);
	let m1 = norm_b(c.x, c.z + 8u + x);
	let m2 = norm_b(c.x, c.z + 16u + x);
	let m3 = norm_b(c.x, c.z + 24u + x);
	for (var t = 0u; t < 8u; t++) {
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
