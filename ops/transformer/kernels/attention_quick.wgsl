// The sum of weights in f64: each lane's, then all.
var<workgroup> lanes: array<f64, 64>;

fn quick(lane: u32, shared_by: u32, r: u32, see: vec2<u32>, greatest: u32) {
	var sum = 0.0lf;
	for (var k = 0u; k < steps; k++) {
		let key = (see.x / TILE + k) * TILE + lane;
		if (key >= see.y) {
			break;
		}
		if (key >= see.x) {
			sum += f64(bitcast<f32>(weight_of(scores[score_place(shared_by, r, key)], greatest)));
		}
	}
	lanes[lane] = sum;
	workgroupBarrier();
	if (lane == 0u) {
		var all = 0.0lf;
		for (var k = 0u; k < 64u; k++) {
			all += lanes[k];
		}
		said = within(all, f64(steps + 64u) * all * 0x1p-53lf * 0x1.00001p0lf, all);
	}
}
