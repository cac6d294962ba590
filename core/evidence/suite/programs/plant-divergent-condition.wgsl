// Planted: half of a workgroup reaches the barrier.
@group(0) @binding(0) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	if (lid < 32u) {
		workgroupBarrier();
	}
	results[gid.x] = lid;
}
