// expect: PC2213@2 PC2213@4
fn a(x: u32) -> u32 { return a(x); }
fn b() { c(); }
fn c() { b(); }
@compute @workgroup_size(64)
fn main() { b(); }
