// expect: PC2407@4 PC2407@5
@compute @workgroup_size(64)
fn main() {
	let a = bitcast<u32>(4294967296);
	let b = bitcast<u32>(-2147483649);
}
