// The terms of a run of floats.
fn accumulate(at: u32) {
	let first = first_of(at / params.runs);
	let start = (at % params.runs) * params.run;
	for (var i = 0u; i < steps; i++) {
		if (i >= params.run || start + i >= params.terms) {
			break;
		}
		sum_product(x_bits(first + term_at(start + i)), 0x3f800000u);
	}
}
