// The number that was read becomes its quotient by the scale: 39 bits of it and more, and a last one for what is left over, so that one rounding
// follows. By 0 it is +0.
fn scaled(i: u32) {
	let at = scale_of(i);
	let s = scale[at];
	let m = s & 0x7fffffffu;
	zero_point = zero_of(at);
	if (kind == NOT_A_NUMBER || m > 0x7f800000u || (kind == INFINITE && m == 0x7f800000u)) {
		kind = NOT_A_NUMBER;
		return;
	}
	negative ^= s >> 31u;
	if (m == 0u) {
		kind = FINITE;
		negative = 0u;
		magnitude = 0lu;
	} else if (m == 0x7f800000u) {
		magnitude = 0lu;
	} else if (kind == FINITE) {
		let field = m >> 23u;
		let d = u64((m & 0x7fffffu) | select(0x800000u, 0u, field == 0u));
		let n = magnitude << 39u;
		let q = n / d;
		magnitude = (q << 1u) | select(0lu, 1lu, q * d != n);
		exponent = exponent + 110i - i32(max(field, 1u));
	}
}
