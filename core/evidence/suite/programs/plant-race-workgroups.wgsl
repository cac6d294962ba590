// Planted: a workgroup reads what the next one writes; a barrier orders nothing between the two.
@group(0) @binding(0) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	results[gid.x] = gid.x;
	storageBarrier();
	if (gid.x < 64u) {
		results[gid.x] = results[gid.x + 64u] + 1u;
	}
}
