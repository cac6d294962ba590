// expect: PC2422@3 PC2422@3 PC2422@5
struct I { a: u32 }
struct S { a: u32, b: I, c: u32 }
@group(0) @binding(0) var<uniform> u: S;
@group(0) @binding(1) var<uniform> v: array<u32, 4>;
@compute @workgroup_size(64)
fn main() { }
