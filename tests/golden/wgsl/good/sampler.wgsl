@group(0) @binding(1) var<uniform> s: u32;
@compute @workgroup_size(64)
fn main() { }
