// Weights times values of a block of lines over a split of the keys, in f64: lanes share the elements of a value, CHUNKS each. A part is the sum, and the largest magnitude of a value beside it. In
// front: attention_place.wgsl, attention_weight.wgsl, `scores`, `rows`, `parts`, `more`.
override steps: u32; // no less than tiles of a split

var<workgroup> weights: array<f64, LINES * TILE>;
var<workgroup> places: array<u32, TILE>;
var<workgroup> sight: vec2<u32>; // what some line sees

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let split = group % params.v[4].w;
	let block = group / params.v[4].w % params.v[3].z;
	let shared_by = group / params.v[4].w / params.v[3].z;
	let b = shared_by / params.v[1].y;
	let j = shared_by % params.v[1].y;
	var sums: array<f64, LINES * CHUNKS>;
	var most: array<f64, CHUNKS>;
	if (lane == 0u) {
		var all = vec2<u32>(0xffffffffu, 0u);
		for (var q = 0u; q < LINES; q++) {
			let see = seen(line_of(shared_by, block * LINES + q), block * LINES + q);
			if (see.x < see.y) {
				all = vec2<u32>(min(all.x, see.x), max(all.y, see.y));
			}
		}
		sight = all;
	}
	let all = workgroupUniformLoad(&sight);
	for (var i = 0u; i < steps; i++) {
		let number = split * params.v[5].x + i;
		if (i >= params.v[5].x || number * TILE >= all.y) {
			break;
		}
		if ((number + 1u) * TILE > all.x) {
			let key = number * TILE + lane;
			workgroupBarrier();
			places[lane] = KV_NOWHERE;
			if (key >= all.x && key < all.y) {
				places[lane] = kv_place(b, key);
			}
			for (var q = 0u; q < LINES; q++) {
				let r = block * LINES + q;
				let see = seen(line_of(shared_by, r), r);
				var e = 0u;
				if (key >= see.x && key < see.y) {
					e = weight_of(scores[score_place(shared_by, r, key)],
						rows[shared_by * params.v[3].y + r].x);
				}
				weights[q * TILE + lane] = f64(bitcast<f32>(e));
			}
			workgroupBarrier();
			for (var k = 0u; k < TILE; k++) {
				if (places[k] != KV_NOWHERE) {
					let first = (places[k] * params.v[1].y + j) * params.v[1].z;
					for (var c = 0u; c < CHUNKS; c++) {
						let v = f64(bitcast<f32>(v_bits(first + min(c * 64u + lane, params.v[1].z - 1u))));
						most[c] = select(most[c], abs(v), abs(v) > most[c]);
						for (var q = 0u; q < LINES; q++) {
							sums[q * CHUNKS + c] = more(weights[q * TILE + k], v, sums[q * CHUNKS + c]);
						}
					}
				}
			}
		}
	}
	for (var q = 0u; q < LINES; q++) {
		for (var c = 0u; c < CHUNKS; c++) {
			parts[((group * CHUNKS + c) * LINES + q) * 64u + lane] = vec2<f64>(sums[q * CHUNKS + c], most[c]);
		}
	}
}
