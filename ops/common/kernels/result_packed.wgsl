// PER elements of WIDTH bits a word, fewer than 8 bits each; what lies behind the last is zero.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y)) {
		var word = 0u;
		for (var part = 0u; part < PER; part++) {
			if (PER * i + part < params.count) {
				word |= product(PER * i + part) << (part * WIDTH);
			}
		}
		y[i] = word;
	}
}
