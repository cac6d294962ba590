// Words of the next block, in matmul_tile_wide.wgsl.
		a_at += 256u;
		b_at += 256u;
		x = a[a_at];
		y = b[b_at];
