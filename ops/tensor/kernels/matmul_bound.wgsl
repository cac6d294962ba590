// What an f64 sum of products says of the exact one (SEMANTICS.md 4.4): the bits of the result, or MARK. In front: within.wgsl, CHUNK (terms of a part), the norms of matmul_norms.wgsl, NORMS. Outside of the
// matrices there is nothing, and nothing to doubt.
fn norm_a(z: u32, row: u32) -> vec2<f64> {
	let v = z * params.m + row;
	if (row >= params.m) {
		return vec2<f64>();
	}
	return norms_a[(v >> 3u) * NORMS + (v & 7u)];
}

fn norm_b(z: u32, column: u32) -> vec2<f64> {
	let v = z * params.n + column;
	if (column >= params.n) {
		return vec2<f64>();
	}
	return norms_b[(v >> 3u) * NORMS + (v & 7u)];
}

// x: a sum in f64; a, b: the norms of its row and column; terms: of a part, or from one look at the sum to the next, and the number of parts;
// starts: no less than the magnitudes that the sum had when it was looked at, added up.
fn settled(x: f64, a: vec2<f64>, b: vec2<f64>, terms: f64, starts: f64) -> u32 {
	// Norms are off by at most 2^29 * 2^-53, which 2^-20 covers with all other roundings here.
	let most = a.x * b.x * 0x1.00001p0lf;
	// The least unit of a product: 2^(a.y + b.y - 298).
	let fits = most <= bitcast<f64>(u64(1023 + 53 - 298 + i32(a.y + b.y)) << 52u);
	let e = select(terms * (most + starts) * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, 0.0lf, fits);
	return within(x, e, most);
}

fn finish(x: f64, a: vec2<f64>, b: vec2<f64>) -> u32 {
	return settled(x, a, b, f64(min(params.k, CHUNK) + params.k / CHUNK + 1u), 0.0lf);
}
