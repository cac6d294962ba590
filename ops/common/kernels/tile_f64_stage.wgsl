// Rows number $ of a finished tile.
		if (stage == $u) {
			let to = (lane >> 4u) * 64u + (lane & 15u);
			room[to] = s$.x;
			room[to + 16u] = s$.y;
			room[to + 32u] = s$.z;
			room[to + 48u] = s$.w;
		}
