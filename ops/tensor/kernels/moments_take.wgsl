// A lane's terms, added in f64; four are read before the first is added.
fn term_bits(first: u32, term: u32) -> u32 {
	return select(0u, x_bits(first + term_at(min(term, params.terms - 1u))), term < params.terms);
}

fn lane_of(first: u32, start: u32) -> A {
	sums_clear();
	for (var i = 0u; i < steps; i += 4u) {
		let term = start + i * params.lanes;
		if (term >= params.terms) {
			break;
		}
		let four = vec4<u32>(term_bits(first, term), term_bits(first, term + params.lanes),
			term_bits(first, term + 2u * params.lanes), term_bits(first, term + 3u * params.lanes));
		sums_add(four.x);
		sums_add(four.y);
		sums_add(four.z);
		sums_add(four.w);
	}
	return sums_found();
}
