@group(0) @binding(2) var<storage> a: u32;
@group(1) @binding(2) var<uniform> b: u32;
@compute @workgroup_size(64)
fn main() { }
