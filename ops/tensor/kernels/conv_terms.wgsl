// The terms of a convolution as rows of a matrix for each batch, [batch, channel * taps + tap, place]. v[0]: places, taps, elements of a channel of x,
// the first channel of x, all batches' counted. Outside x all bits are 0.
fn product(i: u32) -> T {
	let row = i / params.v[0].x;
	let at = window_at(i % params.v[0].x, row % params.v[0].y);
	var y = T(0);
	if (at != NOWHERE) {
		y = x_raw((params.v[0].w + row / params.v[0].y) * params.v[0].z + at);
	}
	return y;
}
