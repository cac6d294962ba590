// expect: PC2211@8 PC2211@9
// flags: consensus
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	for (var k = 0u; k < 9u; k++) {
		k = 0u;
		for (var j = 0u; j < 2u; j++) { k += 1u; }
	}
}
