// How often each of 16 low digits occurs.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(1) @binding(0) var<storage, read_write> counts: array<atomic<u32>, 16>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < arrayLength(&words)) {
		atomicAdd(&counts[words[id.x] & 15u], 1u);
	}
}
