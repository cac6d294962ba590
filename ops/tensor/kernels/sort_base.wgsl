//# max dispatch = 65535,65535,1
// Each run of 16 pairs put in order by counting, for each pair, the pairs that go before it.
struct Params {
	@size(4) n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> payloads: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(4) var<storage, read_write> payloads_out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	let first = lane * 16u;
	if (first < params.n) {
		var key: array<u32, 16>;
		var order: array<u32, 16>;
		for (var i = 0u; i < 16u; i++) {
			key[i] = 0xffffffffu; // behind the end: after everything
			if (first + i < params.n) {
				key[i] = keys[first + i];
			}
		}
		for (var i = 0u; i < 16u; i++) {
			let mine = key[i];
			var before = 0u;
			for (var j = 0u; j < 16u; j++) {
				let other = key[j];
				before += select(0u, 1u, (other < mine) | ((other == mine) & (j < i)));
			}
			order[before & 15u] = i;
		}
		for (var i = 0u; i < 16u; i++) {
			if (first + i < params.n) {
				keys_out[first + i] = key[order[i] & 15u];
				payloads_out[first + i] = payloads[first + order[i]];
			}
		}
	}
}
