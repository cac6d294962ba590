// expect: PC2115@2
//# max u.n = 4
struct U { n: f32, m: u32 }
@group(0) @binding(0) var<uniform> u: U;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@compute @workgroup_size(1) fn main() { for (var i = 0u; i < u.m; i++) { a[i] = u.n; } }
