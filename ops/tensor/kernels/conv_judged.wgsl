// An element of a convolution by an f64 sum of its products, which are exact there, and an exact sum where that does not tell what it rounds to
// (SEMANTICS.md 4.4): it is off by at most one unit of 2^-53 of all magnitudes for each term. In front: conv.wgsl, within.wgsl.
fn judged(i: u32) -> u32 {
	let place = i % params.v[0].x;
	let channel = (i / params.v[0].x) % params.v[0].w;
	let batch = i / params.v[0].x / params.v[0].w;
	let group = channel / params.v[1].y;
	let x_first = batch * params.v[1].z + group * params.v[1].x;
	let w_first = group * params.v[2].z + (channel % params.v[1].y) * params.v[2].y;
	let taps = params.v[0].y;
	var sum = 0.0lf;
	var most = 0.0lf;
	for (var t = 0u; t < steps; t++) {
		if (t >= taps * params.v[1].x) {
			break;
		}
		let at = window_at(place, t % taps);
		if (at != NOWHERE) {
			let x = bitcast<f32>(x_bits((x_first + t / taps) * params.v[0].z + at));
			let w = bitcast<f32>(w_bits(w_first + (t / taps) * params.v[2].x + t % taps));
			let term = f64(x) * f64(w);
			sum += term;
			most += abs(term);
		}
	}
	return within(sum, f64(taps * params.v[1].x) * most * 0x1p-53lf * 0x1.00001p0lf, most);
}

fn product(i: u32) -> T {
	let found = judged(i);
	if (found != MARK) {
		return found;
	}
	return direct(i);
}
