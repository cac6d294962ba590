// One more than the last result that is marked, in `last`, which is 0 before.
@group(0) @binding(0) var<storage, read> marks: array<u32>;
@group(0) @binding(1) var<storage, read_write> last: array<atomic<u32>>;
const MARK: u32 = 0xffffffffu;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	let i = id.y * 4194240u + id.x;
	if (i < arrayLength(&marks)) {
		if (marks[i] == MARK) {
			atomicMax(&last[0], i + 1u);
		}
	}
}
