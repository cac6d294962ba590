// A loop with barriers that some workgroups take, of two and three dimensions, and stores behind. What takes no part in a workgroup reads
// zeros, and zero is what the loop is taken for.
override X: u32 = 3;
override Y: u32 = 2;
override Z: u32 = 1;

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
var<workgroup> flag: array<u32, 1>;

@compute @workgroup_size(X, Y, Z)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	var s = lane;
	if (lane == 0u) {
		flag[0] = group.x % 3u;
	}
	workgroupBarrier();
	if (workgroupUniformLoad(&flag[0]) == 0u) {
		for (var turn = 0u; turn < 200u; turn++) {
			workgroupBarrier();
			s = s * 5u + turn;
		}
	}
	results[group.x * X * Y * Z + lane] = s * 3u + 1u;
}
