// Long division of an exact sum by two numbers below 2^32, one after the other, from the highest digit down.
var<private> first_divisor: u32;
var<private> second_divisor: u32;

fn divide_total(divisor: u64) -> bool {
	var rest = 0lu;
	for (var i = 0u; i < DIGITS; i++) {
		rest = (rest << 32u) | u64(total[DIGITS - 1u - i]);
		total[DIGITS - 1u - i] = i64(rest / divisor);
		rest = rest % divisor;
	}
	return rest != 0lu;
}

fn sum_scale() -> bool {
	let first = divide_total(u64(first_divisor));
	return divide_total(u64(second_divisor)) || first;
}
