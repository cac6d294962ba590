// The sums of a run of runs, as sum_keep.wgsl wrote them.
fn accumulate(at: u32) {
	let first = (at / params.runs) * params.terms;
	let start = (at % params.runs) * params.run;
	for (var i = 0u; i < steps; i++) {
		if (i >= params.run || start + i >= params.terms) {
			break;
		}
		for (var digit = 0u; digit < DIGITS; digit++) {
			total[digit] += i64(x[first + start + i][digit]);
		}
		saw |= x[first + start + i][20];
	}
}
