struct I { a: u32 }
struct S { a: u32, @align(16) b: I, @align(16) c: u32 }
@group(0) @binding(0) var<uniform> u: S;
@group(0) @binding(1) var<uniform> v: array<vec4u, 4>;
@group(0) @binding(2) var<storage> w: array<u32, 4>;
@compute @workgroup_size(64)
fn main() { }
