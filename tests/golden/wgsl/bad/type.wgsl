// expect: PC2404@8 PC2404@9 PC2404@10 PC2404@11 PC2404@12 PC2404@13 PC2404@14 PC2404@15 PC2404@16 PC2404@17 PC2404@18 PC2405@20 PC2404@22
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(x: u32) {}
struct S { a: u32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a: u32 = 1i;
	let b: i32 = i;
	out[i] = 1i;
	out[1li] = 1u;
	if i { }
	let v: vec3<u32> = vec2(1u, 2u);
	let c: bool = 1;
	f(1i);
	var n;
	let ar = array(1u, 2i);
	let s = S(1i);
	var q = 1u;
	q += 1i;
	var w = vec2(1u);
	w.x *= w;
}
