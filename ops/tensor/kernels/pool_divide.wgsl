// The magnitude of a sum divided by `divisor`: long division from the highest digit down.
var<private> divisor: u32;

fn sum_scale() -> bool {
	var rest = 0lu;
	for (var i = 0u; i < DIGITS; i++) {
		rest = (rest << 32u) | u64(total[DIGITS - 1u - i]);
		total[DIGITS - 1u - i] = i64(rest / u64(divisor));
		rest = rest % u64(divisor);
	}
	return rest != 0lu;
}
