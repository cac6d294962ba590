// expect: PC2400@6 PC2400@7 PC2400@8 PC2400@12 PC2400@13
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = lenght;
	out[i] = foo(a);
	let b: Vec = 3;
	let c = a + b + 1;
	let d = 1u;
	{ let inner = d; }
	out[i] = inner;
	out[i] = later;
	let later = 3u;
}
