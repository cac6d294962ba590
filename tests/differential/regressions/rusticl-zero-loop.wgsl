// rusticl crashed while it compiled a loop that makes an array zero.
//! dispatch 2,1,1 inputs 914332450709738563
//! dispatch 2,1,1 inputs 9034012031165745921
//! binding 0:0 bytes 44
//! binding 0:1 bytes 4
//! binding 0:2 bytes 5616
//! binding 0:3 bytes 512
struct S0 {
	m0: u32,
}
var<private> p_bool: bool = true;
var<private> p_i32: i32 = -7i;
var<private> p_u32: u32 = 3u;
var<private> pv: array<u32, 5>;
@group(0) @binding(0) var<storage> in0: array<u32>;
struct U {
	m0: u32,
}
@group(0) @binding(1) var<uniform> un: U;
@group(0) @binding(2) var<storage, read_write> out0: array<mat3x3<i32>>;
@group(0) @binding(3) var<storage, read_write> out1: array<array<u32, 4>>;
fn f0() -> u32 {
_ = (p_i32 << pack4xU8(vec4<u32>(vec3<u32>(p_u32, pv[2u], pv[0u]), 4251087643u)));
return 2147483648u;
}
fn f1() -> i32 {
p_bool = (arrayLength(&out0) < firstTrailingBit((pv[0u] / 161u)));
return bitcast<i32>((sign(p_i32) * (p_i32 ^ 0i)));
}
fn f2(a3: vec4<i32>, a4: u32, a5: u32) -> vec2<i32> {
let v6 = vec4<bool>(select((vec4<u32>(p_u32, pv[2u], pv[3u], 2147483647u) ^ vec4<u32>()), vec4<u32>(pv[(a5 % 5u)], in0[((in0[(firstTrailingBit(a5) % 65u)] | a5) % 64u)], 2147483648u, p_u32), p_bool));
return vec2<i32>(p_i32, p_i32);
}
fn f7() -> i32 {
let q8 = &pv;
let v9 = (!false);
pv[((pv[3u] + p_u32) % 5u)] = ((pv[(un.m0 / 0xc7u)] % (pv[(max(pv[pv[(f0() % 5u)]], p_u32) % 6u)] & p_u32)) + pv[4u]);
p_u32 = ((select((*q8)[min(vec3<u32>(vec2<u32>(), (*q8)[2u]).y, 4u)], (*q8)[2u], p_bool) + in0[33u]) + 2078716483u);
return 15i;
}
var<workgroup> wg: array<u32, 64>;
var<workgroup> wa: array<atomic<u32>, 5>;
var<workgroup> wu: i32;
@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 64u + li;
p_i32 = 32768i;
wg[li] = 2u;
workgroupBarrier();
workgroupBarrier();
p_u32 = (((in0[(clamp(pv[((out0[gi][((pv[((out0[gi][((out1[gi][(in0[gi] % 4u)] >> 27u) % 4u)][min(wid[1u], 2u)] << gid.r) % 5i)] ^ p_u32) % 3u)][(out1[gi][1u] % 3u)] - p_i32) % 5i)], li, li) % 64u)] & out1[gi][(u32(p_i32) % 5u)]) / countOneBits(gi)) + reverseBits(nwg).z);
if (pv[((un.m0 % 191u) % 6u)] == insertBits(abs(nwg.r), (~2147483648u), wid[2u], 18u)) {
pv[2u] -= (arrayLength(&out0) - u32(out0[gi][2u][1u]));
} else {
}
wg[li] = 32767u;
workgroupBarrier();
for (var d = 1u; d < 65u; d <<= 1u) {
let other = wg[(li + d) % 64u];
workgroupBarrier();
wg[li] = wg[li] * other;
workgroupBarrier();
}
var scanned10 = wg[(li * 5u + 1u) % 64u];
workgroupBarrier();
_ = un;
for (var k11 = 1u; k11 < 18u; k11 <<= 1u) {
var v12: vec2<u32> = (vec2<u32>(select(gi, 65u, p_bool)) ^ (bitcast<vec2<u32>>(vec2<u32>(p_u32, pv[2u])) + countOneBits(vec2<u32>(nwg[(gid[(k11 % 4u)] % 3u)], gid[2u]))));
v12.r *= out1[gi][u32(li)];
p_i32 = (f1() + select((-3i), (1479531838i - p_i32), p_bool));
}
wg[li] = pv[3u];
workgroupBarrier();
for (var d = 1u; d < 65u; d <<= 1u) {
let other = wg[(li + d) % 64u];
workgroupBarrier();
wg[li] = wg[li] | other;
workgroupBarrier();
}
var scanned13 = wg[(li * 5u + 1u) % 64u];
workgroupBarrier();
storageBarrier();
out0[gi][min(u32(gi), 2u)].x %= select((-(p_i32 - out0[gi][un.m0][1u])), f1(), all((!vec4<bool>(vec2<bool>(p_bool, p_bool), p_bool, true))));
_ = vec3<bool>(p_bool);
for (var k14 = 1u; k14 < 18u; k14 <<= 1u) {
let v15 = select(k14, f0(), (gid[(out0[gi][min((nwg[1u] + scanned10), 2u)].r % 3i)] != (scanned10 / 76u)));
{
let v16 = (nwg / select((gid | lid), abs(wid), (p_bool && p_bool)));
{
_ = out0[gi][2u][(p_i32 % 3i)];
pv[2u] = v15;
if (dot(vec4<i32>(p_i32), vec4<i32>(i32(-2147483648), out0[gi][(countTrailingZeros(k14) % 3u)][1u], out0[gi][(p_i32 % 3i)].r, 305419896i)) < p_i32) { continue; }
}
}
}
out0[gi] = out0[gi];
out1[gi] = array<u32, 4>((~((out1[gi][3u] - gid.y) + (pv[bitcast<u32>(in0[gi])] << scanned10))), (u32(countLeadingZeros(li)) | (un.m0 - (scanned13 + pv[(select(out0[gi][0u].r, out0[gi][2u].z, p_bool) % 5i)]))), p_u32, wid[1u]);
}
