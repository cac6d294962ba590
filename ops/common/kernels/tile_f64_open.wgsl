// Begin of the products of 16 terms.
	for (var k = 0u; k < 16u; k++) {
		let c = k * PITCH + (lane & 15u);
		let b = vec4<f64>(right[c], right[c + 16u], right[c + 32u], right[c + 48u]);
