// Products of the block in arrays $, of tiles with 64 rows and columns, in matmul_tile_matrix.wgsl.
	{
		let l0 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 0u, 20u);
		let l1 = subgroupMatrixLoad<L, row_major>(&left$, top * 20u + 320u, 20u);
		let r0 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 0u, 8u);
		let r1 = subgroupMatrixLoad<R, row_major>(&right$, side * 16u + 128u, 8u);
		s0 = subgroupMatrixMultiplyAccumulate(l0, r0, s0);
		s1 = subgroupMatrixMultiplyAccumulate(l0, r1, s1);
		s2 = subgroupMatrixMultiplyAccumulate(l1, r0, s2);
		s3 = subgroupMatrixMultiplyAccumulate(l1, r1, s3);
	}
