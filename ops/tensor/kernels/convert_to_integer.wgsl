// In front: TO_BITS, TO_HIGH and TO_LOW, the largest magnitudes above and below zero. Saturated; NaN is 0. A bool says whether the number is not
// zero (TO_BOOL), a binary whether it is not below zero (TO_BINARY).
fn written() -> u64 {
	let zero = kind == FINITE && magnitude == 0lu;
	if (TO_BOOL) {
		return select(1lu, 0lu, zero);
	}
	if (TO_BINARY) {
		return select(1lu, 0lu, kind != NOT_A_NUMBER && negative == 1u && !zero);
	}
	if (kind == NOT_A_NUMBER) {
		return 0lu;
	}
	let most = select(TO_HIGH, TO_LOW, negative == 1u);
	var m = most;
	if (kind == FINITE) {
		m = min(rounded(0i), most);
	}
	return select(m, 0lu - m, negative == 1u) & (0xfffffffffffffffflu >> (64u - TO_BITS));
}
