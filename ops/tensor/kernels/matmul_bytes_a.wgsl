// Rows of a of bytes, packed (matmul_bytes.wgsl), 8 of them a workgroup. In front: `word_at`.
@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let part = group.y * 65535u + group.x;
	let n = words();
	for (var r = 0u; r < 8u; r++) {
		let row = part * 8u + r;
		if (row >= params.count / params.n) {
			break;
		}
		let first = vec3<u32>(row / params.m, row % params.m, lane);
		for (var i = 0u; i < steps / 16u; i++) {
			if (i * 16u >= n) {
				break;
			}
			packed[(row * steps + i * 16u) + lane] = word_at(first + vec3<u32>(0u, 0u, i * 16u)) ^ 0x80808080u;
		}
	}
}
