var<private> a: array<array<u32, 16>, 65536>;
struct S { @size(2147483) a: u32, b: u32 }
@compute @workgroup_size(64)
fn main() { }
