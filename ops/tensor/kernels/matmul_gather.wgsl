// The result out of its tiles, four elements an invocation. In front: the layout of tiles; what is written for one stands for the dollar.
fn element(i: u32) -> vec3<u32> {
	let rest = i / params.n;
	return vec3<u32>(rest / params.m, rest % params.m, i % params.n);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let base = (group.y * 65535u + group.x) * 256u;
	var e = element(base + lane);
	for (var i = 0u; i < 4u; i++) {
		y[base + i * 64u + lane] = $;
		e.z += 64u;
		if (e.z >= params.n) { // a division is dear
			e = element(base + (i + 1u) * 64u + lane);
		}
	}
}
