fn a(x: u32) -> u32 { if x > 1u { return 1u; } else { return 2u; } }
fn b(x: u32) -> u32 { for (var k = 0u; k < 3u; k++) { return 1u; } return 2u; }
fn c(x: i32) -> u32 { switch x { case 1: { return 2u; } default: { return 1u; } } }
@compute @workgroup_size(64)
fn main() {
	_ = a(1u) + b(2u) + c(3);
}
