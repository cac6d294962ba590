// Rows number $ of a finished tile.
		if (stage == $u) {
			subgroupMatrixStore<row_major>(&room, lane / 32u * 128u, s$, 8u);
		}
