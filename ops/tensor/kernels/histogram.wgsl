// How many elements there are of each number. Counts commute, and no old value is used; what is out of range was found before.
struct Params {
	@size(4) count: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> y: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < params.count) {
		let bin = min(u64(x[i]), 0xfffffffflu);
		atomicAdd(&y[u32(bin)], 1u);
	}
}
