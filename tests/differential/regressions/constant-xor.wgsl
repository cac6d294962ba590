// SwiftShader: the exclusive or of vectors that it knew to be constant gave 0.
//! dispatch 1,1,1 inputs 14796816752007825316
//! binding 0:4 bytes 3072
var<private> p_i32: i32 = -7i;
@group(0) @binding(4) var<storage, read_write> out1: array<vec4<i32>>;
@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 64u + li;
var v3: vec3<i32> = (vec3<i32>(vec2<i32>(), p_i32) ^ vec3<i32>(p_i32));
out1[gi] = vec4<i32>(0i, 0i, 0i, v3[0u]);
}
