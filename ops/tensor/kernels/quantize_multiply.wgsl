// The number that was read, less its zero point, becomes the exact product with the scale.
fn scaled(i: u32) {
	let at = scale_of(i);
	let s = scale[at];
	let m = s & 0x7fffffffu;
	let field = m >> 23u;
	if (ZEROS) {
		let v = select(i64(magnitude), -i64(magnitude), negative == 1u) - i64(zero_of(at));
		negative = select(0u, 1u, v < 0li);
		magnitude = u64(abs(v));
	}
	negative ^= s >> 31u;
	let nothing = kind == FINITE && magnitude == 0lu;
	if (kind == NOT_A_NUMBER || m > 0x7f800000u || (kind == INFINITE && m == 0u) || (nothing && m == 0x7f800000u)) {
		kind = NOT_A_NUMBER;
	} else if (kind == INFINITE || m == 0x7f800000u) {
		kind = INFINITE;
	} else {
		magnitude *= u64((m & 0x7fffffu) | select(0x800000u, 0u, field == 0u));
		exponent += i32(max(field, 1u)) - 150i;
	}
}
