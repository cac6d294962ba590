// expect: PC2427@2 PC2427@4 PC2110@7
override a: vec2u;
@id(3) override b: u32;
@id(3) override c: u32;
@compute @workgroup_size(64)
fn main() {
	override d = 1;
}
