// expect: PC2206@4
@compute @workgroup_size(64)
fn main() {
	if true { discard; }
}
