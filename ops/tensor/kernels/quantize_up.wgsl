// The number that was read, over DIVISOR * 2^DIVISOR_EXPONENT, up to 16 bits, or up to a multiple of 2^-149.
fn lifted() {
	if (kind != FINITE || magnitude == 0lu) {
		return;
	}
	let n = magnitude << (u32(countLeadingZeros(magnitude)) - 16u);
	let base = exponent + 16i - i32(countLeadingZeros(magnitude)) - DIVISOR_EXPONENT;
	let q = n / DIVISOR;
	let unit = max(base + 48i - i32(countLeadingZeros(q)), -149i);
	let by = u32(unit - base);
	let kept = q >> by;
	let rest = (kept << by) != q || q * DIVISOR != n;
	magnitude = kept + select(0lu, 1lu, rest);
	exponent = unit;
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y) && i < params.count) {
		read(i);
		lifted();
		y[i] = u32(written());
	}
}
