// An element of tensor.matmul64 by f64 sums that keep what was lost, and by integers where these do not tell it. In front: double_sum.wgsl,
// matmul64.wgsl, whose numbers these are.
fn quick(i: u32) -> u64 {
	let row = i / params.v[0].x * params.v[0].y;
	let column = i % params.v[0].x * params.v[0].w;
	var s = NO_SUM;
	for (var k = 0u; k < steps; k++) {
		if (k >= params.v[0].y) {
			break;
		}
		s = plus_product(s, bitcast<f64>(a_raw(row + k)), bitcast<f64>(b_raw(k * params.v[0].z + column)));
	}
	return told(s, f64(2u * params.v[0].y + 8u));
}

fn product(i: u32) -> u64 {
	let found = quick(i);
	if (found != UNTOLD) {
		return found;
	}
	return exact(i);
}
