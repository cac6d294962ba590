// e as bits: 1 of what equals the greatest.
fn weight(z: f32, m: f32) -> u32 {
	return select(bitcast<u32>(exp(z - m)), 0x3f800000u, z == m);
}
