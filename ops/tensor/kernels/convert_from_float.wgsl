// In front: FROM_BITS, FROM_FRACTION, FROM_BIAS, FROM_LARGEST (code of the largest finite magnitude), FROM_INFINITIES.
fn read(i: u32) {
	let c = code(i);
	let whole = c & ((1lu << (FROM_BITS - 1u)) - 1lu);
	let fraction = c & ((1lu << FROM_FRACTION) - 1lu);
	let field = u32(whole >> FROM_FRACTION);
	kind = FINITE;
	negative = u32(c >> (FROM_BITS - 1u));
	magnitude = fraction | select(1lu << FROM_FRACTION, 0lu, field == 0u);
	exponent = i32(max(field, 1u)) - FROM_BIAS - i32(FROM_FRACTION);
	if (whole > FROM_LARGEST) {
		kind = select(NOT_A_NUMBER, INFINITE, FROM_INFINITIES && fraction == 0lu);
	}
}
