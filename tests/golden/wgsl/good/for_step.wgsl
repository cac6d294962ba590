@group(0) @binding(0) var<storage, read_write> out: array<u32>;
override S = 3u;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	for (var k = 0u; k < 9u; k++) {}
	for (var k = 0u; k < 9u; k += S) {}
	for (var k = 9i; k >= 0; k = k - 1) {}
	for (var k = 0u; k < 9u; k = 2u + k) {}
}
