@compute @workgroup_size(64)
fn main() {
	for (var k = 0; k < 3; k++) { if k == 1 { break; } switch k { case 2: { continue; } default: { break; } } }
}
