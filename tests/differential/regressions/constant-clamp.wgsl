// SwiftShader: min(max(x, -128), 127) of a constant kept in a private variable gave 127.
//! dispatch 1,1,1 inputs 7580645909604054969
//! binding 0:3 bytes 68
var<private> p_i32: i32 = -7i;
@group(0) @binding(3) var<storage, read_write> out0: array<u32>;
fn f2() -> i32 {
p_i32 = i32(pack4xI8Clamp(vec4<i32>(p_i32)));
return 0i;
}
@compute @workgroup_size(3, 3, 2)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 18u + li;
switch f2() {
default: {
}
}
out0[gi] = bitcast<u32>(p_i32);
}
