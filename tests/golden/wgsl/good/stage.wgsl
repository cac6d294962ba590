fn v() { }
struct S { a: u32 }
@compute @workgroup_size(64)
fn main() { }
