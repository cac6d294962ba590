// expect: PC2218@7 PC2218@8
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var k = 0u;
	for (; k < 9u; k++) {}
	for (let j = 0u; j < 9u; k++) {}
}
