// Products of the block in arrays $, in matmul_tile_matrix.wgsl, 8 terms at a time: with so few registers there are three workgroups on a multiprocessor.
	{
		let l0 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 0u, 20u);
		let l1 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 320u, 20u);
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
	}
	{
		let l0 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 8u, 20u);
		let l1 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 328u, 20u);
		let r0 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 64u, 8u);
		let r1 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 192u, 8u);
		let r2 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 320u, 8u);
		let r3 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 448u, 8u);
		s0 = subgroupMatrixMultiplyAccumulate(l0, r0, s0);
		s1 = subgroupMatrixMultiplyAccumulate(l0, r1, s1);
		s2 = subgroupMatrixMultiplyAccumulate(l0, r2, s2);
		s3 = subgroupMatrixMultiplyAccumulate(l0, r3, s3);
		s4 = subgroupMatrixMultiplyAccumulate(l1, r0, s4);
		s5 = subgroupMatrixMultiplyAccumulate(l1, r1, s5);
		s6 = subgroupMatrixMultiplyAccumulate(l1, r2, s6);
		s7 = subgroupMatrixMultiplyAccumulate(l1, r3, s7);
	}
