// Elements of x [b, t, heads, d] on their way into a cache, EACH of them an invocation, which has the cache's words as integers: what stands there is cleared in one
// dispatch and put in the next, each by one commuting atomic. v[0]: t, elements of a row, b; v[1]: the cache's. In front: `tokens`, kv_place, `step`.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	let t = params.v[0].x;
	let row = params.v[0].y;
	if (i < 2u) {
		look(i, params.v[0].z, t, params.v[1].x);
	}
	if (i < params.count) {
		let e = i * EACH;
		let token = e / row;
		let b = token / t;
		let at = token % t;
		let first = start[b];
		let p = first + at;
		if (at < tokens(b, t) && first < params.v[1].x && at < params.v[1].x - first) {
			if (e % row == 0u && (at == 0u || p % params.v[1].y == 0u)) {
				page_step(b, p);
			}
			let place = kv_place(b, p);
			if (place != KV_NOWHERE) {
				step(e, place * row + e % row);
			}
		}
	}
}
