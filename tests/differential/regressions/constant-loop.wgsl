// SwiftShader: a loop whose bound it knew to be min(-7, 3) ran.
//! dispatch 3,1,1 inputs 5953689612710897803
//! binding 0:3 bytes 1536
var<private> p_i32: i32 = -7i;
@group(0) @binding(3) var<storage, read_write> out1: array<i64>;
@compute @workgroup_size(16, 4, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 64u + li;
for (var k5 = 0i; k5 < min(p_i32, 3i); k5++) {
out1[gi] = 0li;
}
}
