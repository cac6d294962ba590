// The same of many matrices: tiles one after the other, from which matmul_gather.wgsl takes elements. In front: matmul_bytes_slots.wgsl.
fn panels_at(group: vec3<u32>) -> vec2<u32> {
	let c = corner(group.y * 65535u + group.x);
	return panels_of(c.x) + c.yz / 128u;
}

fn give(result: u32, group: vec3<u32>, lane: u32) {
	let first = (group.y * 65535u + group.x) * 16384u + result * 1024u;
	for (var i = 0u; i < 8u; i++) {
		temp[first + i * 128u + lane] = bitcast<u32>(room[lane / 32u * 256u + i * 32u + lane % 32u]);
	}
}
