// expect: PC2204@4
@compute @workgroup_size(64)
fn main() {
	let b = fwidth(1);
}
