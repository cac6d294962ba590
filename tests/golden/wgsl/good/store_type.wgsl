@group(0) @binding(0) var<storage> a: u32;
@group(0) @binding(1) var<uniform> b: array<vec4u, 4>;
var<workgroup> c: atomic<u32>;
var<workgroup> d: array<u32, 4>;
override N = 4;
var<workgroup> e: array<u32, N>;
struct S { x: vec2<bool> }
var<private> f: array<S, 2>;
@compute @workgroup_size(64)
fn main() {
	var x: array<bool, 2>;
}
