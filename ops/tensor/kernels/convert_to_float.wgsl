// In front: TO_BITS, TO_EXPONENT, TO_FRACTION, TO_LEAST (exponent of the least subnormal), TO_LARGEST, TO_BEYOND and TO_NAN (codes), TO_SIGNED_BEYOND
// (what is beyond the largest keeps its sign).
fn written() -> u64 {
	if (kind == NOT_A_NUMBER) {
		return TO_NAN;
	}
	let hidden = 1lu << TO_FRACTION;
	var c = TO_BEYOND;
	var beyond = kind == INFINITE;
	if (!beyond) {
		let top = exponent + 63i - i32(countLeadingZeros(magnitude));
		let unit = select(max(TO_LEAST, top - i32(TO_FRACTION)), TO_LEAST, magnitude == 0lu);
		let m = rounded(unit);
		let field = u32(max(unit - TO_LEAST + 1i, 0i));
		beyond = m >= hidden && field >= (2u << TO_EXPONENT);
		if (!beyond) {
			c = select((u64(field) << TO_FRACTION) + (m - hidden), m, m < hidden);
			beyond = c > TO_LARGEST;
		}
		c = select(c, TO_BEYOND, beyond);
	}
	return c | select(0lu, u64(negative) << (TO_BITS - 1u), !beyond || TO_SIGNED_BEYOND);
}
