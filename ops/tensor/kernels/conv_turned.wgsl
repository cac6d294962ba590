// w of a transposed convolution, [groups * in, out, taps], as matrices [group, out, in * taps]. v[0]: taps, in, out.
fn product(i: u32) -> T {
	let tap = i % params.v[0].x;
	let channel = (i / params.v[0].x) % params.v[0].y;
	let rest = i / params.v[0].x / params.v[0].y;
	let out = rest % params.v[0].z;
	return w_raw((((rest / params.v[0].z) * params.v[0].y + channel) * params.v[0].z + out) * params.v[0].x + tap);
}
