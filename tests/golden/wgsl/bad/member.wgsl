// expect: PC2413@8 PC2413@10 PC2413@11 PC2413@12 PC2413@13 PC2413@14
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
struct S { counts: u32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let s = S(1u);
	let a = s.count;
	let v = vec2(1u);
	let b = v.z;
	let c = v.xr;
	let d = v.xyxyx;
	let e = i.x;
	let f = v.foo;
}
