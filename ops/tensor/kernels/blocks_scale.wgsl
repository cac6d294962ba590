// Word b: the f16 of block b, that of its scale in the lower half; BAD where no f16 is enough.
fn half_below(lowest: i64) -> u32 {
	if (lowest < 0li) {
		let code = least_half(1li, 0li, -lowest);
		return select(code | 0x8000u, code, code == 0u || code > HALF_LARGEST);
	}
	var code = 0u;
	for (var bit = 0x4000u; bit > 0u; bit >>= 1u) {
		let next = code | bit;
		if (next <= HALF_LARGEST && 4li * half_units(next) <= lowest) {
			code = next;
		}
	}
	return code;
}

fn product(b: u32) -> u32 {
	var tops: array<i64, 16>;
	var lows: array<i64, 16>;
	var most = 0u;
	var top = place_of(x_bits(b * PARTS * SUB));
	var low = top;
	for (var j = 0u; j < PARTS; j++) {
		tops[j] = place_of(x_bits((b * PARTS + j) * SUB));
		lows[j] = tops[j];
		for (var i = 0u; i < SUB; i++) {
			let bits = x_bits((b * PARTS + j) * SUB + i);
			let place = place_of(bits);
			most = max(most, bits & 0x7fffffffu);
			tops[j] = max(tops[j], place);
			lows[j] = min(lows[j], place);
		}
		top = max(top, tops[j]);
		low = min(low, lows[j]);
	}
	if (most >= BEYOND) {
		return BAD;
	}
	var minimum = 0u;
	var scale = 0u;
	if (TWO_LEVELS) {
		minimum = least_half(i64(MINIMA), 0li, max(-low, 0li));
		if (minimum > HALF_LARGEST) {
			return BAD;
		}
		for (var j = 0u; j < PARTS; j++) {
			let offset = -2li * half_units(minimum) * i64(integer_minimum(minimum, lows[j]));
			scale = max(scale, least_half(i64(SCALES) * HIGH, offset, tops[j]));
		}
	} else if (SHIFTED) {
		minimum = half_below(low);
		let offset = 2li * half_units(minimum & 0x7fffu);
		if ((minimum & 0x7fffu) > HALF_LARGEST) {
			return BAD;
		}
		scale = least_half(HIGH, select(offset, -offset, minimum >> 15u == 1u), top);
	} else {
		scale = least_half(i64(SCALES) * LOW, 0li, place_of(most));
	}
	return select(scale | (minimum << 16u), BAD, scale > HALF_LARGEST);
}
