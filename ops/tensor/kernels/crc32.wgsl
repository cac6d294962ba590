// The CRC-32 of a row, a byte a turn. v[0].x: bytes of a row.
fn product(i: u32) -> T {
	let n = params.v[0].x;
	var crc = 0xffffffffu;
	for (var k = 0u; k < steps; k++) {
		if (k < n) {
			crc = table[(crc ^ x_raw(i * n + k)) & 0xffu] ^ (crc >> 8u);
		}
	}
	return ~crc;
}
