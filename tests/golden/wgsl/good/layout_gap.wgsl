// flags: consensus
struct S { @size(16) a: u32, @align(16) b: vec4u }
struct U { @size(12) a: vec3u, @size(4) b: u32, @size(16) c: u32 }
@group(0) @binding(0) var<storage> s: array<S>;
@group(0) @binding(1) var<storage> u: U;
@compute @workgroup_size(64)
fn main() { }
