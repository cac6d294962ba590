// The end of sums $, in matmul_tile_matrix.wgsl.
	subgroupMatrixStore<row_major>(&room, own, s$, 8u);
	workgroupBarrier();
	finish_result($u, tile, first * 8u, lane, starts);
	workgroupBarrier();
