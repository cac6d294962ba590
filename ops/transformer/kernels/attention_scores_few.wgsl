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
		var sums: array<f64, VALUES>;
		for (var i = 0u; i < D / SHARES / AT_ONCE; i++) {
			if (i * SHARES * AT_ONCE >= d) {
				break;
			}
			var elements: array<u32, AT_ONCE>;
			for (var k = 0u; k < AT_ONCE; k++) {
				let e = (i * AT_ONCE + k) * SHARES + part;
				if (e < d && place != KV_NOWHERE) {
					elements[k] = k_bits((place * params.v[1].y + j) * d + e);
				}
			}
			for (var k = 0u; k < AT_ONCE; k++) {
				let e = (i * AT_ONCE + k) * SHARES + part;
				let x = f64(bitcast<f32>(elements[k]));
				sums[0] = more(x, x, sums[0]);
				for (var q = 0u; q < LINES; q++) {
					sums[q + 1u] = more(queries[q * D + e], x, sums[q + 1u]);
				}
			}
		}
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
