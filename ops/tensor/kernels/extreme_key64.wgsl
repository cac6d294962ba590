// Bits of f64 by their order in unsigned integers, as extreme_key.wgsl has those of f32.
fn double_key(bits: u64) -> u64 {
	let top = 1lu << 63u;
	if ((bits & (top - 1lu)) > 0x7ff0000000000000lu) {
		return 0lu;
	}
	return select(bits ^ top, ~bits, bits >> 63u == 1lu);
}
