// Long division of an exact sum by two numbers below 2^32, one after the other, from the highest digit down. One loop over both: drivers that
// unroll loops over an array of as many elements as they have turns leave it as it is.
var<private> first_divisor: u32;
var<private> second_divisor: u32;

fn sum_scale() -> bool {
	var rest = 0lu;
	var cut = false;
	for (var i = 0u; i < 2u * DIGITS; i++) {
		let digit = DIGITS - 1u - i % DIGITS;
		let divisor = u64(select(first_divisor, second_divisor, i >= DIGITS));
		if (i == DIGITS) {
			cut = rest != 0lu;
			rest = 0lu;
		}
		let value = (rest << 32u) | u64(total[digit]);
		let quotient = value / divisor;
		total[digit] = i64(quotient);
		rest = value - quotient * divisor;
	}
	return cut || rest != 0lu;
}
