// Products of the block in arrays $, in matmul_tile_bytes.wgsl.
		{
			let l0 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 0u, 80u);
			let l1 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 1280u, 80u);
			let l2 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 2560u, 80u);
			let l3 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 3840u, 80u);
			let r0 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 0u, 80u);
			let r1 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 1280u, 80u);
			let r2 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 2560u, 80u);
			let r3 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 3840u, 80u);
			s0 = subgroupMatrixMultiplyAccumulate(l0, r0, s0);
			s1 = subgroupMatrixMultiplyAccumulate(l0, r1, s1);
			s2 = subgroupMatrixMultiplyAccumulate(l0, r2, s2);
			s3 = subgroupMatrixMultiplyAccumulate(l0, r3, s3);
			s4 = subgroupMatrixMultiplyAccumulate(l1, r0, s4);
			s5 = subgroupMatrixMultiplyAccumulate(l1, r1, s5);
			s6 = subgroupMatrixMultiplyAccumulate(l1, r2, s6);
			s7 = subgroupMatrixMultiplyAccumulate(l1, r3, s7);
			s8 = subgroupMatrixMultiplyAccumulate(l2, r0, s8);
			s9 = subgroupMatrixMultiplyAccumulate(l2, r1, s9);
			s10 = subgroupMatrixMultiplyAccumulate(l2, r2, s10);
			s11 = subgroupMatrixMultiplyAccumulate(l2, r3, s11);
			s12 = subgroupMatrixMultiplyAccumulate(l3, r0, s12);
			s13 = subgroupMatrixMultiplyAccumulate(l3, r1, s13);
			s14 = subgroupMatrixMultiplyAccumulate(l3, r2, s14);
			s15 = subgroupMatrixMultiplyAccumulate(l3, r3, s15);
		}
		{
			let l0 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 32u, 80u);
			let l1 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 1312u, 80u);
			let l2 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 2592u, 80u);
			let l3 = subgroupMatrixLoad<L, row_major>(&left$, top * 80u + 3872u, 80u);
			let r0 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 32u, 80u);
			let r1 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 1312u, 80u);
			let r2 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 2592u, 80u);
			let r3 = subgroupMatrixLoad<R, col_major>(&right$, side * 80u + 3872u, 80u);
			s0 = subgroupMatrixMultiplyAccumulate(l0, r0, s0);
			s1 = subgroupMatrixMultiplyAccumulate(l0, r1, s1);
			s2 = subgroupMatrixMultiplyAccumulate(l0, r2, s2);
			s3 = subgroupMatrixMultiplyAccumulate(l0, r3, s3);
			s4 = subgroupMatrixMultiplyAccumulate(l1, r0, s4);
			s5 = subgroupMatrixMultiplyAccumulate(l1, r1, s5);
			s6 = subgroupMatrixMultiplyAccumulate(l1, r2, s6);
			s7 = subgroupMatrixMultiplyAccumulate(l1, r3, s7);
			s8 = subgroupMatrixMultiplyAccumulate(l2, r0, s8);
			s9 = subgroupMatrixMultiplyAccumulate(l2, r1, s9);
			s10 = subgroupMatrixMultiplyAccumulate(l2, r2, s10);
			s11 = subgroupMatrixMultiplyAccumulate(l2, r3, s11);
			s12 = subgroupMatrixMultiplyAccumulate(l3, r0, s12);
			s13 = subgroupMatrixMultiplyAccumulate(l3, r1, s13);
			s14 = subgroupMatrixMultiplyAccumulate(l3, r2, s14);
			s15 = subgroupMatrixMultiplyAccumulate(l3, r3, s15);
		}
