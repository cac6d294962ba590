// Byte i: the integer of element i, from 0 on; in q8_0 with its sign.
// How many points half way between multiples of d * scale lie below the place, of `most`; one that is hit counts where the multiple above it is even.
fn nearest(place: i64, d: u32, scale: u32, offset: i64, most: u32) -> u32 {
	let step = 2li * half_units(d) * i64(scale);
	var low = 0u;
	var high = select(most, 0u, step == 0li);
	for (var turn = 0u; turn < 8u; turn++) {
		let k = (low + high + 1u) >> 1u;
		if (low < high) {
			let edge = step * (2li * i64(k) - 1li) + 2li * offset;
			if (place > edge || (place == edge && (k & 1u) == 0u)) {
				low = k;
			} else {
				high = k - 1u;
			}
		}
	}
	return low;
}

fn product(i: u32) -> u32 {
	let block = blocks[i / (PARTS * SUB)];
	let part = parts[i / SUB];
	let bits = x_bits(i);
	let d = block & 0x7fffu;
	let scale = extractBits(bitcast<i32>(part), 0u, 16u);
	if (TWO_LEVELS) {
		return nearest(place_of(bits), d, u32(scale), -2li * half_units(block >> 16u) * i64(part >> 16u), u32(HIGH));
	}
	if (SHIFTED) {
		let offset = 2li * half_units((block >> 16u) & 0x7fffu);
		return nearest(place_of(bits), d, 1u, select(offset, -offset, block >> 31u == 1u), u32(HIGH));
	}
	let q = i32(nearest(place_of(bits & 0x7fffffffu), d, u32(abs(scale)), 0li, u32(LOW)));
	let turned = (bits >> 31u == 1u) != (scale < 0i);
	let signed = min(select(q, -q, turned), i32(HIGH));
	return u32(select(signed + i32(LOW), signed, EIGHT_BITS)) & 0xffu;
}
