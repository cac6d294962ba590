// An element of a, or of b behind it, in each of the rows. v[0]: elements of a row of a, and of b.
fn product(i: u32) -> T {
	let a_row = params.v[0].x;
	let b_row = params.v[0].y;
	let row = i / (a_row + b_row);
	let at = i % (a_row + b_row);
	if (at < a_row) {
		return a_raw(row * a_row + at);
	}
	return b_raw(row * b_row + (at - a_row));
}
