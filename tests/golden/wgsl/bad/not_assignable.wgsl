// expect: PC2414@9 PC2414@10 PC2414@12 PC2414@13 PC2414@14 PC2414@15
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
const c = 1;
fn f() -> u32 { return 1u; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = 1u;
	a = 2u;
	i++;
	var v = vec3(1u);
	v.xy = vec2(1u);
	c = 3;
	gid.x = 1u;
	f() = 2u;
}
