fn byte_of(b: u32, at: u32) -> u32 {
	if (at < 128u) {
		let e = at / 64u * 128u + at % 64u;
		return (q(b, e) & 15u) | ((q(b, e + 64u) & 15u) << 4u);
	}
	if (at < 192u) {
		let e = (at - 128u) / 32u * 128u + (at - 128u) % 32u;
		var byte = 0u;
		for (var k = 0u; k < 4u; k++) {
			byte |= (q(b, e + 32u * k) >> 4u) << (2u * k);
		}
		return byte;
	}
	if (at < 208u) {
		return s(b, at - 192u) & 0xffu;
	}
	return half_byte(b, at - 208u);
}
