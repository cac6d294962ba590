@group(0) @binding(0) var<storage, read_write> out: array<u32>;
override b = 1u;
const d = 1;
var<private> p = b + d;
override z = select(1u, 2u, b > 3u && b < 9u);
struct S { @size(d + 3) a: u32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	const a = 3;
	let e = i;
	const_assert a == 3;
	switch i { case 1: {} default: {} }
	let c = vec2u(b, b);
}
