// Rows that are in doubt, one by one, by exact sums of 64 lanes, or all that there are. In front: LOCAL, exact_sum.wgsl, sum_window.wgsl, and `term`, which adds term t of row `row` of
// the workgroup, whose elements begin at quad `first`; `which` of several sums.
const SETTLERS: u32 = min(64u, LOCAL);

var<workgroup> doubts: array<u32, ROWS>;
var<workgroup> doubted: u32;
var<workgroup> digits: array<array<u32, SETTLERS>, 21>;
var<workgroup> wholes: array<u64, 21>;

fn any_doubt(lane: u32, row: u32, doubt: bool) -> bool {
	if (lane == 0u) {
		doubts[row] = u32(doubt);
	}
	workgroupBarrier();
	if (lane == 0u && row == 0u) {
		var any = 0u;
		for (var k = 0u; k < ROWS; k++) {
			any |= doubts[k];
		}
		doubted = any;
	}
	return workgroupUniformLoad(&doubted) != 0u;
}

// All lanes arrive, and come back with the sum in `total` and `saw`.
fn settle(first: u32, row: u32, at: u32, which: u32) {
	sum_clear();
	if (at < SETTLERS) {
		for (var i = 0u; i < steps * LANES * 4u / SETTLERS; i++) {
			let t = i * SETTLERS + at;
			if (t >= params.n) {
				break;
			}
			term(first, row, t, which);
		}
		sum_flush();
		sum_carry();
		for (var digit = 0u; digit < DIGITS; digit++) {
			digits[digit][at] = u32(total[digit]);
		}
		digits[20][at] = saw;
	}
	workgroupBarrier();
	for (var first_digit = 0u; first_digit < 21u; first_digit += SETTLERS) {
		let digit = first_digit + at;
		if (at < SETTLERS && digit < 21u) {
			var sum = 0lu;
			for (var k = 0u; k < SETTLERS; k++) {
				let part = u64(digits[digit][k]);
				sum = select(sum + part, sum | part, digit == 20u);
			}
			wholes[digit] = sum;
		}
	}
	workgroupBarrier();
	for (var digit = 0u; digit < DIGITS; digit++) {
		total[digit] = i64(wholes[digit]);
	}
	saw = u32(wholes[20]);
}
