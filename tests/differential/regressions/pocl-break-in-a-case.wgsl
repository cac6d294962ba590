// PoCL 3.1: cases with barriers are left early, in functions that return early, too (plugins/opencl/clc/ticks.c).
//! dispatch 3,2,1 inputs 14536219849314266967
//! dispatch 3,1,1 inputs 5271217758973029995
//# max turns = 512
//! binding 0:0 bytes 256
//! binding 0:1 bytes 16
//! binding 0:2 bytes 768
//! binding 0:3 bytes 768
@group(0) @binding(0) var<storage, read> inp: array<u32>;
@group(0) @binding(1) var<uniform> params: vec4<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<storage, read_write> seen: array<u32>;
var<workgroup> flags: array<u32, 16>;
var<workgroup> passed: array<u32, 32>;
var<private> kept: array<u32, 4>;
var<private> total: u32;
fn alone(v: u32, n: u32) -> u32 {
if v % 5u == 1u {
return v * n;
}
total += n;
return v + n;
}
fn meet0(u: u32, v: u32, wid: vec3<u32>, li: u32, gi: u32) -> u32 {
var a = v;
var mine: array<u32, 4>;
for (var turn0 = 2u; turn0 > 0u; turn0--) {
workgroupBarrier();
passed[li] = (a ^ 38u);
workgroupBarrier();
for (var k = 0u; k < 4u; k++) {
mine[k] ^= passed[(k + 3u) % 32u];
}
workgroupBarrier();
if li == 15u {
flags[6] = (a ^ 9u);
}
let said1 = workgroupUniformLoad(&flags[6]);
}
if li == 14u {
mine[a % 4u] += (li * 11u);
return a + 7u;
}
a ^= mine[u % 4u];
return a;
}
fn meet1(u: u32, v: u32, wid: vec3<u32>, li: u32, gi: u32) -> u32 {
var a = v;
var mine: array<u32, 4>;
switch workgroupUniformLoad(&flags[(u + 1u) % 8u]) % 4u {
default: {
a = a * 25u + mine[li % 4u];
if workgroupUniformLoad(&flags[(u + 3u) % 8u]) % 2u == 0u {
a ^= alone(mine[1u], 49u);
break;
}
}
case 2u: {
a += meet0((u + 0u), inp[(gi * 3u + 5u) % 64u], wid, li, gi);
}
case 1u, 3u: {}
}
if (li & 1u) == 0u {
a = a * 41u + mine[li % 4u];
return a * 3u + li;
}
a ^= mine[u % 4u];
return a;
}
@compute @workgroup_size(32, 1, 1)
fn main(@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = (wid.y * nwg.x + wid.x) * 32u + li;
for (var k = li; k < 8u; k += 32u) {
flags[k] = inp[k] + k;
}
workgroupBarrier();
total += meet1(workgroupUniformLoad(&flags[(wid.x + 8u) % 8u]), kept[li % 4u], wid, li, gi);
if (params.y + 4u) % 4u == 1u {
total += meet0((wid.x + 7u), inp[(gi * 1u + 12u) % 64u], wid, li, gi);
switch workgroupUniformLoad(&flags[(wid.x + 0u) % 8u]) % 4u {
case 0u, 3u: {
workgroupBarrier();
passed[li] = (total ^ 20u);
workgroupBarrier();
total = total * 3u + passed[(li * 5u + 31u) % 32u];
}
case 1u, default: {
if li < 7u {
out[gi] = total;
return;
}
}
}
}
total = total * 21u + (li * 38u);
out[gi] = total + kept[1] + total;
}
