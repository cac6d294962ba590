// Products of rows number $.
		s$ = step(vec4<f64>(room[($u * 16u + (lane >> 4u)) * TILE_TERMS + k]), b, s$);
