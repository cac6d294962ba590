// expect: PC2406@8 PC2406@9 PC2406@10 PC2406@11 PC2406@12 PC2406@13 PC2406@14 PC2406@15 PC2406@16 PC2406@17 PC2406@18 PC2406@19 PC2406@20 PC2406@21 PC2406@22 PC2406@23 PC2406@24 PC2406@25 PC2431@26 PC2406@27 PC2406@28 PC2406@29 PC2406@30
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(x: u32) {}
struct S { a: u32, b: u32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = min(1u);
	let b = max(1u, 1i);
	let c = abs(true);
	f(1u, 2u);
	let d = vec3<u32>(1u, 2u);
	let e = S(1u);
	let g = select(1u, 2u, i);
	let h = arrayLength(out);
	let j = bitcast<vec2<u32>>(i);
	let k = sign(i);
	let l = extractBits(1u, 30u, 4u);
	let m = dot(i, i);
	let n = clamp(i, 5u, 4u);
	let o = array();
	let p = array<u32, 3>(1u, 2u);
	let q = u32(1u, 2u);
	let r = extractBits(1li, 0u, 1u);
	let s: vec2<u32, i32> = 1;
	let t = i<u32>(3);
	let u = workgroupUniformLoad(&out);
	let v = mat2x2<i32>(1, 2, 3);
	let w = all(i);
	let x = i32(vec2(1, 2));
}
