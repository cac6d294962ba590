// Blocks by integers alone. Numbers that are chosen from are multiples of 2^-25; a `place` is an element's among them: twice the multiples below
// its magnitude, and one more where it lies between two, with its sign. So comparisons with what is chosen are exact. In front: SUB, PARTS, SCALES,
// MINIMA, LOW, HIGH of the format, TWO_LEVELS, SHIFTED, TURNS.
const BAD: u32 = 0xffffffffu;
const HALF_LARGEST: u32 = 0x7bffu;
const BEYOND: u32 = 0x4f000000u; // 2^31, which no format reaches

fn place_of(bits: u32) -> i64 {
	let magnitude = bits & 0x7fffffffu;
	let field = magnitude >> 23u;
	let mantissa = select((magnitude & 0x7fffffu) | 0x800000u, magnitude & 0x7fffffu, field == 0u);
	let up = i32(max(field, 1u)) - 125i; // of the mantissa, to multiples of 2^-25
	var place = i64(mantissa) << (u32(clamp(up, 0i, 33i)) + 1u);
	if (up < 0i) {
		let down = u32(min(-up, 31i));
		let whole = mantissa >> down;
		place = i64(2u * whole + select(0u, 1u, (whole << down) != mantissa));
	}
	return select(place, -place, bits >> 31u == 1u);
}

// An f16 that is not negative in multiples of 2^-24.
fn half_units(code: u32) -> i64 {
	let field = code >> 10u;
	return select(i64((code & 1023u) | 1024u) << (max(field, 1u) - 1u), i64(code), field == 0u);
}

// n times the f16, and `offset` multiples of 2^-25, reach the place.
fn reaches(code: u32, n: i64, offset: i64, least: i64) -> bool {
	return 4li * half_units(code) * n + 2li * offset >= least;
}

// The least f16 that does; HALF_LARGEST + 1: none.
fn least_half(n: i64, offset: i64, least: i64) -> u32 {
	var low = 0u;
	var high = HALF_LARGEST + 1u;
	for (var turn = 0u; turn < 15u; turn++) {
		let middle = (low + high) >> 1u;
		if (low < high) {
			if (reaches(middle, n, offset, least)) {
				high = middle;
			} else {
				low = middle + 1u;
			}
		}
	}
	return low;
}

// The least integer of which n times the f16, and `offset`, reach the place; `most` where none below does.
fn least_integer(code: u32, n: i64, offset: i64, least: i64, most: u32) -> u32 {
	var low = 0u;
	var high = most;
	for (var turn = 0u; turn < 7u; turn++) {
		let middle = (low + high) >> 1u;
		if (low < high) {
			if (reaches(code, n * i64(middle), offset, least)) {
				high = middle;
			} else {
				low = middle + 1u;
			}
		}
	}
	return low;
}

fn integer_minimum(code: u32, lowest: i64) -> u32 {
	return select(least_integer(code, 1li, 0li, -lowest, MINIMA), 0u, lowest >= 0li);
}
