// expect: PC2421@2 PC2421@3 PC2421@4 PC2421@5 PC2421@7 PC2421@9 PC2421@12
@group(0) @binding(0) var<storage> a: bool;
@group(0) @binding(1) var<uniform> b: array<vec4u>;
var<private> c: atomic<u32>;
var<workgroup> d: array<u32>;
override N = 4;
var<private> e: array<u32, N>;
struct S { x: vec2<bool> }
@group(0) @binding(2) var<storage> f: array<S>;
@compute @workgroup_size(64)
fn main() {
	var x: array<atomic<u32>, 2>;
}
