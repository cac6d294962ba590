// Word $ of the block that was fetched goes into arrays 1, in matmul_tile_matrix.wgsl.
	left1[left_at(lane).x * LEFT_LINE + left_at(lane).y + $u * (LEFT_STEP.x * LEFT_LINE + LEFT_STEP.y)] = x$;
	right1[right_at(lane).x * RIGHT_LINE + right_at(lane).y + $u * (RIGHT_STEP.x * RIGHT_LINE + RIGHT_STEP.y)] = y$;
