// The norms of matmul_norms.wgsl, by row and column of a batch. In front: NORMS. Outside of the matrices there is nothing, and nothing to doubt.
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
