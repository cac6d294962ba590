// Updates that go to element i, one after another.
fn product(i: u32) -> T {
	let first = first_of(i);
	var y = x_raw(i);
	for (var j = 0u; j < steps; j++) {
		if (j >= params.v[0].y || first + j >= params.v[0].x || targets[first + j] != i) {
			break;
		}
		y = joined(y, updates_raw(updates_from[first + j]));
	}
	return y;
}
