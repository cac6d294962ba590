// rules 1: PC2424@5 PC2424@6
// A binding belongs to what the entry point uses; a variable that it does not use takes nobody's place.
@group(0) @binding(2) var<storage> a: u32;
@group(1) @binding(2) var<uniform> b: u32;
@group(1) @binding(2) var<storage, read_write> unused: array<f32>;
@group(1) @binding(2) var<uniform> unused_too: vec4<i32>;
fn idle() { unused[0] = 1.0; }
@compute @workgroup_size(64)
fn main() { _ = a + b; }
