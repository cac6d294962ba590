// flags: consensus
//# max u.n = 8
struct U { @size(8) dims: vec2<u32>, @size(8) n: u32 }
@group(0) @binding(0) var<uniform> u: U;
@compute @workgroup_size(64)
fn main() { }
