// The end of exact64.wgsl, which stands in front: carries, and one rounding.
// Digits from 0 to 2^32 - 1: the sum modulo 2^(32 DIGITS).
fn sum_carry() {
	var carry = 0li;
	for (var i = 0u; i < DIGITS; i++) {
		let sum = digit(i) + carry;
		set_digit(i, sum & LOW);
		carry = sum >> 32u;
	}
}

fn sum_magnitude() -> bool {
	sum_carry();
	let negative = digit(DIGITS - 1u) >> 31u == 1li;
	if (negative) {
		var carry = 1li;
		for (var i = 0u; i < DIGITS; i++) {
			let sum = (digit(i) ^ LOW) + carry;
			set_digit(i, sum & LOW);
			carry = sum >> 32u;
		}
	}
	return negative;
}

// The sum, rounded once to the nearest, ties to even: the bits of an f64.
fn sum_round() -> u64 {
	if ((saw & SAW_NAN) != 0u || saw == (SAW_INFINITY | SAW_MINUS_INFINITY)) {
		return 0x7ff8000000000000lu;
	}
	if (saw != 0u) {
		return select(INFINITY, INFINITY | (1lu << 63u), saw == SAW_MINUS_INFINITY);
	}
	let sign = select(0lu, 1lu << 63u, sum_magnitude());
	var top = 0u;
	var any = false;
	for (var i = 0u; i < DIGITS; i++) {
		if (digit(i) != 0li) {
			top = i;
			any = true;
		}
	}
	if (!any) {
		return 0lu;
	}
	let highest = top * 32u + 31u - countLeadingZeros(u32(digit(top)));
	let last = max(highest, LEAST + 52u) - 52u; // of the bits that are kept
	let at = last >> 5u;
	let by = last & 31u;
	var kept = (u64(digit(at)) | (u64(digit(at + 1u)) << 32u)) >> by;
	if (by != 0u) {
		kept |= u64(digit(at + 2u)) << (64u - by);
	}
	var up = false;
	if (last > 0u) {
		let next = (last - 1u) >> 5u;
		let half = 1u << ((last - 1u) & 31u);
		let below = u32(digit(next));
		var rest = (below & (half - 1u)) != 0u;
		for (var i = 0u; i < DIGITS; i++) {
			rest = rest || (i < next && digit(i) != 0li);
		}
		up = (below & half) != 0u && (rest || (kept & 1lu) == 1lu);
	}
	// The exponent's field counts from 0 for subnormals and from 1 above: the leading bit of `kept` adds that 1.
	let bits = (u64(last - LEAST) << 52u) + kept + select(0lu, 1lu, up);
	return min(bits, INFINITY) | sign;
}
