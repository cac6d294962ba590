// Word $ of the next block, in matmul_tile_matrix.wgsl.
	x$ = load_a(at.x, c.y + left_at($u * 256u + lane).x, next + left_at($u * 256u + lane).y);
	y$ = load_b(at.y, next + right_at($u * 256u + lane).x, c.z + right_at($u * 256u + lane).y);
