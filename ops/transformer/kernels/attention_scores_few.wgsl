// Scores of 32 keys and a block of few lines, a workgroup, by f64 sums with a bound (SEMANTICS.md 4.4); what is in doubt by an exact sum of its lane. In front: attention_few_place.wgsl.
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let pieces = 2u * params.v[4].z; // of KEYS keys
	let first = group % pieces * KEYS;
	let block = group / pieces % params.v[3].z;
	let shared_by = group / pieces / params.v[3].z;
	let d = params.v[0].z;
	let b = shared_by / params.v[1].y;
	let j = shared_by % params.v[1].y;
	if (lane == 0u) {
		wanted = u32(any_sees(shared_by, block, first));
	}
	if (workgroupUniformLoad(&wanted) != 0u) {
		if (lane < KEYS) {
			var place = KV_NOWHERE;
			if (first + lane < params.v[2].x) {
				place = kv_place(b, first + lane);
			}
			places[lane] = place;
		}
		queries_load(shared_by, block, lane);
		let part = lane % SHARES;
		let place = places[lane / SHARES];
		var s = Sums();
		for (var i = 0u; i < D / SHARES / 8u; i++) {
			if (i * SHARES * 8u >= d) {
				break;
			}
			// Written out, so that all are asked for before the first is used.
			let e = i * SHARES * 8u + part;
			let at = (place * params.v[1].y + j) * d;
			let x = vec4<f64>(bitcast<vec4<f32>>(four(place, at, e, d)));
			let y = vec4<f64>(bitcast<vec4<f32>>(four(place, at, e + 4u * SHARES, d)));
			s.square = add_squares(x, add_squares(y, s.square));
			s = add_key(e, x.x, s);
			s = add_key(e + SHARES, x.y, s);
			s = add_key(e + 2u * SHARES, x.z, s);
			s = add_key(e + 3u * SHARES, x.w, s);
			s = add_key(e + 4u * SHARES, y.x, s);
			s = add_key(e + 5u * SHARES, y.y, s);
			s = add_key(e + 6u * SHARES, y.z, s);
			s = add_key(e + 7u * SHARES, y.w, s);
		}
		let sums = array<f64, 9>(s.square, s.a.x, s.a.y, s.a.z, s.a.w, s.b.x, s.b.y, s.b.z, s.b.w);
		for (var v = 0u; v < VALUES; v += 4u) {
			workgroupBarrier();
			for (var i = 0u; i < 4u; i++) {
				if (v + i < VALUES) {
					parts[i * LANES + lane] = sums[v + i];
				}
			}
			workgroupBarrier();
			if (part < 4u && v + part < VALUES) {
				var all = 0.0lf;
				for (var k = 0u; k < SHARES; k++) {
					all += parts[part * LANES + lane / SHARES * SHARES + k];
				}
				wholes[(v + part) * KEYS + lane / SHARES] = all;
			}
		}
		workgroupBarrier();
		if (lane < LINES * KEYS) {
			let q = lane / KEYS;
			let key = first + lane % KEYS;
			let r = block * LINES + q;
			let line = line_of(shared_by, r);
			let see = seen(line, r);
			if (key >= see.x && key < see.y) {
				let at = places[lane % KEYS];
				if (at == KV_NOWHERE) {
					lost(b, key);
				} else {
					let both = norms[q] * wholes[lane % KEYS];
					let most = root_above(both) * 0x1.00001p0lf;
					var bits = within(wholes[(q + 1u) * KEYS + lane % KEYS], f64(d + 1u) * most * 0x1p-53lf, both);
					if (both == 0.0lf) {
						bits = 0u;
					}
					if (bits == MARK) {
						bits = exactly(query_place(line), (at * params.v[1].y + j) * d);
					}
					scores[group * (LINES * KEYS) + lane] = score_of(bits);
				}
			}
		}
	}
}
