// expect: PC2417@2 PC2417@3 PC2404@4 PC2417@6
fn a() -> u32 { return; }
fn b() { return 1u; }
fn c() -> u32 { return 1i; }
@compute @workgroup_size(64)
fn main() { return 3; }
