// expect: PC2212@7 PC2212@8 PC2212@10 PC2212@11
// flags: consensus
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	for (var k = 0u; k < 9u; ) {}
	for (var k = 0u; k < 9u; k += i) {}
	var s = 1u;
	for (var k = 0u; k < 9u; s++) {}
	for (var k = 0u; k < 9u; k = s + 1u) {}
}
