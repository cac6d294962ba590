// An f32 rounded once to a narrower type, by the bits that it has there.
fn to_f16(x: f32) -> u32 {
	return pack2x16float(vec2<f32>(x, 0.0)) & 0xffffu;
}

fn to_bf16(x: f32) -> u32 {
	let bits = bitcast<u32>(x);
	if ((bits & 0x7fffffffu) > 0x7f800000u) {
		return 0x7fc0u;
	}
	return (bits + 0x7fffu + ((bits >> 16u) & 1u)) >> 16u;
}

fn to_f32(x: f32) -> u32 {
	let bits = bitcast<u32>(x);
	return select(bits, 0x7fc00000u, (bits & 0x7fffffffu) > 0x7f800000u);
}
