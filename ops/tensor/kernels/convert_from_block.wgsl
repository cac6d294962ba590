// Elements of a block count units of 2^-24, the least that an f16 has: d * s * q, and the minimum that is added or taken away
// (MINIMUM: 0 none, 1 added, 2 taken). Infinities, NaN and the signs of zeros are those of IEEE 754.
var<private> term_kind: u32;
var<private> term_negative: u32;
var<private> term_units: i64;

fn half_units(h: u32) -> i64 {
	let field = (h >> 10u) & 31u;
	let fraction = i64(h & 1023u);
	return select((fraction | 1024li) << (max(field, 1u) - 1u), fraction, field == 0u);
}

// The f16 times a and b.
fn term(h: u32, a: i32, b: i32) {
	let special = (h & 0x7c00u) == 0x7c00u;
	term_negative = ((h >> 15u) ^ u32(a < 0i) ^ u32(b < 0i)) & 1u;
	term_units = half_units(h) * i64(abs(a)) * i64(abs(b));
	term_kind = FINITE;
	if (special) {
		term_kind = select(INFINITE, NOT_A_NUMBER, (h & 1023u) != 0u || a == 0i || b == 0i);
	}
}

fn read(i: u32) {
	let b = i / x_BLOCK * x_BYTES;
	let e = i % x_BLOCK;
	term(x_half(b + x_D), x_s(b, e), x_q(b, e, 0u));
	kind = term_kind;
	negative = term_negative;
	exponent = -24i;
	var sum = select(term_units, -term_units, negative == 1u);
	if (MINIMUM != 0u) {
		term(x_half(b + x_E), x_m(b, e), 1i);
		let other = select(term_negative, 1u - term_negative, MINIMUM == 2u);
		if (kind == NOT_A_NUMBER || term_kind == NOT_A_NUMBER || (kind == INFINITE && term_kind == INFINITE && negative != other)) {
			kind = NOT_A_NUMBER;
		} else if (term_kind == INFINITE) {
			kind = INFINITE;
			negative = other;
		} else if (kind == FINITE) {
			let both_zero = sum == 0li && term_units == 0li;
			sum += select(term_units, -term_units, other == 1u);
			negative = select(select(0u, 1u, sum < 0li), negative & other, both_zero);
		}
	}
	magnitude = u64(abs(sum));
}
