// The lowest position at which an index is out of range. A minimum commutes, and no old value of it is used.
struct Params {
	@size(4) count: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read_write> bad: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < params.count) {
		if (!index_is(index_value(i))) {
			atomicMin(&bad[0], i);
		}
	}
}
