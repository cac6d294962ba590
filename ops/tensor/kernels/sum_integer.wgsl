// A run of integers, modulo 2^width; runs of runs are the same.
fn product(at: u32) -> T {
	let first = first_of(at / params.runs);
	let start = (at % params.runs) * params.run;
	var acc = T(0);
	for (var i = 0u; i < steps; i++) {
		if (i >= params.run || start + i >= params.terms) {
			break;
		}
		acc += x[first + term_at(start + i)];
	}
	return acc;
}
