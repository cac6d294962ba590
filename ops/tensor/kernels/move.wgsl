// Elements that come from another place. v[d]: elements of dimension d of y, the innermost first, elements of x there, what is added to a
// coordinate, whether it counts from the end; v[8 + d]: elements of x from one to the next. `source` gives -1 where there is none.
fn product(i: u32) -> T {
	var rest = i;
	var at = 0u;
	var within = true;
	for (var d = 0u; d < 8u; d++) {
		let dim = params.v[d];
		let n = bitcast<i32>(dim.y);
		let moved = bitcast<i32>((rest % dim.x) + dim.z);
		let c = select(source(moved, n), n - 1 - moved, dim.w != 0u);
		within = within && c >= 0;
		at += u32(max(c, 0)) * params.v[8u + d].x;
		rest = rest / dim.x;
	}
	var y = T(0);
	if (within) {
		y = x_raw(at);
	}
	return y;
}
