// Columns of b of bytes, packed (matmul_bytes.wgsl), a panel a workgroup, four columns a lane, and MORE times the sums of their bytes. In front: `four`, `bytes_of`, MORE.
@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let panel = group.y * 65535u + group.x;
	let n = words();
	var sums = vec4<i32>();
	for (var i = 0u; i < steps; i++) {
		if (i >= n) {
			break;
		}
		let f = four(panel * 64u, lane, i);
		packed[((panel * steps + i) * 16u) + lane] = f;
		sums += vec4<i32>(bytes_of(f.x), bytes_of(f.y), bytes_of(f.z), bytes_of(f.w));
	}
	more[panel * 16u + lane] = sums * MORE;
}
