// Four elements of 8 bits a word; the last word ends in zeros.
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y)) {
		var word = 0u;
		for (var part = 0u; part < 4u; part++) {
			if (4u * i + part < params.count) {
				word |= product(4u * i + part) << (part * 8u);
			}
		}
		y[i] = word;
	}
}
