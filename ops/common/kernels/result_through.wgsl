// As result_words.wgsl: what the host makes of an element is written.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y)) {
		y[i] = write_through_0(i, product(i));
	}
}
