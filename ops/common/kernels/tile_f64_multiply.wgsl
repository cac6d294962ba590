// Products of rows number $.
		s$ = step(vec4<f64>(left[$u * 256u + (lane >> 4u) * 16u + k]), b, s$);
