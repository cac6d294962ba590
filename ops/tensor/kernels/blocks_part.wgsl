// Word p: the integers of part p, its scale in the lower half, its minimum above it.
fn product(p: u32) -> u32 {
	let block = blocks[p / PARTS];
	let d = block & 0x7fffu;
	var far = x_bits(p * SUB);
	var top = place_of(far);
	var low = top;
	for (var i = 1u; i < SUB; i++) {
		let bits = x_bits(p * SUB + i);
		far = select(far, bits, (bits & 0x7fffffffu) > (far & 0x7fffffffu));
		top = max(top, place_of(bits));
		low = min(low, place_of(bits));
	}
	if (SHIFTED) {
		return 1u;
	}
	if (TWO_LEVELS) {
		let minimum = integer_minimum(block >> 16u, low);
		let offset = -2li * half_units(block >> 16u) * i64(minimum);
		return least_integer(d, HIGH, offset, top, SCALES) | (minimum << 16u);
	}
	var scale = 1u;
	if (SCALES > 1u) {
		scale = least_integer(d, LOW, 0li, place_of(far & 0x7fffffffu), SCALES);
	}
	let turned = TURNS && far >> 31u == 0u && far != 0u;
	return select(scale, 0u - scale, turned) & 0xffffu;
}
