// Rows of elements that lie side by side: LANES lanes a row, ROWS rows a workgroup, LOCAL lanes in all. A quad is four neighbours, as bits of f32; lane l
// has the quads l, l + LANES, .. of its row, and four of them under way. In front: rows_place.wgsl, those numbers, ABSENT (what stands for an element behind the last), `load4` and
// `load1`, `look` at a quad, `keep`, and the parameters.
override steps: u32; // quads of a lane or more, a multiple of four

fn fetch(first: u32, q: u32) -> vec4<u32> {
	return select(vec4<u32>(ABSENT), load4(first + min(q, row_quads() - 1u)), q < row_quads());
}

fn rows_load(first: u32, lane: u32, at: u32) {
	for (var j = 0u; j < steps; j += 4u) {
		let q = j * LANES + lane;
		if (q >= row_quads()) {
			break;
		}
		let a = fetch(first, q);
		let b = fetch(first, q + LANES);
		let c = fetch(first, q + 2u * LANES);
		let d = fetch(first, q + 3u * LANES);
		look(a);
		look(b);
		look(c);
		look(d);
		keep(j, at, a);
		keep(j + 1u, at, b);
		keep(j + 2u, at, c);
		keep(j + 3u, at, d);
	}
}
