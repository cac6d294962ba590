// Quotients and remainders, signed, with divisors that are often zero.
@group(0) @binding(0) var<storage, read> words: array<i32>;
@group(1) @binding(0) var<storage, read_write> pairs: array<vec2<i32>>;

@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < arrayLength(&pairs) && arrayLength(&words) > 0u) {
		let x = words[id.x % arrayLength(&words)];
		let y = words[(id.x + 1u) % arrayLength(&words)] % 5;
		pairs[id.x] = vec2<i32>(x / y, x % y);
	}
}
