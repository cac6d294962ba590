// Products of the block in arrays $, of tiles with 128 rows and columns, in matmul_tile_matrix.wgsl.
	{
		let l0 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 0u, 20u);
		let l1 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 320u, 20u);
		let l2 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 640u, 20u);
		let l3 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 960u, 20u);
		let r0 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 0u, 8u);
		let r1 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 128u, 8u);
		let r2 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 256u, 8u);
		let r3 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 384u, 8u);
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
