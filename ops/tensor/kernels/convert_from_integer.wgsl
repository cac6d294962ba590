// In front: FROM_BITS, FROM_SIGNED. A binary stands for 2 c - 1 (FROM_BINARY), a bool for 1 where it is not 0 (FROM_BOOL).
fn read(i: u32) {
	let c = code(i);
	let top = (c >> (FROM_BITS - 1u)) & 1lu;
	kind = FINITE;
	exponent = 0i;
	negative = select(0u, u32(top), FROM_SIGNED);
	magnitude = select(c, (select(1lu << (FROM_BITS & 63u), 0lu, FROM_BITS == 64u) - c), negative == 1u);
	if (FROM_BINARY) {
		negative = select(1u, 0u, c == 1lu);
		magnitude = 1lu;
	}
	if (FROM_BOOL) {
		magnitude = select(0lu, 1lu, c != 0lu);
	}
}
