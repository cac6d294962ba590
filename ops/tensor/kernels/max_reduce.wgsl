//# max dispatch = 65535,65535,1
// The largest element of each run of 32; repeated until one is left.
struct Params {
	@size(4) n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u64>;
@group(0) @binding(2) var<storage, read_write> largest: array<u64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	let first = lane * 32u;
	if (first < params.n) {
		var most = u64(0u);
		for (var i = 0u; i < 32u; i++) {
			if (first + i < params.n) {
				most = max(most, values[first + i]);
			}
		}
		largest[lane] = most;
	}
}
