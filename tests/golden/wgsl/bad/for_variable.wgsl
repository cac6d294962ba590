// expect: PC2218@8 PC2218@9 PC2200@10 PC2200@10 PC2200@10
// flags: consensus
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var k = 0u;
	for (; k < 9u; k++) {}
	for (let j = 0u; j < 9u; k++) {}
	for (var x = 0.0; x < 9.0; x += 1.0) {}
}
