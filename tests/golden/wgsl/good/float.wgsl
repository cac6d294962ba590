enable f16;
@group(0) @binding(0) var<storage, read_write> a: array<f32>;
const h = 1.5;
fn f(x: f16) -> vec3<f32> { return vec3f(f32(x)); }
var<private> m: mat4x4f;
@compute @workgroup_size(64)
fn main() {
	let x = 1.0 + 2f;
	let y = sqrt(4);
	let z = pack4x8unorm(vec4(x));
	let w = 0x1p4;
	let v = .5h;
	let u = 1e3;
	let t = bitcast<f32>(3u);
	let s: bf16 = 1;
	m = m * 2.0 + m * m;
	a[0] = x + y + w + f(v).z + u + t + f32(s) + f32(z) + h;
}
