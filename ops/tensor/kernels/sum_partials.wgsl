// The sums that earlier rounds left, as they are: their digits, and what was seen.
fn accumulate(result: u32, lane: u32) {
	let first = first_of(result);
	for (var i = 0u; i < steps; i++) {
		let at = lane + i * params.lanes;
		if (at >= params.terms) {
			break;
		}
		let place = first + term_at(at);
		for (var digit = 0u; digit < DIGITS; digit++) {
			total[digit] += i64(x[place][digit]);
		}
		saw |= x[place][20];
	}
}
