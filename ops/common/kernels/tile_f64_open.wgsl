// Begin of the products of a block of terms.
	for (var k = 0u; k < TILE_TERMS; k++) {
		let c = RIGHT + k * PITCH + (lane & 15u);
		let b = vec4<f64>(room[c], room[c + 16u], room[c + 32u], room[c + 48u]);
