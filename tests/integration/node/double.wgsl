//# max dispatch = 16,1,1
// Every word doubled.
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(1) @binding(0) var<storage, read_write> doubled: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < arrayLength(&doubled)) {
		doubled[id.x] = words[id.x] * 2u;
	}
}
