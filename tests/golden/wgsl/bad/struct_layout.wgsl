// expect: PC2429@2 PC2429@2 PC2429@2 PC2429@3 PC2404@4
struct S { @size(2) a: u32, @align(3) b: u32, @align(2) c: u32 }
struct E {}
struct R { a: array<u32>, b: u32 }
@compute @workgroup_size(64)
fn main() { }
