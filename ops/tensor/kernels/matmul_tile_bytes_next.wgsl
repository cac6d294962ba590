// Before words are fetched, in matmul_tile_bytes.wgsl.
		a_at += 512u;
		b_at += 512u;
