// Which elements a workgroup of matmul_settle_main.wgsl looks after: those behind the ones of the workgroup before.
fn share_of(group: vec3<u32>) -> u32 {
	return group.y * 65535u + group.x;
}
