// PoCL 3.1: invocations leave an inner loop of a kernel with a barrier at turns of others (plugins/opencl/clc/loop.c).
//! dispatch 3,1,1 inputs 4856759173090842797
//! binding 0:0 bytes 272
//! binding 0:1 bytes 1280
//! binding 0:2 bytes 384
var<private> p_bool: bool = true;
var<private> p_i32: i32 = -7i;
var<private> p_u32: u32 = 3u;
@group(0) @binding(0) var<storage> in0: array<vec2<i32>>;
@group(0) @binding(2) var<storage, read_write> out0: array<vec4<i32>>;
var<workgroup> wg: array<u32, 8>;
@compute @workgroup_size(8, 1, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 8u + li;
var scanned4 = wg[(li * 5u + 1u) % 8u];
for (var k5 = 0u; k5 < 6u; k5++) {
var w6: array<i32, 32> = array<i32, 32>();
w6[0u] = 0i;
if ((!(out0[gi][(gid[nwg[0u]] % 5u)] <= 0i)) != p_bool) {
out0[gi].g >>= p_u32;
if (countTrailingZeros(w6[mat2x3<u32>()[gid[0u]][0u]]) < (p_i32 % in0[0u][0u])) { break; }
}
if (p_u32 > gi) { return; }
}
}
