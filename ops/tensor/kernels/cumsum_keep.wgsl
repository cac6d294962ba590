// Sums as they are.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < params.count && i < arrayLength(&y)) {
		clear();
		gather(i);
		finish(i);
	}
}
