// Item i is the sum of what lies in front of element i of the level, and, unless exclusive, of the element.
@group(0) @binding(3) var<storage, read> offsets: array<A>; // of parts, exclusive; none of the last level

fn gather(i: u32) {
	let row = i / (params.n * params.inner) * params.inner + i % params.inner;
	let place_of_i = i / params.inner % params.n;
	let t = select(place_of_i, params.n - 1u - place_of_i, params.reverse == 1u);
	let part = t / 32u;
	if (params.has_offsets == 1u) {
		add_offset(row * params.parts + part);
	}
	for (var k = 0u; k < 32u; k++) {
		if (part * 32u + k + params.exclusive <= t) {
			add(place(row, part * 32u + k));
		}
	}
}
