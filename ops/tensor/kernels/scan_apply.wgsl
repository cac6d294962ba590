//# max dispatch = 65535,65535,1
// The prefix sums of each run of 32 elements, from the run's offset on.
struct Params {
	@size(4) n: u32,
	@size(4) exclusive: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u64>;
@group(0) @binding(2) var<storage, read> offsets: array<u64>;
@group(0) @binding(3) var<storage, read_write> prefixes: array<u64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	let first = lane * 32u;
	if (first < params.n) {
		var sum = offsets[lane];
		for (var i = 0u; i < 32u; i++) {
			if (first + i < params.n) {
				let before = sum;
				sum += values[first + i];
				prefixes[first + i] = select(sum, before, params.exclusive != 0u);
			}
		}
	}
}
