// After the words of a block, in matmul_tile_matrix.wgsl.
	workgroupBarrier();
	next += 16u;
