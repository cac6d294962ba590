override a: u32;
@id(3) override b: u32;
@id(4) override c: bool = true;
override d: i64 = 3;
@compute @workgroup_size(64)
fn main() { }
