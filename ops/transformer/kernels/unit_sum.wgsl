// Exact sums of f32 from 0 to 1, 2^20 of them at most: six digits of 32 bits that count units of 2^-149, the smallest f32. Digits may be above 2^32 until
// they are carried.
const UNIT_DIGITS: u32 = 6u;

var<private> unit: array<u64, 6>;

fn unit_clear() {
	for (var i = 0u; i < UNIT_DIGITS; i++) {
		unit[i] = 0lu;
	}
}

fn unit_add(bits: u32) {
	let field = bits >> 23u;
	let bit = max(field, 1u) - 1u;
	let part = u64((bits & 0x7fffffu) | select(0x800000u, 0u, field == 0u)) << (bit & 31u);

	unit[bit >> 5u] += part & 0xfffffffflu;
	unit[(bit >> 5u) + 1u] += part >> 32u;
}

fn unit_carry() {
	var carry = 0lu;
	for (var i = 0u; i < UNIT_DIGITS; i++) {
		carry += unit[i];
		unit[i] = carry & 0xfffffffflu;
		carry = carry >> 32u;
	}
}

// Carried digits rounded once, as the bits of an f32.
fn unit_round() -> u32 {
	var top = 0u;
	for (var i = 0u; i < UNIT_DIGITS; i++) {
		top = select(top, i, unit[i] != 0lu);
	}
	let highest = top * 32u + 31u - countLeadingZeros(u32(unit[top]) | 1u);
	let last = max(highest, 23u) - 23u;
	let at = last >> 5u;
	let next = select(0lu, unit[min(at + 1u, 5u)], at < 5u);
	let kept = u32(((unit[at] | (next << 32u)) >> (last & 31u)) & 0xfffffflu);
	let half_bit = max(last, 1u) - 1u;
	let half_at = half_bit >> 5u;
	let below = u32(unit[half_at]);
	let half = 1u << (half_bit & 31u);
	var rest = (below & (half - 1u)) != 0u;
	for (var i = 0u; i < UNIT_DIGITS; i++) {
		rest = rest || (i < half_at && unit[i] != 0lu);
	}
	let up = last > 0u && (below & half) != 0u && (rest || (kept & 1u) == 1u);
	return (last << 23u) + kept + select(0u, 1u, up);
}
