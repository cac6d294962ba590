// What a sum by matrix units says of the exact one (SEMANTICS.md 4.4), where everyone looked at it every LOOK terms: within half of that from a place where it is known it
// is that and what was added since, or less what is added until there. In front: matmul_bound.wgsl, matmul_packed.wgsl.
fn norm_at(v: u32) -> u32 {
	return (v >> 3u) * 256u + (v & 7u);
}

fn norm_a(z: u32, row: u32) -> vec2<f64> {
	return norms_a[norm_at(groups_of(z).x * 8u + row)];
}

fn norm_b(z: u32, column: u32) -> vec2<f64> {
	return norms_b[norm_at(groups_of(z).y * 8u + column)];
}

// x: a sum in f64; a, b: vectors, by groups; starts: no less than the magnitudes that the sum had when it was looked at, added up.
fn looked_at(x: f64, a: u32, b: u32, starts: f64) -> u32 {
	let last = f64(min(steps_of_128() * 64u, LOOK / 2u));
	let sums = f64(LOOK) * starts + last * abs(x) + norms_a[norm_at(a) + 8u].x * norms_b[norm_at(b) + 8u].x;
	return settled(x, norms_a[norm_at(a)], norms_b[norm_at(b)], sums);
}
