// A score an invocation, by an exact sum of integers. In front: attention_place.wgsl, attention_score.wgsl, exact_sum.wgsl, `lost`.
fn product(i: u32) -> T {
	let r = i / TILE % LINES;
	let block = i / TILE / LINES;
	let key = block % params.v[4].z * TILE + i % TILE;
	let shared_by = block / params.v[4].z / params.v[3].z;
	let line_number = block / params.v[4].z % params.v[3].z * LINES + r;
	let line = line_of(shared_by, line_number);
	let see = seen(line, line_number);
	if (key < see.x || key >= see.y) {
		return HIDDEN;
	}
	let place = kv_place(line.b, key);
	if (place == KV_NOWHERE) {
		lost(line.b, key);
		return HIDDEN;
	}
	let q_at = query_place(line);
	let k_at = (place * params.v[1].y + line.j) * params.v[0].z;
	sum_clear();
	for (var e = 0u; e < steps; e++) {
		if (e >= params.v[0].z) {
			break;
		}
		sum_product(q_bits(q_at + e), k_bits(k_at + e));
	}
	return score_of(sum_round());
}
