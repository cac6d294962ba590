// An element of a or of b. v[d]: elements of dimension d of y, the innermost first, and how far one of them is in each input: 0 where that is repeated.
fn product(i: u32) -> T {
	var rest = i;
	var at = vec3<u32>(0u, 0u, 0u);
	for (var d = 0u; d < 8u; d++) {
		let dim = params.v[d];
		at += (rest % dim.x) * dim.yzw;
		rest = rest / dim.x;
	}
	return select(b_raw(at.z), a_raw(at.y), chosen_raw(at.x) != 0u);
}
