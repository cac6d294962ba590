// expect: PC2114@2 PC2114@3 PC2114@4 PC2114@5 PC2114@6 PC2114@7 PC2115@9 PC2115@10 PC2115@11 PC2115@12 PC2115@13 PC2115@14 PC2114@16
//# maxi u.n = 3
//# max u.n
//# max u.n = x
//# scale = 0
//# max dispatch = 1,2,3,4
//# use int.popcount
//# max u.n = 10
//# max u.n = 11
//# max u.q = 4
//# max w.n = 4
//# max s = 4
//# max u.v = 4
//# max u.n = 4294967296
struct U { n: u32, @align(16) v: vec4u }
//# scale = 10
@group(0) @binding(0) var<uniform> u: U;
@group(0) @binding(1) var<storage> s: u32;
@compute @workgroup_size(64)
fn main() { }
