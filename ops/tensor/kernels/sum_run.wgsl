// The terms of a lane, from x: `term` adds an element, of which it is given the bits, to a result. Four are read before the first is added, so
// that a lane waits for memory once in four.
fn accumulate(result: u32, lane: u32) {
	let first = first_of(result);
	for (var i = 0u; i < steps; i += 4u) {
		let at = lane + i * params.lanes;
		if (at >= params.terms) {
			break;
		}
		let last = params.terms - 1u;
		let four = vec4<u32>(x_bits(first + term_at(at)),
			x_bits(first + term_at(min(at + params.lanes, last))),
			x_bits(first + term_at(min(at + 2u * params.lanes, last))),
			x_bits(first + term_at(min(at + 3u * params.lanes, last))));
		for (var k = 0u; k < 4u; k++) {
			if (at + k * params.lanes < params.terms) {
				term(four[k], result);
			}
		}
	}
	sum_flush();
}
