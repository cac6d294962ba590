// expect: PC2110@3 PC2110@4 PC2110@5 PC2110@6 PC2110@10 PC2110@11 PC2110@12 PC2110@13 PC2110@14 PC2110@15 PC2110@16 PC2110@17 PC2110@17 PC2400@18
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(a: u32, { }
struct S { a: u32; b: u32 }
let x = 3;
var<private> y u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = 1u
	let b = a +;
	let c = (a;
	if a > 1u { out[0] = a b; }
	if (a b) { out[1] = 1u; } else { out[1] = 2u; }
	out[a = 3u;
	++a;
	switch i { case 1u: { out[0] = 1u } foo: {} default: {} }
	out[i] = nope;
}
fn g() -> u32 { return S(1u, 2u).a + y + f(1); }
