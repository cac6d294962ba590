// expect: PC2205@4
@compute @workgroup_size(64)
fn main() {
	textureBarrier();
}
