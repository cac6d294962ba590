// An element that is the sum of two f32 on its way into a tile: the square of no less than its magnitude.
fn put_term(k: u32, column: u32, at: u32, inside: bool) -> f64 {
	let pair = bitcast<vec2<f32>>(select(vec2<u32>(), w_pair(at), inside));
	let most = abs(f64(pair.x)) + abs(f64(pair.y));
	put_right_wide(k, column, f64(pair.x) + f64(pair.y));
	return most * most;
}
