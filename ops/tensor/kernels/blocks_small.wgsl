// Byte `at` of a block of 32 elements. In front: FIFTHS, of q5_0 and q5_1.
fn byte_of(b: u32, at: u32) -> u32 {
	let halves = select(2u, 4u, SHIFTED);
	if (at < halves) {
		return half_byte(b, at);
	}
	if (EIGHT_BITS) {
		return q(b, at - 2u);
	}
	let nibbles = halves + select(0u, 4u, FIFTHS);
	if (at < nibbles) {
		var byte = 0u;
		for (var k = 0u; k < 8u; k++) {
			byte |= (q(b, (at - halves) * 8u + k) >> 4u) << k;
		}
		return byte;
	}
	return (q(b, at - nibbles) & 15u) | ((q(b, at - nibbles + 16u) & 15u) << 4u);
}
