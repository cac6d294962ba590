// PoCL 3.1: behind a switch with barriers some go on with the next turn, and all did what invocation 0 did (plugins/opencl/clc/ticks.c).
//! dispatch 3,1,1 inputs 15018717209138212180
//! dispatch 3,2,1 inputs 14844124144846245880
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
@compute @workgroup_size(32, 1, 1)
fn main(@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = (wid.y * nwg.x + wid.x) * 32u + li;
for (var k = li; k < 8u; k += 32u) {
flags[k] = inp[k] + k;
}
workgroupBarrier();
if workgroupUniformLoad(&flags[(wid.x + 0u) % 8u]) % 2u == 0u {
for (var turn0 = 0u; turn0 < 2u; turn0++) {
switch workgroupUniformLoad(&flags[(turn0 + 8u) % 8u]) % 4u {
default: {
for (var k1 = 0u; k1 < (li + 2u) % 4u; k1++) {
}
workgroupBarrier();
passed[li] = kept[2u];
workgroupBarrier();
total = total * 3u + passed[(li * 5u + 32u) % 32u];
switch (li + 1u) % 3u {
case 0u, 2u: {
total = total * 43u + kept[li % 4u];
}
default: {
}
}
}
case 2u: {
workgroupBarrier();
passed[li] = (total ^ 21u);
workgroupBarrier();
total = total * 3u + passed[(li + 10u) % 32u];
}
case 1u, 3u: {}
}
if li < 30u {
total = total * 7u + (li * 13u);
continue;
}
}
}
out[gi] = total + kept[1] + total;
}
