@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(x: u32) {}
struct S { a: u32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a: u32 = 1;
	let b: i32 = i32(i);
	out[i] = 1;
	out[u32(1li)] = 1u;
	if i > 0 { }
	let v: vec3<u32> = vec3(1, 2, 3);
	let c: bool = bool(1);
	f(1);
	var n: u32;
	let ar = array(1u, 2);
	let s = S(1);
	var q = 1u;
	q += 1;
	var w = vec2(1u);
	w *= w.x;
}
