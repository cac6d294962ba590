
// Checked fixed-point arithmetic: a number x stands for x / canonical_scale. In the consensus VM the scale is the
// parameter `scale` in force when a job is submitted; elsewhere an override, 10^6 if not given. `--with fixed` puts this
// text behind a shader's own, and the CID is that of both.
//
//   mul(a, b) = floor(a b / scale)     div(a, b) = floor(a scale / b)     add, sub: exact
//
// for i32, u32, i64 and u64, floor toward minus infinity, with no rounding in between (128 bits where it takes them). A
// result that does not fit is the nearest one that does. Division by 0 gives the largest number for a > 0, the least for
// a < 0, and 0 for 0. Either sets fixed_failed, which stays set: a shader that must know looks at it at the end.
override canonical_scale: u32 = 1000000u;

var<private> fixed_failed: bool = false;

struct FixedQuotient {
	@size(8) value: u64, // the low 64 bits
	@size(4) over: u32, // 1: there are more
	@size(4) rest: u32, // 1: the division left something
}

fn fixed_scale() -> u64 {
	return u64(max(canonical_scale, 1u));
}

// floor(a b / scale): the product in four words of 32 bits, divided from the top.
fn fixed_product(a: u64, b: u64) -> FixedQuotient {
	let scale = fixed_scale();
	let low = (a & 0xfffffffflu) * (b & 0xfffffffflu);
	let left = (a >> 32u) * (b & 0xfffffffflu);
	let right = (a & 0xfffffffflu) * (b >> 32u);
	let middle = (low >> 32u) + (left & 0xfffffffflu) + (right & 0xfffffffflu);
	let high = (a >> 32u) * (b >> 32u) + (left >> 32u) + (right >> 32u) + (middle >> 32u);
	let top = (((high >> 32u) % scale) << 32u) | (high & 0xfffffffflu);
	let upper = ((top % scale) << 32u) | (middle & 0xfffffffflu);
	let lower = ((upper % scale) << 32u) | (low & 0xfffffffflu);
	let over = ((high >> 32u) / scale) | (top / scale);
	return FixedQuotient(((upper / scale) << 32u) | (lower / scale), select(0u, 1u, over != 0lu),
			     select(0u, 1u, lower % scale != 0lu));
}

// floor(a scale / b) for b > 0: (a div b) scale, and (a mod b) scale / b bit by bit of the scale from the top, in which
// `rest` stays below b and nothing leaves 64 bits.
fn fixed_ratio(a: u64, b: u64) -> FixedQuotient {
	let scale = fixed_scale();
	let whole = a / b;
	let part = a % b;
	var quotient = 0lu;
	var rest = 0lu;
	for (var i = 0u; i < 32u; i++) {
		quotient = quotient << 1u;
		if (rest >= b - rest) {
			rest = rest - (b - rest);
			quotient += 1lu;
		} else {
			rest = rest + rest;
		}
		if (((scale >> (31u - i)) & 1lu) != 0lu) {
			if (rest >= b - part) {
				rest = rest - (b - part);
				quotient += 1lu;
			} else {
				rest = rest + part;
			}
		}
	}
	let over = whole > (0xfffffffffffffffflu - quotient) / scale;
	return FixedQuotient(whole * scale + quotient, select(0u, 1u, over), select(0u, 1u, rest != 0lu));
}

// ---- u64

fn fixed_add_u64(a: u64, b: u64) -> u64 {
	var sum = a + b;
	if (sum < a) {
		sum = 0xfffffffffffffffflu;
		fixed_failed = true;
	}
	return sum;
}

fn fixed_sub_u64(a: u64, b: u64) -> u64 {
	var difference = a - b;
	if (a < b) {
		difference = 0lu;
		fixed_failed = true;
	}
	return difference;
}

fn fixed_unsigned(q: FixedQuotient) -> u64 {
	var value = q.value;
	if (q.over != 0u) {
		value = 0xfffffffffffffffflu;
		fixed_failed = true;
	}
	return value;
}

fn fixed_mul_u64(a: u64, b: u64) -> u64 {
	return fixed_unsigned(fixed_product(a, b));
}

fn fixed_div_u64(a: u64, b: u64) -> u64 {
	var value = select(0lu, 0xfffffffffffffffflu, a > 0lu);
	if (b != 0lu) {
		value = fixed_unsigned(fixed_ratio(a, b));
	} else {
		fixed_failed = true;
	}
	return value;
}

// ---- i64

fn fixed_end_i64(is_negative: bool) -> i64 {
	fixed_failed = true;
	return i64(select(0x7ffffffffffffffflu, 0x8000000000000000lu, is_negative));
}

fn fixed_add_i64(a: i64, b: i64) -> i64 {
	var sum = a + b;
	if (((a ^ sum) & (b ^ sum)) < 0li) {
		sum = fixed_end_i64(a < 0li);
	}
	return sum;
}

fn fixed_sub_i64(a: i64, b: i64) -> i64 {
	var difference = a - b;
	if (((a ^ b) & (a ^ difference)) < 0li) {
		difference = fixed_end_i64(a < 0li);
	}
	return difference;
}

fn fixed_magnitude(a: i64) -> u64 {
	return select(u64(a), 0lu - u64(a), a < 0li);
}

// The quotient of magnitudes with its sign; below 0, what is left over takes one more.
fn fixed_signed(is_negative: bool, q: FixedQuotient) -> i64 {
	let most = select(0x7ffffffffffffffflu, 0x8000000000000000lu - u64(q.rest), is_negative);
	var value = 0li;
	if (q.over != 0u || q.value > most) {
		value = fixed_end_i64(is_negative);
	} else if (is_negative) {
		value = i64(0lu - (q.value + u64(q.rest)));
	} else {
		value = i64(q.value);
	}
	return value;
}

fn fixed_mul_i64(a: i64, b: i64) -> i64 {
	return fixed_signed((a < 0li) != (b < 0li), fixed_product(fixed_magnitude(a), fixed_magnitude(b)));
}

fn fixed_div_i64(a: i64, b: i64) -> i64 {
	var value = 0li;
	if (b != 0li) {
		value = fixed_signed((a < 0li) != (b < 0li), fixed_ratio(fixed_magnitude(a), fixed_magnitude(b)));
	} else if (a != 0li) {
		value = fixed_end_i64(a < 0li);
	} else {
		fixed_failed = true;
	}
	return value;
}

// ---- u32 and i32: everything fits in 64 bits before it is cut

fn fixed_cut_u32(value: u64) -> u32 {
	if (value > 0xfffffffflu) {
		fixed_failed = true;
	}
	return u32(min(value, 0xfffffffflu));
}

fn fixed_add_u32(a: u32, b: u32) -> u32 {
	return fixed_cut_u32(u64(a) + u64(b));
}

fn fixed_sub_u32(a: u32, b: u32) -> u32 {
	return u32(fixed_sub_u64(u64(a), u64(b)));
}

fn fixed_mul_u32(a: u32, b: u32) -> u32 {
	return fixed_cut_u32(u64(a) * u64(b) / fixed_scale());
}

fn fixed_div_u32(a: u32, b: u32) -> u32 {
	var value = select(0lu, 0xfffffffflu, a > 0u);
	if (b != 0u) {
		value = u64(a) * fixed_scale() / u64(b);
	} else {
		fixed_failed = true;
	}
	return fixed_cut_u32(value);
}

fn fixed_cut_i32(value: i64) -> i32 {
	let cut = clamp(value, -2147483648li, 2147483647li);
	if (cut != value) {
		fixed_failed = true;
	}
	return i32(cut);
}

// Signs are taken before numbers are widened: lavapipe of Mesa 22.3 finds no i64(x) below 0 for an i32 x.
fn fixed_floor(a: i64, b: i64, is_negative: bool) -> i64 {
	let is_inexact = ((a % b) != 0li) && is_negative;
	return a / b - select(0li, 1li, is_inexact);
}

fn fixed_add_i32(a: i32, b: i32) -> i32 {
	return fixed_cut_i32(i64(a) + i64(b));
}

fn fixed_sub_i32(a: i32, b: i32) -> i32 {
	return fixed_cut_i32(i64(a) - i64(b));
}

fn fixed_mul_i32(a: i32, b: i32) -> i32 {
	return fixed_cut_i32(fixed_floor(i64(a) * i64(b), i64(fixed_scale()), (a < 0i) != (b < 0i)));
}

fn fixed_div_i32(a: i32, b: i32) -> i32 {
	var value = i64(select(select(0i, 2147483647i, a > 0i), -2147483647i - 1i, a < 0i));
	if (b != 0i) {
		value = fixed_floor(i64(a) * i64(fixed_scale()), i64(b), (a < 0i) != (b < 0i));
	} else {
		fixed_failed = true;
	}
	return fixed_cut_i32(value);
}
