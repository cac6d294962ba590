//# max u.n = 64
//# max w = 0x10
//# scale = 1_000_000
//# max dispatch = 1024,1024,1
struct U { n: u32, @align(16) v: vec4u }
@group(0) @binding(0) var<uniform> u: U;
@group(0) @binding(1) var<uniform> w: i32;
// # not metadata
@compute @workgroup_size(64)
fn main() { }
