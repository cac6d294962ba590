// Exact sums by several lanes: each leaves the digits of its own, and of every digit of every result of the workgroup one lane makes the
// sum. In front of this text stand reduce_place.wgsl, exact_sum.wgsl, `accumulate`, the terms of a lane, and `give`.
var<workgroup> digits: array<array<u32, 64>, 21>;
var<workgroup> sums: array<array<u64, 32>, 21>;

// All lanes arrive; lanes below ROWS come back with the sum of their result's lanes.
fn sum_join(lid: u32) {
	sum_carry();
	if (ROWS == 64u) {
		return;
	}
	for (var digit = 0u; digit < DIGITS; digit++) {
		digits[digit][lid] = u32(total[digit]);
	}
	digits[20][lid] = saw;
	workgroupBarrier();
	for (var at = lid; at < 21u * ROWS; at += 64u) {
		var sum = 0lu;
		for (var k = 0u; k < 64u / ROWS; k++) {
			let digit = u64(digits[at / ROWS][at % ROWS + k * ROWS]);
			sum = select(sum + digit, sum | digit, at / ROWS == 20u);
		}
		sums[at / ROWS][at % ROWS] = sum;
	}
	workgroupBarrier();
	if (lid < ROWS) {
		for (var digit = 0u; digit < DIGITS; digit++) {
			total[digit] = i64(sums[digit][lid]);
		}
		saw = u32(sums[20][lid]);
	}
}
