// expect: PC2200@2 PC2200@3 PC2200@4 PC2200@4 PC2200@5 PC2200@8 PC2200@8 PC2200@9 PC2200@10 PC2200@11 PC2200@12 PC2200@13 PC2200@14 PC2200@14
@group(0) @binding(0) var<storage, read_write> a: array<f32>; // flags: consensus
const h = 1.5;
fn f(x: f16) -> vec3<f32> { return x; }
var<private> m: mat4x4f;
@compute @workgroup_size(64)
fn main() {
	let x = 1.0 + 2f;
	let y = sqrt(4);
	let z = pack4x8unorm(x);
	let w = 0x1p4;
	let v = .5h;
	let u = 1e3;
	let t = bitcast<f32>(3u); let x2: bf16 = 1;
	a[0] = x;
}
