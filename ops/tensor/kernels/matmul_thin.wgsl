// Products of few rows with a transposed b, whose rows lie side by side: SPLIT lanes share a column's terms, so that b is read once and in order for ROWS rows of a.
// In front: LANES, SPLIT (lanes of a column), ROWS (rows together), EACH (columns of an invocation), TERMS (of a lane in a turn), GROUPS and COLUMNS of a workgroup,
// `nearest`, within.wgsl; behind: the entry point.
var<workgroup> parts: array<f64, LANES * 4u>; // [value][lane]
var<workgroup> lengths: array<f64, COLUMNS>; // norms of the workgroup's columns

// Value v of lane group g, summed over its lanes.
fn together(v: u32, g: u32) -> f64 {
	var sum = 0.0lf;
	for (var i = 0u; i < SPLIT; i++) {
		sum += parts[v * LANES + g * SPLIT + i];
	}
	return sum;
}

// What a sum says (SEMANTICS.md 4.4): a term goes through the additions of its lane, of blocks one more a turn and a product with
// a scale, and through those of the lanes; the magnitudes are no more
// than the product of the norms, of which 2^-20 covers what they are off by.
fn judged(x: f64, row: f64, column: f64) -> u32 {
	let most = row * column * 0x1.00001p0lf;
	let depth = params.k / SPLIT + TERMS + SPLIT + 4u;
	return within(x, f64(depth) * most * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, most);
}
