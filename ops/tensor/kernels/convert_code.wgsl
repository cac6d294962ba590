// Numbers as they are: a kind, a sign, and magnitude * 2^exponent. Reading an element sets these, writing one rounds them once.
const FINITE: u32 = 0u;
const INFINITE: u32 = 1u;
const NOT_A_NUMBER: u32 = 2u;
var<private> kind: u32;
var<private> negative: u32;
var<private> magnitude: u64;
var<private> exponent: i32;

// As a multiple of 2^unit, to the nearest, ties to the even one; all ones where it is that or more.
fn rounded(unit: i32) -> u64 {
	let by = u32(abs(unit - exponent));
	if (unit <= exponent) {
		if (magnitude == 0lu) {
			return 0lu;
		}
		if (by > u32(countLeadingZeros(magnitude))) {
			return 0xfffffffffffffffflu;
		}
		return magnitude << by;
	}
	if (by > 64u) {
		return 0lu;
	}
	let half = (magnitude >> (by - 1u)) & 1lu;
	let rest = (magnitude & ((1lu << (by - 1u)) - 1lu)) != 0lu;
	let kept = select(magnitude >> (by & 63u), 0lu, by == 64u);
	return kept + select(0lu, 1lu, half == 1lu && (rest || (kept & 1lu) == 1lu));
}
