// Planted: who reaches the barrier depends on what each invocation reads.
@group(0) @binding(0) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	if (results[gid.x] % 2u == 1u) {
		workgroupBarrier();
	}
	results[gid.x] = gid.x;
}
