// What an f64 says of a number that it is near to (SEMANTICS.md 4.4): the bits of the result, or MARK where both ends of the interval do not
// round to the same. In front: `nearest` (an f64 as bits of the result).
const MARK: u32 = 0xffffffffu; // no result: neither the canonical NaN nor 16 bits

// Off by e at most, before the roundings here. An infinity or a NaN among the factors is one in e, or in `most`.
fn within(x: f64, e: f64, most: f64) -> u32 {
	let low = nearest(x - e);
	let high = nearest(x + e);
	return select(MARK, low, low == high && e < 0x1p600lf && most < 0x1p600lf);
}
