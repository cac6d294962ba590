@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(a: u32) {}
struct S { a: u32, b: u32 }
const x = 3;
var<private> y: u32;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a = 1u;
	let b = a + 1u;
	let c = (a);
	if a > 1u { out[0] = a * b; }
	if (a > b) { out[1] = 1u; } else { out[1] = 2u; }
	out[a] = 3u;
	a++;
	switch i { case 1u: { out[0] = 1u; } default: {} }
	out[i] = c;
}
fn g() -> u32 { f(1); return S(1u, 2u).a + y; }
