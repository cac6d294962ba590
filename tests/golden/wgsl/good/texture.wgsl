@group(0) @binding(0) var<storage> t: array<u32>;
@compute @workgroup_size(64)
fn main() {
	let x = t[0];
	storageBarrier();
	return;
}
