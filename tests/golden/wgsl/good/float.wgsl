@group(0) @binding(0) var<storage, read_write> a: array<u32>;
const h = 15;
fn f(x: u32) -> vec3<u32> { return vec3(x); }
var<private> m: mat4x4<i32>;
@compute @workgroup_size(64)
fn main() {
	let x = 1 + 2;
	let y = max(4, 1);
	let z = pack4xU8(vec4(1u));
	let w = 0x1e4;
	let t = bitcast<i32>(3u);
	a[0] = u32(x);
}
