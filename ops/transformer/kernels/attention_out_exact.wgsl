// ELEMENTS elements of a line a workgroup, each an exact sum. v[5].z: workgroups of a line. In front: attention_settle.wgsl, `rows`, `out`.
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let item = group / params.v[5].z;
	for (var e = 0u; e < ELEMENTS; e++) {
		settle(item / params.v[3].y, item % params.v[3].y, group % params.v[5].z * ELEMENTS + e, lane);
		if (lane < 1u) {
			if (group * ELEMENTS + e < arrayLength(&out)) {
				out[group * ELEMENTS + e] = divided(sum_round(), rows[item].y);
			}
		}
	}
}
