// attention_scores.wgsl for many lines: tiles of 64 lines by 64 keys (tile_f64.wgsl or tile_units.wgsl, TILE_ROWS is LINES), so that a query and a key that were read are multiplied 64 times. In front:
// attention_place.wgsl, attention_score.wgsl, exact_sum.wgsl, within.wgsl, attention_exactly.wgsl, root_above.wgsl, tile_norms.wgsl, `lost`; behind: the tile's sums.
var<workgroup> sights: array<vec2<u32>, LINES>;
var<workgroup> queries: array<u32, LINES>;
var<workgroup> keys: array<u32, TILE>;
var<workgroup> seen_at_all: atomic<u32>;
var<workgroup> wanted: u32;

fn query_bits(row: u32, e: u32) -> u32 {
	if (e < params.v[0].z && queries[row] != KV_NOWHERE) {
		return q_bits(queries[row] + e);
	}
	return 0u;
}

fn key_bits(column: u32, e: u32) -> u32 {
	if (e < params.v[0].z && keys[column] != KV_NOWHERE) {
		return k_bits(keys[column] + e);
	}
	return 0u;
}

// Score i of a group, row i / 64 and column i % 64 of its tile.
fn finish(group: u32, i: u32, b: u32, first: u32, sum: f64) {
	let row = i / TILE;
	let key = first + i % TILE;
	let see = sights[row];
	if (key >= see.x && key < see.y) {
		if (keys[i % TILE] == KV_NOWHERE) {
			lost(b, key);
		} else {
			let both = norms[row] * norms[LINES + i % TILE];
			var bits = within(sum, f64(params.v[0].z + 1u) * (root_above(both) * 0x1.00001p0lf) * 0x1p-53lf, both);
			if (both == 0.0lf) {
				bits = 0u;
			}
			if (bits == MARK) {
				bits = exactly(queries[row], keys[i % TILE]);
			}
			scores[group * (LINES * TILE) + i] = score_of(bits);
		}
	}
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let block = group / params.v[4].z % params.v[3].z;
	let shared_by = group / params.v[4].z / params.v[3].z;
	let first = group % params.v[4].z * TILE;
	let b = shared_by / params.v[1].y;
	let j = shared_by % params.v[1].y;
	if (lane < LINES) {
		let r = block * LINES + lane;
		let line = line_of(shared_by, r);
		let see = seen(line, r);
		sights[lane] = see;
		queries[lane] = select(KV_NOWHERE, query_place(line), see.x < see.y);
		if (see.x < first + TILE && see.y > first) {
			atomicOr(&seen_at_all, 1u);
		}
		var place = KV_NOWHERE;
		if (first + lane < params.v[2].x) {
			place = kv_place(b, first + lane);
		}
		keys[lane] = select((place * params.v[1].y + j) * params.v[0].z, KV_NOWHERE, place == KV_NOWHERE);
	}
	workgroupBarrier();
	if (lane == 0u) {
		wanted = atomicLoad(&seen_at_all);
	}
	if (workgroupUniformLoad(&wanted) != 0u) {
	var squares_left: array<f64, LINES / TILE_LOADED>;
	var squares_right: array<f64, TILE / TILE_LOADED>;
