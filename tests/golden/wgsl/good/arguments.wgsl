@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(x: u32) {}
struct S { a: u32, b: u32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = min(1u, 2);
	let b = max(1u, 1);
	let c = abs(-1);
	f(1u);
	let d = vec3<u32>(vec2(1u), 2u);
	let e = S(1u, 2u);
	let g = select(1u, 2u, i > 1);
	let h = arrayLength(&out);
	let j = bitcast<vec2<u32>>(5lu);
	let k = sign(-1i);
	let l = extractBits(1u, 28u, 4u);
	let m = dot(vec2(i), vec2(i));
	let n = clamp(i, 4u, 5u);
	let o = array(1);
	let p = array<u32, 3>(1u, 2u, 3);
	let q = u32(1u);
	let v = mat2x2<i32>(1, 2, 3, 4);
	let w = all(vec2(true));
}
