@compute @workgroup_size(64)
fn main() {
	let a = vec3u();
	let b = abs(1);
}
