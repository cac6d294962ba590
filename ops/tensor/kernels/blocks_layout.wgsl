// What bytes of blocks are put together from.
fn q(b: u32, e: u32) -> u32 {
	return codes_raw(b * PARTS * SUB + e);
}

fn s(b: u32, part: u32) -> u32 {
	return parts[b * PARTS + part] & 0xffffu;
}

fn m(b: u32, part: u32) -> u32 {
	return parts[b * PARTS + part] >> 16u;
}

// Byte `at` of the f16 of the scale and, behind it, of the minimum.
fn half_byte(b: u32, at: u32) -> u32 {
	let turned = TURNS && SCALES == 1u && s(b, 0u) >> 15u == 1u;
	return ((blocks[b] | select(0u, 0x8000u, turned)) >> (at * 8u)) & 0xffu;
}

fn product(i: u32) -> u32 {
	return byte_of(i / BYTES, i % BYTES);
}
