// An element of a convolution. v[0]: places, taps, elements of a channel of x, channels of y; v[1]: channels of x, and of y, in a group, channels
// of x; v[2]: elements of w from one channel of x to the next, of y, and from group to group.
fn $(i: u32) -> T {
	let place = i % params.v[0].x;
	let channel = (i / params.v[0].x) % params.v[0].w;
	let batch = i / params.v[0].x / params.v[0].w;
	let group = channel / params.v[1].y;
	let x_first = batch * params.v[1].z + group * params.v[1].x;
	let w_first = group * params.v[2].z + (channel % params.v[1].y) * params.v[2].y;
	let taps = params.v[0].y;
	clear();
	for (var t = 0u; t < steps; t++) {
		if (t >= taps * params.v[1].x) {
			break;
		}
		let at = window_at(place, t % taps);
		if (at != NOWHERE) {
			term((x_first + t / taps) * params.v[0].z + at, w_first + (t / taps) * params.v[2].x + t % taps);
		}
	}
	return result();
}
