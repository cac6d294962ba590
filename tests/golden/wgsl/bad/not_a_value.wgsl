// expect: PC2437@4 PC2437@5
@compute @workgroup_size(64)
fn main() {
	let a = vec3u;
	let b = abs;
}
