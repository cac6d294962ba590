// Marks and norms as the few rows' kernel leaves them. In front: its numbers.
fn blocks_of_rows() -> u32 {
	return (params.count / params.n + ROWS - 1u) / ROWS;
}

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let r = z * params.m + row;
	let whole = column / COLUMNS * blocks_of_rows() + r / ROWS;
	let v = column % EACH * ROWS + r % ROWS;
	return whole * (COLUMNS * ROWS) + (v >> 2u) * (4u * GROUPS) + column % COLUMNS / EACH * 4u + (v & 3u);
}

fn norm_a(z: u32, row: u32) -> vec2<f64> {
	let v = z * params.m + row;
	return norms_a[(v >> 3u) * NORMS + (v & 7u)];
}

fn norm_b(z: u32, column: u32) -> vec2<f64> {
	return vec2<f64>(norms_b[column / COLUMNS * blocks_of_rows() * COLUMNS + column % COLUMNS], 0.0lf);
}
