fn crumbs(b: u32, e: u32) -> u32 {
	var byte = 0u;
	for (var k = 0u; k < 4u; k++) {
		byte |= (q(b, e + 32u * k) & 3u) << (2u * k);
	}
	return byte;
}

// Scales are six bits, 32 more than they are.
fn six(b: u32, part: u32) -> u32 {
	return (s(b, part) + 32u) & 63u;
}

fn byte_of(b: u32, at: u32) -> u32 {
	var byte = 0u;
	if (at < 32u) {
		for (var k = 0u; k < 8u; k++) {
			byte |= (q(b, 32u * k + at) >> 2u) << k;
		}
		return byte;
	}
	if (at < 96u) {
		return crumbs(b, (at - 32u) / 32u * 128u + (at - 32u) % 32u);
	}
	if (at < 104u) {
		return (six(b, at - 96u) & 15u) | ((six(b, at - 88u) & 15u) << 4u);
	}
	if (at < 108u) {
		for (var k = 0u; k < 4u; k++) {
			byte |= (six(b, at - 104u + 4u * k) >> 4u) << (2u * k);
		}
		return byte;
	}
	return half_byte(b, at - 108u);
}
