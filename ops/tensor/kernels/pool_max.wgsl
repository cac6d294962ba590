// The largest of a window. v[0]: places, taps, elements of a channel of x; v[1]: what is below everything, low and high word; of floats the bits
// of infinity and of the NaN, else all ones and 0; v[2].x: all bits of a float but its sign.
fn product(i: u32) -> T {
	let first = (i / params.v[0].x) * params.v[0].z;
	var y = T((u64(params.v[1].y) << 32u) | u64(params.v[1].x));
	var numbers = 0u;
	var nans = 0u;
	for (var t = 0u; t < steps; t++) {
		if (t >= params.v[0].y) {
			break;
		}
		let at = window_at(i % params.v[0].x, t);
		if (at != NOWHERE) {
			let x = x_raw(first + at);
			if ((u32(x) & params.v[2].x) > params.v[1].z) {
				nans++;
			} else {
				numbers++;
				y = select(y, x, order_key(x) > order_key(y));
			}
		}
	}
	return select(y, T(params.v[1].w), nans != 0u && numbers == 0u);
}
