// Products of rows number $.
		let l$ = subgroupMatrixLoad<L, row_major>(&left, $u * 16u * LEFT_LINE, LEFT_LINE);
		s$ = subgroupMatrixMultiplyAccumulate(l$, r, s$);
