// The end of sums $, in matmul_tile_bytes.wgsl.
	subgroupMatrixStore<row_major>(&room, own, s$, 16u);
	workgroupBarrier();
	give($u, group, lane);
	workgroupBarrier();
