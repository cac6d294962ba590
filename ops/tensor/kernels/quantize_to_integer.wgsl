// In front: TO_BITS, LOW and HIGH, zero_point. The nearest integer and the zero point, saturated; NaN is the zero point.
fn written() -> u64 {
	var q = 0i;
	if (kind == INFINITE) {
		q = 1048576i;
	}
	if (kind == FINITE) {
		q = i32(min(rounded(0i), 1048576lu));
	}
	let v = clamp(select(q, -q, negative == 1u) + zero_point, LOW, HIGH);
	return u64(bitcast<u32>(v) & (0xffffffffu >> (32u - TO_BITS)));
}
