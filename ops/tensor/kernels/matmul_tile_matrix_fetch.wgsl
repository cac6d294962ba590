// Word $ of the next block, in matmul_tile_matrix.wgsl.
	x$ = load_a(at.x, c.y + left_at(lane).x + $u * LEFT_STEP.x, next + left_at(lane).y + $u * LEFT_STEP.y);
	y$ = load_b(at.y, next + right_at(lane).x + $u * RIGHT_STEP.x, c.z + right_at(lane).y + $u * RIGHT_STEP.y);
