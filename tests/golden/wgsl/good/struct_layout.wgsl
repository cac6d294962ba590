struct S { @size(8) a: u32, @align(16) b: u32 }
struct R { b: u32, a: array<u32> }
@compute @workgroup_size(64)
fn main() { }
