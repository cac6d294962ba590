// PER elements of a line a workgroup, out of its scores: the greatest, the weights and their sum in passes of KEYS keys, and weights times values, in f64 with a bound; what is in doubt is settled
// where it was found. Each workgroup of a line finds the greatest and the sum anew: that is cheaper than a dispatch more. v[5].y: the most additions on the way of a term; v[5].z: workgroups of a
// line. In front: attention_line_sums.wgsl, attention_divided.wgsl, `out`, `look`, `more`.
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	look(group * LANES + lane);
	let item = group / params.v[5].z;
	let shared_by = item / params.v[3].y;
	let r = item % params.v[3].y;
	let b = shared_by / params.v[1].y;
	let j = shared_by % params.v[1].y;
	if (lane == 0u) {
		sight = seen(line_of(shared_by, r), r);
	}
	let see = workgroupUniformLoad(&sight);
	var most = 0u;
	for (var i = 0u; i < steps; i++) {
		let key = see.x + i * LANES + lane;
		if (key >= see.y) {
			break;
		}
		most = max(most, float_key(scores[score_place(shared_by, r, key)]));
	}
	greatest_together(lane, most);
	let m = workgroupUniformLoad(&greatest);
	let element = min(group % params.v[5].z * PER + lane % PER, params.v[1].z - 1u);
	var own = 0.0lf;
	var sum = 0.0lf;
	var largest = 0u; // magnitude, as bits
	for (var pass_of = 0u; pass_of < steps; pass_of++) {
		let first = see.x + pass_of * KEYS;
		if (first >= see.y) {
			break;
		}
		workgroupBarrier();
		for (var i = 0u; i < KEYS / LANES; i++) {
			let at = i * LANES + lane;
			var e = 0u;
			var place = KV_NOWHERE;
			if (first + at < see.y) {
				place = kv_place(b, first + at);
				e = weight_of(scores[score_place(shared_by, r, first + at)], m);
			}
			own += f64(bitcast<f32>(e));
			weights[at] = f64(bitcast<f32>(e));
			places[at] = place;
		}
		workgroupBarrier();
		for (var i = 0u; i < KEYS / SHARES / AT_ONCE; i++) {
			if (first + i * SHARES * AT_ONCE >= see.y) {
				break;
			}
			// Written out, so that all are asked for before the first is used.
			let at = i * AT_ONCE * SHARES + lane / PER;
			let x = four(at, j, element);
			let y = four(at + 4u * SHARES, j, element);
			let f = vec4<f64>(bitcast<vec4<f32>>(x));
			let g = vec4<f64>(bitcast<vec4<f32>>(y));
			sum = weighted(at, f, sum);
			sum = weighted(at + 4u * SHARES, g, sum);
			let m4 = max(x & vec4<u32>(0x7fffffffu), y & vec4<u32>(0x7fffffffu));
			largest = max(largest, max(max(m4.x, m4.y), max(m4.z, m4.w)));
		}
	}
	parts[lane].x = own;
	weights_together(lane);
	var s = workgroupUniformLoad(&said);
	if (s == MARK) {
		settle(shared_by, r, WEIGHTS, lane);
		s = sum_round();
	}
	workgroupBarrier();
	parts[lane] = vec2<f64>(sum, f64(bitcast<f32>(largest)));
	workgroupBarrier();
	var bits = 0u;
	if (lane < PER) {
		var x = 0.0lf;
		var l = 0.0lf;
		for (var k = 0u; k < SHARES; k++) {
			let part = parts[k * PER + lane];
			x += part.x;
			l = select(l, part.y, part.y > l);
		}
		// Weights add up to s, which was rounded.
		let bound = f64(bitcast<f32>(s)) * l * 0x1.00001p0lf;
		bits = within(x, f64(params.v[5].y) * bound * 0x1p-53lf, bound);
		if (!(x - x == 0.0lf)) {
			bits = MARK;
		}
		bits = select(bits, 0u, s == 0u);
		results[lane] = bits;
		if (bits == MARK) {
			atomicOr(&doubted, 1u);
		}
	}
	workgroupBarrier();
	if (lane == 0u) {
		said = atomicLoad(&doubted);
	}
	if (workgroupUniformLoad(&said) != 0u) {
		for (var i = 0u; i < PER; i++) {
			if (workgroupUniformLoad(&results[i]) == MARK) {
				settle(shared_by, r, min(group % params.v[5].z * PER + i, params.v[1].z - 1u), lane);
				if (lane == 0u) {
					said = sum_round();
				}
				let exact = workgroupUniformLoad(&said);
				if (lane == i) {
					bits = exact;
				}
			}
		}
	}
	if (lane < PER) {
		out[group * PER + lane] = divided(bits, s);
	}
}
