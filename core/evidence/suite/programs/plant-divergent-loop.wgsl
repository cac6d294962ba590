// Planted: invocations turn in the loop, and meet its barrier, different numbers of times.
@group(0) @binding(0) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	for (var i = 0u; i < 64u && i < lid; i++) {
		storageBarrier();
	}
	results[gid.x] = lid;
}
