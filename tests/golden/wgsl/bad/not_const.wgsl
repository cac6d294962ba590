// expect: PC2410@4 PC2410@5 PC2410@6 PC2410@8 PC2410@9 PC2410@13 PC2410@14 PC2410@15
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
override b = 1u;
const d = b;
var<private> p = out[0];
override z = f();
fn f() -> u32 { return 1u; }
struct S { @size(b) a: u32 }
override large = array<u32, 65>()[b];
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	const a = i;
	const_assert i == 1u;
	switch i { case i: {} default: {} }
	let c = vec2u(b, b);
}
