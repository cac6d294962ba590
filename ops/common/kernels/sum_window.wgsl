// Terms of exact sums (exact_sum.wgsl, in front of this text), gathered in windows of a lane: what lies within 28 binades above `base` is
// added to one integer, and goes to the digits when the window moves. Where the window stands changes no sum. 1024 terms at most.
var<private> window: i64;
var<private> base: u32; // the window's unit is 2^(base - 150)
var<private> squares: vec2<u64>; // of squares: the lower 24 bits of significands' squares, and the upper ones
var<private> square_bit: u32; // the place in `total` of their unit

// bits: of the magnitude's lowest one, as a place in `total`.
fn sum_add(magnitude: u64, bit: u32, negative: bool) {
	let digit = bit >> 5u;
	let low = (magnitude & 0xfffffffflu) << (bit & 31u);
	let high = (magnitude >> 32u) << (bit & 31u);
	let sign = select(1li, -1li, negative);

	total[digit] += sign * i64(low & 0xfffffffflu);
	total[digit + 1u] += sign * i64((low >> 32u) + (high & 0xfffffffflu));
	total[digit + 2u] += sign * i64(high >> 32u);
}

fn sum_flush() {
	if (window != 0li) {
		sum_add(u64(select(window, -window, window < 0li)), base + 148u, window < 0li);
		window = 0li;
	}
	if (squares.y != 0lu) {
		sum_add(squares.x, square_bit, false);
		sum_add(squares.y, square_bit + 24u, false);
		squares = vec2<u64>();
	}
}

// a: bits of an f32.
fn sum_term(a: u32) {
	let field = (a >> 23u) & 255u;
	let e = max(field, 1u);
	let m = (a & 0x7fffffu) | select(0x800000u, 0u, field == 0u);

	if (field == 255u) {
		sum_special(a, 0x3f800000u);
	} else if (m != 0u) {
		if (e - base > 27u) {
			if (e < base) {
				sum_add(u64(m), e + 148u, a >> 31u == 1u);
				return;
			}
			sum_flush();
			base = max(e, 22u) - 21u;
		}
		let part = i64(m) << (e - base);
		window += select(part, -part, a >> 31u == 1u);
	}
}

// a * a more.
fn sum_square(a: u32) {
	let field = (a >> 23u) & 255u;
	let m = (a & 0x7fffffu) | select(0x800000u, 0u, field == 0u);
	let bit = 2u * max(field, 1u) - 2u;

	if (field == 0u || field == 255u) {
		sum_product(a, a);
		return;
	}
	if (bit - square_bit > 27u) {
		if (bit < square_bit) {
			sum_product(a, a);
			return;
		}
		sum_flush();
		square_bit = max(bit, 20u) - 20u;
	}
	let square = u64(m) * u64(m);
	squares += vec2<u64>(square & 0xfffffflu, square >> 24u) << vec2<u32>(bit - square_bit);
}
