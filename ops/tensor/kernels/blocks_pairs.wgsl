// Byte `at` of a block of q4_k or, with FIFTHS, q5_k.
fn byte_of(b: u32, at: u32) -> u32 {
	if (at < 4u) {
		return half_byte(b, at);
	}
	if (at < 16u) {
		let k = at - 4u;
		if (k < 4u) {
			return s(b, k) | ((s(b, k + 4u) >> 4u) << 6u);
		}
		if (k < 8u) {
			return m(b, k - 4u) | ((m(b, k) >> 4u) << 6u);
		}
		return (s(b, k - 4u) & 15u) | ((m(b, k - 4u) & 15u) << 4u);
	}
	let nibbles = select(16u, 48u, FIFTHS);
	if (at < nibbles) {
		var byte = 0u;
		for (var k = 0u; k < 8u; k++) {
			byte |= (q(b, 32u * k + at - 16u) >> 4u) << k;
		}
		return byte;
	}
	let e = (at - nibbles) / 32u * 64u + (at - nibbles) % 32u;
	return (q(b, e) & 15u) | ((q(b, e + 32u) & 15u) << 4u);
}
