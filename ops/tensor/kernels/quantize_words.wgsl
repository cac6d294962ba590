// A word of results; in front: PER, how many. What lies behind the last element is zero.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let w = gid.y * 4194240u + gid.x;
	if (w < arrayLength(&y)) {
		var word = 0u;
		for (var k = 0u; k < PER; k++) {
			let i = w * PER + k;
			if (i < params.count) {
				read(i);
				scaled(i);
				word |= u32(written()) << (k * TO_BITS);
			}
		}
		y[w] = word;
	}
}
