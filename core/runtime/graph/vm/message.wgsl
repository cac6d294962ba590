// The message of one register into another.
override n: u32 = 4u;
@group(0) @binding(0) var<storage, read> from_register: array<u32>;
@group(0) @binding(1) var<storage, read_write> to_register: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < n) {
		to_register[id.x] = from_register[id.x];
	}
}
