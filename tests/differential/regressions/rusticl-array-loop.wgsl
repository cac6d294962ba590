// rusticl moved nested arrays wrongly in a loop.
//! dispatch 2,2,1 inputs 746916050307378577
//! binding 0:2 bytes 48
//! binding 0:4 bytes 960
struct U {
	m0: vec4<i32>,
	m1: i32,
	m2: vec3<u32>,
}
@group(0) @binding(2) var<uniform> un: U;
@group(0) @binding(4) var<storage, read_write> out1: array<array<array<U, 5>, 3>>;
@compute @workgroup_size(1, 1, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 1u + li;
out1[gi] = array<array<U, 5>, 3>();
}
