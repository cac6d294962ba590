// An exact sum of products of f32, as an integer that counts units of 2^-298, the smallest product there is. Digit i of `total`
// weighs 2^(32 i); digits are signed and carry only at the end, which is right for 2^29 products: each adds less than 2^33 to a digit.
// `sum_scale`, which stands in front of this text, may divide the magnitude before it is rounded and says whether a rest is lost.
// In front of this text stand, too, the format of the result: PRECISION (bits of a significand), LEAST (which bit of the sum
// its smallest subnormal is), INFINITY, NAN, SIGN (its bits).
const DIGITS: u32 = 20u;
const LOW: i64 = 0xffffffffli;
const SAW_NAN: u32 = 1u;
const SAW_INFINITY: u32 = 2u;
const SAW_MINUS_INFINITY: u32 = 4u;

var<private> total: array<i64, 20>;
var<private> saw: u32;

fn sum_clear() {
	for (var i = 0u; i < DIGITS; i++) {
		total[i] = 0li;
	}
	saw = 0u;
}

// a and b: bits of f32.
fn sum_special(a: u32, b: u32) {
	let x = a & 0x7fffffffu;
	let y = b & 0x7fffffffu;

	if (x > 0x7f800000u || y > 0x7f800000u || x == 0u || y == 0u) {
		saw |= SAW_NAN;
	} else if (((a ^ b) >> 31u) == 0u) {
		saw |= SAW_INFINITY;
	} else {
		saw |= SAW_MINUS_INFINITY;
	}
}

fn sum_product(a: u32, b: u32) {
	let ea = (a >> 23u) & 255u;
	let eb = (b >> 23u) & 255u;

	if (ea == 255u || eb == 255u) {
		sum_special(a, b);
		return;
	}
	let ma = (a & 0x7fffffu) | select(0x800000u, 0u, ea == 0u);
	let mb = (b & 0x7fffffu) | select(0x800000u, 0u, eb == 0u);
	let product = u64(ma) * u64(mb);
	let bit = max(ea, 1u) + max(eb, 1u) - 2u;
	let digit = bit >> 5u;
	let low = (product & 0xfffffffflu) << (bit & 31u);
	let high = (product >> 32u) << (bit & 31u);
	let sign = select(1li, -1li, ((a ^ b) >> 31u) == 1u);

	total[digit] += sign * i64(low & 0xfffffffflu);
	total[digit + 1u] += sign * i64((low >> 32u) + (high & 0xfffffffflu));
	total[digit + 2u] += sign * i64(high >> 32u);
}

// Digits from 0 to 2^32 - 1: the sum modulo 2^640.
fn sum_carry() {
	var carry = 0li;
	for (var i = 0u; i < DIGITS; i++) {
		let digit = total[i] + carry;
		total[i] = digit & LOW;
		carry = digit >> 32u;
	}
}

// The same of the magnitude; the result is the sign.
fn sum_magnitude() -> bool {
	sum_carry();
	let negative = total[DIGITS - 1u] >> 31u == 1li;
	if (negative) {
		var carry = 1li;
		for (var i = 0u; i < DIGITS; i++) {
			let digit = (total[i] ^ LOW) + carry;
			total[i] = digit & LOW;
			carry = digit >> 32u;
		}
	}
	return negative;
}

// The sum, rounded once to the nearest, ties to even: the bits of the result.
fn sum_round() -> u32 {
	if ((saw & SAW_NAN) != 0u || saw == (SAW_INFINITY | SAW_MINUS_INFINITY)) {
		return NAN;
	}
	if (saw != 0u) {
		return select(INFINITY, INFINITY | SIGN, saw == SAW_MINUS_INFINITY);
	}
	let sign = select(0u, SIGN, sum_magnitude());
	let cut = sum_scale();
	var top = 0u;
	var any = false;
	for (var i = 0u; i < DIGITS; i++) {
		if (total[i] != 0li) {
			top = i;
			any = true;
		}
	}
	if (!any) {
		return 0u;
	}
	let highest = top * 32u + 31u - countLeadingZeros(u32(total[top]));
	let last = max(highest, LEAST + PRECISION - 1u) - (PRECISION - 1u); // of the bits that are kept
	let at = last >> 5u;
	let pair = u64(total[at]) | (u64(total[at + 1u]) << 32u);
	let kept = u32(pair >> (last & 31u));
	let next = (last - 1u) >> 5u;
	let half = 1u << ((last - 1u) & 31u);
	let below = u32(total[next]);
	var rest = cut || (below & (half - 1u)) != 0u;
	for (var i = 0u; i < DIGITS; i++) {
		rest = rest || (i < next && total[i] != 0li);
	}
	// The exponent's field counts from 0 for subnormals and from 1 above: the leading bit of `kept` adds that 1.
	let bits = ((last - LEAST) << (PRECISION - 1u)) + kept +
		select(0u, 1u, (below & half) != 0u && (rest || (kept & 1u) == 1u));
	return min(bits, INFINITY) | sign;
}
