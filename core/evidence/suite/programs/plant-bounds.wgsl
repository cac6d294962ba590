// Planted: every eighth invocation stores behind the end of its array.
@group(0) @binding(0) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let far = select(0u, 4096u, gid.x % 8u == 3u);
	results[gid.x + far] = gid.x;
}
