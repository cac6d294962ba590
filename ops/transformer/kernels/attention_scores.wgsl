// Scores of 64 keys and a block of lines, a workgroup, by f64 sums with a bound (SEMANTICS.md 4.4); what is in doubt by an exact sum of its lane. Keys and queries go through workgroup memory, 32
// elements at a time, so that they are read side by side. In front: attention_place.wgsl, attention_score.wgsl, exact_sum.wgsl, within.wgsl, attention_exactly.wgsl, root_above.wgsl,
// `lost`, `more` (s + a * b).
const SLICE: u32 = 32u;
const PITCH: u32 = 33u; // so that lanes fall on different banks

var<workgroup> queries: array<f64, LINES * SLICE>;
var<workgroup> squares: array<f64, LINES * SLICE>;
var<workgroup> norms: array<f64, LINES>;
var<workgroup> tile: array<u32, TILE * PITCH>;
var<workgroup> places: array<u32, TILE>;
var<workgroup> wanted: u32;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let block = group / params.v[4].z % params.v[3].z;
	let shared_by = group / params.v[4].z / params.v[3].z;
	let d = params.v[0].z;
	let key = group % params.v[4].z * TILE + lane;
	let b = shared_by / params.v[1].y;
	let j = shared_by % params.v[1].y;
	if (lane == 0u) {
		var any = 0u;
		for (var q = 0u; q < LINES; q++) {
			let see = seen(line_of(shared_by, block * LINES + q), block * LINES + q);
			any |= u32(see.x < key + TILE && see.y > key);
		}
		wanted = any;
	}
	if (workgroupUniformLoad(&wanted) != 0u) {
		places[lane] = KV_NOWHERE;
		if (key < params.v[2].x) {
			places[lane] = kv_place(b, key);
		}
		var sums: array<f64, LINES>;
		var own: array<f64, LINES>;
		var kk = 0.0lf;
		for (var c = 0u; c < (steps + SLICE - 1u) / SLICE; c++) {
			if (c * SLICE >= d) {
				break;
			}
			workgroupBarrier();
			for (var i = 0u; i < (LINES * SLICE + 63u) / 64u; i++) {
				let at = i * 64u + lane;
				let e = c * SLICE + at % SLICE;
				if (at < LINES * SLICE) {
					let r = block * LINES + at / SLICE;
					var x = 0.0lf;
					if (e < d && r < params.v[3].y) {
						x = f64(bitcast<f32>(q_bits(query_place(line_of(shared_by, r)) + e)));
					}
					queries[at] = x;
					own[i] += x * x;
				}
			}
			for (var i = 0u; i < SLICE; i++) {
				let at = i * 64u + lane;
				let e = c * SLICE + at % SLICE;
				let place = places[at / SLICE];
				var bits = 0u;
				if (e < d && place != KV_NOWHERE) {
					bits = k_bits((place * params.v[1].y + j) * d + e);
				}
				tile[at / SLICE * PITCH + at % SLICE] = bits;
			}
			workgroupBarrier();
			for (var e = 0u; e < SLICE; e++) {
				let x = f64(bitcast<f32>(tile[lane * PITCH + e]));
				kk += x * x;
				for (var q = 0u; q < LINES; q++) {
					sums[q] = more(queries[q * SLICE + e], x, sums[q]);
				}
			}
		}
		for (var i = 0u; i < (LINES * SLICE + 63u) / 64u; i++) {
			if (i * 64u + lane < LINES * SLICE) {
				squares[i * 64u + lane] = own[i];
			}
		}
		workgroupBarrier();
		if (lane < LINES) {
			var all = 0.0lf;
			for (var i = 0u; i < SLICE; i++) {
				all += squares[lane * SLICE + i];
			}
			norms[lane] = all;
		}
		workgroupBarrier();
		for (var q = 0u; q < LINES; q++) {
			let r = block * LINES + q;
			let line = line_of(shared_by, r);
			let see = seen(line, r);
			if (key >= see.x && key < see.y) {
				let place = places[lane];
				if (place == KV_NOWHERE) {
					lost(b, key);
				} else {
					let both = norms[q] * kk;
					let most = root_above(both) * 0x1.00001p0lf;
					var bits = within(sums[q], f64(d + 1u) * most * 0x1p-53lf, both);
					if (both == 0.0lf) {
						bits = 0u;
					}
					if (bits == MARK) {
						bits = exactly(query_place(line), (place * params.v[1].y + j) * d);
					}
					scores[(group * LINES + q) * TILE + lane] = score_of(bits);
				}
			}
		}
	}
}
