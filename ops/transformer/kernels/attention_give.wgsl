// y [b, t, h, elements of a value] out of the lines of a pass, the rest as it was before. v[5].w: words of a line. In front: attention_place.wgsl, `out`, `before`, `narrow`.
fn product(i: u32) -> T {
	let dv = params.v[1].z;
	let head = i / dv % params.v[0].y;
	let token = i / dv / params.v[0].y % params.v[0].x;
	let b = i / dv / params.v[0].y / params.v[0].x;
	let group = params.v[0].w;
	let r = (token - params.v[3].x) * group + head % group;
	if (token < params.v[3].x || r >= params.v[3].y) {
		return before(i);
	}
	let item = (b * params.v[1].y + head / group) * params.v[3].y + r;
	return narrow(bitcast<f32>(out[item * params.v[5].w + i % dv]));
}
