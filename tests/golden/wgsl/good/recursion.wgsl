fn a(x: u32) -> u32 { return x; }
fn b() { c(); }
fn c() { _ = a(1u); }
@compute @workgroup_size(64)
fn main() { b(); }
