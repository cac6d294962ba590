// An element of a matrix on its way into a tile: its square.
fn put_term(k: u32, column: u32, at: u32, inside: bool) -> f64 {
	let bits = select(0u, w_bits(at), inside);
	put_right(k, column, bits);
	return square(bits);
}
