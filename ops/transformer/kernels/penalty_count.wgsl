// How often each token stands in a row's history. Counts commute, and no old value is used.
struct Sizes {
	@size(4) tokens: u32,
	@size(4) history: u32,
	@size(8) all: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> history: array<u32>;
@group(0) @binding(2) var<storage, read> count: array<u32>;
@group(0) @binding(3) var<storage, read_write> seen: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < sizes.all) {
		let row = i / sizes.history;
		let token = history[i];
		if (i % sizes.history < count[row] && token < sizes.tokens) {
			atomicAdd(&seen[row * sizes.tokens + token], 1u);
		}
	}
}
