// The exact sum of the exact products, rounded once.
fn product(element: u32) -> u32 {
	let at = place(element);
	sum_clear();
	for (var i = 0u; i < steps; i++) {
		if (i >= params.k) {
			break;
		}
		sum_product(a_bits(at.x + i * params.a_column), b_bits(at.y + i * params.b_row));
	}
	return sum_round();
}
