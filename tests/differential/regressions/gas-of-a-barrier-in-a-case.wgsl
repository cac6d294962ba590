// Released schedules price the case with barriers, the other one costs more: consensus-2 bounds both.
//! dispatch 1,1,1 inputs 8857388645368993913
var<private> p_u32: u32 = 3u;
var<workgroup> wf: array<u32, 8>;
var<workgroup> exchange0: array<u32, 128>;
var<private> held0: array<u32, 8>;
fn meet0(u: u32, li: u32, wid: vec3<u32>, x: u32) -> u32 {
for (var k = 0u; k < 8u; k++) {
held0[k] = exchange0[(k) % 128u];
}
return 0u;
}
var<workgroup> exchange2: array<u32, 128>;
var<private> held2: array<u32, 8>;
fn meet2(u: u32, li: u32, wid: vec3<u32>, x: u32) -> u32 {
workgroupBarrier();
exchange2[li] = 0u;
workgroupBarrier();
if (u * 5u + 6u) % 4u == 1u {
}
return 0u;
}
@compute @workgroup_size(128, 1, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 128u + li;
workgroupBarrier();
for (var k = li; k < 8u; k += 128u) {
wf[k] = 0u + k * 7u;
}
workgroupBarrier();
for (var turn7 = 0u; turn7 < 2u; turn7++) {
switch workgroupUniformLoad(&wf[(turn7 + 2u) % 8u]) % 4u {
case 1u, 2u: {
p_u32 = p_u32 * 33u + meet0(turn7, li, wid, 0u);
}
case 3u: {
p_u32 = p_u32 * 33u + meet2(turn7, li, wid, 0u);
}
default: {}
}
}
}
