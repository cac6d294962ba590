// Marks and norms as matmul_thin_words.wgsl leaves them. In front: ROWS, COLUMNS.
fn group_of(row: u32, column: u32) -> u32 {
	return column / COLUMNS * ((params.count / params.n + ROWS - 1u) / ROWS) + row / ROWS;
}

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let r = z * params.m + row;
	return group_of(r, column) * (COLUMNS * ROWS) + column % COLUMNS * ROWS + r % ROWS;
}

fn norm_a(z: u32, row: u32) -> vec2<f64> {
	return norms_a[z * params.m + row];
}

fn norm_b(z: u32, column: u32) -> vec2<f64> {
	return vec2<f64>(norms_b[group_of(0u, column) * COLUMNS + column % COLUMNS], 0.0lf);
}
