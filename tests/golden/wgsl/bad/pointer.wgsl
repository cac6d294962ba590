// expect: PC2434@6 PC2434@7 PC2434@8 PC2434@10 PC2434@11
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = &i;
	let b = &3;
	let c = *i;
	var v = vec2(1u);
	let d = &v.x;
	let e = &v[1];
}
