// Each word mixed with its place.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(1) @binding(0) var<storage, read_write> mixed: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < arrayLength(&mixed)) {
		var x = words[id.x % max(arrayLength(&words), 1u)] ^ (id.x * 0x9e3779b9u);
		for (var i = 0u; i < 4u; i++) {
			x = (x ^ (x >> 15u)) * 0x2c1b3c6du;
		}
		mixed[id.x] = x;
	}
}
