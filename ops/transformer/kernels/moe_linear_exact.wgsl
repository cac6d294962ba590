// An element by an exact sum of its own.
fn product(element: u32) -> u32 {
	let at = place(element);
	sum_clear();
	if (at.expert < params.experts) {
		for (var t = 0u; t < steps; t++) {
			if (t >= params.n) {
				break;
			}
			exact_term(x_bits(at.x_first + t), at.w_first + t);
		}
	}
	return given(element, at, sum_round());
}
