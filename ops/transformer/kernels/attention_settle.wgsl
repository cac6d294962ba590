// The exact sum of a line's weights times an element of their values, by all lanes: lane 0 comes back with it in `total` and `saw`. In front: exact_sum.wgsl, sum_lanes.wgsl (ROWS is 1),
// `weight_at` of a line's key.
fn settle(shared_by: u32, r: u32, element: u32, lane: u32) {
	let line = line_of(shared_by, r);
	let see = seen(line, r);
	sum_clear();
	for (var k = 0u; k < steps; k++) {
		let key = (see.x / TILE + k) * TILE + lane;
		if (key >= see.y) {
			break;
		}
		let place = kv_place(line.b, key);
		if (key >= see.x && place != KV_NOWHERE) {
			sum_product(weight_at(shared_by, r, key),
				v_bits((place * params.v[1].y + line.j) * params.v[1].z + min(element, params.v[1].z - 1u)));
		}
	}
	sum_join(lane);
}
