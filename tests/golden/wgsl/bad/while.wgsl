// expect: PC2209@8
// flags: consensus
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var k = 0u;
	while k < 3u { k++; }
}
