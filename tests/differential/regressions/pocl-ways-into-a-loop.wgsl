// PoCL 3.1: a loop with barriers whose turns may pass none had ways in past its head, and the compiler died (plugins/opencl/clc/ticks.c).
//! dispatch 1,2,1 inputs 1528254927197522299
//! dispatch 2,1,1 inputs 4370830947133961975
//# max turns = 512
//! binding 0:0 bytes 256
//! binding 0:1 bytes 16
//! binding 0:2 bytes 264
//! binding 0:3 bytes 264
@group(0) @binding(0) var<storage, read> inp: array<u32>;
@group(0) @binding(1) var<uniform> params: vec4<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<storage, read_write> seen: array<u32>;
var<workgroup> flags: array<u32, 16>;
var<workgroup> passed: array<u32, 33>;
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
if (u + 8u) % 3u == 0u {
workgroupBarrier();
passed[li] = mine[li % 4u];
workgroupBarrier();
a = a * 3u + passed[(li * 5u + 10u) % 33u];
workgroupBarrier();
passed[li] = mine[2u];
workgroupBarrier();
a = a * 3u + passed[(li * 5u + 19u) % 33u];
mine[a % 4u] += mine[li % 4u];
return a * 3u + li;
}
workgroupBarrier();
passed[li] = inp[(gi * 1u + 3u) % 64u];
workgroupBarrier();
for (var k = 0u; k < 4u; k++) {
mine[k] ^= passed[(k + 6u) % 33u];
}
a ^= mine[u % 4u];
return a;
}
fn meet1(u: u32, v: u32, wid: vec3<u32>, li: u32, gi: u32) -> u32 {
var a = v;
if (wid.x + 6u) % 4u == 0u {
workgroupBarrier();
if li == 20u {
flags[7] = (li * 26u);
}
let said0 = workgroupUniformLoad(&flags[7]);
if li < 10u {
a ^= alone(kept[li % 4u], 57u);
}
} else {
a += meet0(workgroupUniformLoad(&flags[(u + 8u) % 8u]), inp[(gi * 3u + 29u) % 64u], wid, li, gi);
a ^= alone(inp[(gi * 1u + 9u) % 64u], 16u);
}
kept[a % 4u] += inp[(gi * 2u + 1u) % 64u];
return a;
}
@compute @workgroup_size(33, 1, 1)
fn main(@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = (wid.y * nwg.x + wid.x) * 33u + li;
for (var k = li; k < 8u; k += 33u) {
flags[k] = inp[k] + k;
}
workgroupBarrier();
var a = gi;
var mine: array<u32, 4>;
for (var k1 = 0u; k1 < (li + 2u) % 4u; k1++) {
a ^= alone(mine[li % 4u], 34u);
}
if (wid.x + 3u) % 2u != 1u {
out[gi] = a;
return;
}
var turn2 = 0u;
while turn2 < 4u {
turn2++;
mine[a % 4u] += (li * 29u);
for (var turn3 = 0u; turn3 < (params.x + 4u) % 4u; turn3++) {
workgroupBarrier();
passed[li] = mine[2u];
workgroupBarrier();
for (var k = 0u; k < 4u; k++) {
mine[k] ^= passed[(k + 19u) % 33u];
}
if ((turn3 + 5u) % 4u != 0u) || (workgroupUniformLoad(&flags[(turn2 + 5u) % 8u]) & 1u) == 0u {
a += meet1((turn3 + 7u), (li * 21u), wid, li, gi);
seen[gi] += (a ^ 26u);
break;
}
a += meet1(workgroupUniformLoad(&flags[(turn3 + 1u) % 8u]), (a ^ 21u), wid, li, gi);
seen[gi] += mine[1u];
}
}
a = a * 43u + (a ^ 14u);
out[gi] = a + mine[1] + total;
}
