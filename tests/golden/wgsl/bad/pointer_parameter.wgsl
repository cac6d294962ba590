// expect: PC2207@4
// flags: consensus
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(p: ptr<function, u32>) { *p = 2u; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var x = 1u;
	f(&x);
}
