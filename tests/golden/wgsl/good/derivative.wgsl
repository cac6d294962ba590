@compute @workgroup_size(64)
fn main() {
	let b = abs(1);
}
