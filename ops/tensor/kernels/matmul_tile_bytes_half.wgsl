// Between the blocks of a turn, in matmul_tile_bytes.wgsl.
		if (block + 1u >= n_blocks) {
			break;
		}
