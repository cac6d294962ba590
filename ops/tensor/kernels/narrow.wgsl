// An f32 rounded to a type of 16 bits, to the nearest, ties to even; every NaN is the canonical one.
fn half_of(x: f32) -> u32 {
	let bits = bitcast<u32>(x);
	let size = bits & 0x7fffffffu;
	let sign = (bits >> 16u) & 0x8000u;
	if (size > 0x7f800000u) {
		return 0x7e00u;
	}
	if (size >= 0x47800000u) {
		return sign | 0x7c00u;
	}
	if (size >= 0x38800000u) {
		let kept = (size - 0x38000000u) >> 13u;
		let rest = size & 0x1fffu;
		return sign | (kept + select(0u, 1u, rest > 0x1000u || (rest == 0x1000u && (kept & 1u) == 1u)));
	}
	// Units of 2^-24: what is below half of one is 0.
	let shift = 126u - max(size >> 23u, 101u);
	let fraction = select(0u, (size & 0x7fffffu) | 0x800000u, (size >> 23u) >= 102u);
	let kept = fraction >> shift;
	let rest = fraction & ((1u << shift) - 1u);
	let middle = 1u << (shift - 1u);
	return sign | (kept + select(0u, 1u, rest > middle || (rest == middle && (kept & 1u) == 1u)));
}

fn upper_of(x: f32) -> u32 {
	let bits = bitcast<u32>(x);
	let kept = bits >> 16u;
	let rest = bits & 0xffffu;
	let rounded = kept + select(0u, 1u, rest > 0x8000u || (rest == 0x8000u && (kept & 1u) == 1u));
	return select(rounded, 0x7fc0u, (bits & 0x7fffffffu) > 0x7f800000u);
}
