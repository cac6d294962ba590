// An exact sum of f64 or of products of two, as an integer that counts units of 2^-1074, or of products 2^-2148; as exact_sum.wgsl, but for f64. In
// front: DIGITS, `digit` and `set_digit`, and LEAST, which bit of the sum the smallest subnormal is. Right for 2^28 terms between two carries.
const LOW: i64 = 0xffffffffli;
const SAW_NAN: u32 = 1u;
const SAW_INFINITY: u32 = 2u;
const SAW_MINUS_INFINITY: u32 = 4u;
const INFINITY: u64 = 0x7ff0000000000000lu;

var<private> saw: u32;

fn sum_clear() {
	for (var i = 0u; i < DIGITS; i++) {
		set_digit(i, 0li);
	}
	saw = 0u;
}

fn sum_add(magnitude: u64, bit: u32, negative: bool) {
	let at = bit >> 5u;
	let low = (magnitude & 0xfffffffflu) << (bit & 31u);
	let high = (magnitude >> 32u) << (bit & 31u);
	let sign = select(1li, -1li, negative);

	set_digit(at, digit(at) + sign * i64(low & 0xfffffffflu));
	set_digit(at + 1u, digit(at + 1u) + sign * i64((low >> 32u) + (high & 0xfffffffflu)));
	set_digit(at + 2u, digit(at + 2u) + sign * i64(high >> 32u));
}

fn field_of(a: u64) -> u32 {
	return u32(a >> 52u) & 2047u;
}

fn significand_of(a: u64) -> u64 {
	return (a & 0xffffffffffffflu) | select(0x10000000000000lu, 0lu, field_of(a) == 0u);
}

fn sum_infinity(negative: bool) {
	saw |= select(SAW_INFINITY, SAW_MINUS_INFINITY, negative);
}

fn sum_term(a: u64) {
	let field = field_of(a);
	if (field == 2047u) {
		if ((a << 12u) != 0lu) {
			saw |= SAW_NAN;
		} else {
			sum_infinity(a >> 63u == 1lu);
		}
		return;
	}
	sum_add(significand_of(a), max(field, 1u) - 1u, a >> 63u == 1lu);
}

fn sum_product(a: u64, b: u64) {
	let negative = (a ^ b) >> 63u == 1lu;
	let x = significand_of(a);
	let y = significand_of(b);
	if (field_of(a) == 2047u || field_of(b) == 2047u) {
		let no_number = (field_of(a) == 2047u && (a << 12u) != 0lu) || (field_of(b) == 2047u && (b << 12u) != 0lu);
		if (no_number || (a << 1u) == 0lu || (b << 1u) == 0lu) {
			saw |= SAW_NAN;
		} else {
			sum_infinity(negative);
		}
		return;
	}
	let bit = max(field_of(a), 1u) + max(field_of(b), 1u) - 2u;
	let x0 = x & 0xfffffffflu;
	let y0 = y & 0xfffffffflu;
	sum_add(x0 * y0, bit, negative);
	sum_add((x >> 32u) * y0 + x0 * (y >> 32u), bit + 32u, negative);
	sum_add((x >> 32u) * (y >> 32u), bit + 64u, negative);
}
