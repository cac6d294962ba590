// A sum as it is: its digits, and what was seen.
fn put(item: u32) {
	sum_carry();
	for (var digit = 0u; digit < DIGITS; digit++) {
		y[item][digit] = u32(total[digit]);
	}
	y[item][20] = saw;
}
