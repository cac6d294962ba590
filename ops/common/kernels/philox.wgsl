// Philox4x32 with ten rounds. v[0]: key, counter of element 0, two words each, the lower first; v[1].xy: the upper half of the counter.
fn philox(i: u32) -> vec4<u32> {
	let counter = ((u64(params.v[0].w) << 32u) | u64(params.v[0].z)) + u64(i);
	var w = vec4<u32>(u32(counter & 0xfffffffflu), u32(counter >> 32u), params.v[1].x, params.v[1].y);
	var key = params.v[0].xy;
	for (var round = 0u; round < 10u; round++) {
		let a = u64(w.x) * 0xd2511f53lu;
		let b = u64(w.z) * 0xcd9e8d57lu;
		w = vec4<u32>(u32(b >> 32u) ^ w.y ^ key.x, u32(b & 0xfffffffflu), u32(a >> 32u) ^ w.w ^ key.y, u32(a & 0xfffffffflu));
		key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
	}
	return w;
}
