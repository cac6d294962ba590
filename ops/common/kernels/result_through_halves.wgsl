// As result_halves.wgsl: what the host makes of an element is written.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y)) {
		var word = 0u;
		for (var half = 0u; half < 2u; half++) {
			if (2u * i + half < params.count) {
				word |= write_through_0(2u * i + half, product(2u * i + half)) << (half * 16u);
			}
		}
		y[i] = word;
	}
}
