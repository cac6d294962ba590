// Floats, as bits of f32, by their order in unsigned integers: -Inf at the bottom, -0 below +0, NaN as 0 below all.
fn float_key(bits: u32) -> u32 {
	if ((bits & 0x7fffffffu) > 0x7f800000u) {
		return 0u;
	}
	return select(bits ^ 0x80000000u, ~bits, bits >> 31u == 1u);
}

fn float_of(key: u32) -> u32 {
	return select(~key, key ^ 0x80000000u, key >> 31u == 1u);
}
