// A weight in the place of its score, an invocation. In front: attention_place.wgsl, attention_weight.wgsl, `scores`, `rows`.
fn product(i: u32) -> T {
	let block = i / TILE / LINES;
	let r = block / params.v[4].z % params.v[3].z * LINES + i / TILE % LINES;
	let score = scores[i];
	if (score == HIDDEN) {
		return 0u;
	}
	return weight_of(score, rows[block / params.v[4].z / params.v[3].z * params.v[3].y + r].x);
}
