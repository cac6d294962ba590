// PER elements a word from words of one element each, of which the low bits count. In front of this text stands PER, 2 or 4; the bits of element k stand for the dollar.
@group(0) @binding(0) var<uniform> count: u32;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y)) {
		var word = 0u;
		for (var k = 0u; k < PER; k++) {
			if (PER * i + k < count) {
				word |= $ << (k * (32u / PER));
			}
		}
		y[i] = word;
	}
}
