// Planted: two invocations of different workgroups store at one place.
@group(0) @binding(0) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	results[gid.x % 100u] = gid.x;
}
