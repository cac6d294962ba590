// The terms of a lane, from x: `term` adds the element at a place of x, which belongs to a result.
fn accumulate(result: u32, lane: u32) {
	let first = first_of(result);
	for (var i = 0u; i < steps; i++) {
		let at = lane + i * params.lanes;
		if (at >= params.terms) {
			break;
		}
		term(first + term_at(at), result);
	}
	sum_flush();
}
