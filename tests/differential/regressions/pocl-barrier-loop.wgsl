// PoCL crashed while it compiled a workgroup of one invocation with barriers in a loop.
//! dispatch 2,1,1 inputs 7912362721391854141
var<workgroup> wg: array<vec4<u32>, 1>;
@compute @workgroup_size(1, 1, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 1u + li;
wg[li] = vec4<u32>();
workgroupBarrier();
for (var d = 1u; d < 2u; d <<= 1u) {
let other = wg[(li + d) % 1u];
workgroupBarrier();
wg[li] = wg[li] & other;
workgroupBarrier();
}
var scanned1 = wg[(li * 5u + 1u) % 1u];
workgroupBarrier();
wg[li] = scanned1;
}
