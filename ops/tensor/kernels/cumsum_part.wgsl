// Item i is the sum of part i % parts of row i / parts.
fn gather(i: u32) {
	let first = i % params.parts * 32u;
	for (var k = 0u; k < 32u; k++) {
		if (first + k < params.n) {
			add(place(i / params.parts, first + k));
		}
	}
}
