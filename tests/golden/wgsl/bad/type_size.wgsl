// expect: PC2436@2 PC2436@3
var<private> a: array<array<u32, 65536>, 65536>;
struct S { @size(2147483647) a: u32, b: u32 }
@compute @workgroup_size(64)
fn main() { }
