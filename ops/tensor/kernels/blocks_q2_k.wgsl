// Two bits of the elements e, e + 32, e + 64 and e + 96.
fn crumbs(b: u32, e: u32, down: u32) -> u32 {
	var byte = 0u;
	for (var k = 0u; k < 4u; k++) {
		byte |= ((q(b, e + 32u * k) >> down) & 3u) << (2u * k);
	}
	return byte;
}

fn byte_of(b: u32, at: u32) -> u32 {
	if (at < 16u) {
		return s(b, at) | (m(b, at) << 4u);
	}
	if (at < 80u) {
		return crumbs(b, (at - 16u) / 32u * 128u + (at - 16u) % 32u, 0u);
	}
	return half_byte(b, at - 80u);
}
