// A term of a convolution, [batch, place, channel * taps + tap]. v[0]: places, taps, elements of a channel of x, channels.
fn product(i: u32) -> T {
	let terms = params.v[0].y * params.v[0].w;
	let term = i % terms;
	let at = window_at((i / terms) % params.v[0].x, term % params.v[0].y);
	let channel = (i / terms / params.v[0].x) * params.v[0].w + term / params.v[0].y;
	var y = T(0);
	if (at != NOWHERE) {
		y = x_raw(channel * params.v[0].z + at);
	}
	return y;
}
