// expect: PC2424@3
@group(0) @binding(2) var<storage> a: u32;
@group(0) @binding(2) var<uniform> b: u32;
@compute @workgroup_size(64)
fn main() { _ = a + b; }
