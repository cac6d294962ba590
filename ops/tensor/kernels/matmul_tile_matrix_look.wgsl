// A look at sums $, in matmul_tile_matrix.wgsl.
	subgroupMatrixStore<row_major>(&room, own, s$, 8u);
	workgroupBarrier();
	most = max(most, largest(lane));
	workgroupBarrier();
