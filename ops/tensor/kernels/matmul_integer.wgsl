// Integers: modulo 2^width, so that no order shows. T is u32 or u64; signed ones are the same bits.
fn product(element: u32) -> T {
	let at = place(element);
	var acc = T(0);
	for (var i = 0u; i < steps; i++) {
		if (i >= params.k) {
			break;
		}
		acc += a_word(at.x + i * params.a_column) * b_word(at.y + i * params.b_row);
	}
	return acc;
}
