// What an f64 sum of products says of the exact one (SEMANTICS.md 4.4): the bits of the result, or MARK. In front: within.wgsl, CHUNK
// (terms of a part).
// x: a sum in f64; a, b: the norms of its row and column; sums: no less than the magnitudes of its partial sums, added up.
fn settled(x: f64, a: vec2<f64>, b: vec2<f64>, sums: f64) -> u32 {
	// Norms are off by at most 2^29 * 2^-53, which 2^-20 covers with all other roundings here.
	let most = a.x * b.x * 0x1.00001p0lf;
	// The least unit of a product: 2^(a.y + b.y - 298).
	let fits = most <= bitcast<f64>(u64(1023 + 53 - 298 + i32(a.y + b.y)) << 52u);
	let e = select(sums * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, 0.0lf, fits);
	return within(x, e, most);
}

fn finish(x: f64, a: vec2<f64>, b: vec2<f64>) -> u32 {
	return settled(x, a, b, f64(min(params.k, CHUNK) + params.k / CHUNK + 1u) * (a.x * b.x * 0x1.00001p0lf));
}
