// expect: PC2208@8 PC2400@10
// flags: consensus
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var k = 0u;
	loop {
		if k == 3u { break; }
		let e = undefined;
		continuing { k++; break if k > 4u; }
	}
}
