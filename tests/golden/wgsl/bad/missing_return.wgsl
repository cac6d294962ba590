// expect: PC2416@2 PC2416@3 PC2416@4
fn a(x: u32) -> u32 { if x > 1u { return 1u; } }
fn b(x: u32) -> u32 { for (var k = 0u; k < 3u; k++) { return 1u; } }
fn c(x: i32) -> u32 { switch x { case 1: { break; } default: { return 1u; } } }
@compute @workgroup_size(64)
fn main() { }
