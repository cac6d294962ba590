// As quantize_words.wgsl, and a NaN, which the type has nothing for, is noted for each word.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let w = gid.y * 4194240u + gid.x;
	if (w < arrayLength(&y)) {
		var word = 0u;
		var found = 0u;
		for (var k = 0u; k < PER; k++) {
			let i = w * PER + k;
			if (i < params.count) {
				read(i);
				scaled(i);
				word |= u32(written()) << (k * TO_BITS);
				found |= select(0u, 1u, kind == NOT_A_NUMBER);
			}
		}
		y[w] = word;
		seen[w] = found;
	}
}
