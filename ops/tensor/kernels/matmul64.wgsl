// An element of tensor.matmul64. v[0]: columns of the result, terms, how far apart rows and columns of b lie.
fn $(i: u32) -> u64 {
	let row = i / params.v[0].x * params.v[0].y;
	let column = i % params.v[0].x * params.v[0].w;
	sum_clear();
	for (var k = 0u; k < steps; k++) {
		if (k >= params.v[0].y) {
			break;
		}
		sum_product(a_raw(row + k), b_raw(k * params.v[0].z + column));
	}
	return sum_round();
}
