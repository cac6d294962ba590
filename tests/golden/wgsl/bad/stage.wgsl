// expect: PC2214@3 PC2214@4 PC2214@5 PC2214@6
// flags: consensus
fn r() -> @location(0) u32 { return 1u; }
@vertex fn v() { }
@fragment fn f() { }
struct S { @location(0) a: u32 }
@compute @workgroup_size(64)
fn main() { }
