fn a() -> u32 { return 1; }
fn b() { return; }
fn c() -> u32 { return u32(1i); }
@compute @workgroup_size(64)
fn main() { return; }
