// PoCL's loops of work-items (POCL_WORK_GROUP_METHOD=loops, 3.1 and 5.0) gave other bits; lanes do not ask it.
//! dispatch 3,1,1 inputs 9417785011958270847
//! dispatch 1,1,2 inputs 15279311022190147385
//! dispatch 3,2,1 inputs 10857419948042696714
//! binding 0:0 bytes 432
struct S0 {
	m0: vec2<u64>,
	m1: i32,
}
var<private> p_bool: bool = true;
var<private> p_i32: i32 = -7i;
var<private> p_u32: u32 = 3u;
var<private> p_i64: i64 = -5li;
var<private> p_u64: u64 = 11lu;
var<private> pw: S0;
@group(0) @binding(0) var<storage, read_write> out0: array<u32>;
var<workgroup> wg: array<vec3<u32>, 18>;
var<workgroup> wa: array<atomic<u32>, 5>;
var<workgroup> wu: i32;
@compute @workgroup_size(3, 3, 2)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 18u + li;
var v0: u64 = pw.m0.y;
pw.m1 += (~p_i32);
if li == 0u { wu = select((pw.m1 << lid.y), countLeadingZeros(p_i32), p_bool); }
let b1 = workgroupUniformLoad(&wu);
p_bool = p_bool;
wg[li] = vec3<u32>((vec3<bool>(vec3<bool>()) != vec3<bool>(p_bool, true, false)));
workgroupBarrier();
p_u32 >>= li;
p_bool = (((p_i64 * 65li) - (p_i64 * (-9223372036854775807li))) > i64((32i + b1)));
workgroupBarrier();
var v2: vec3<i32> = bitcast<vec2<i32>>((vec2<i32>(347303317i, b1) | vec2<i32>(8i, b1))).yxy;
wg[li] = min((~vec2<u32>(65536u, gi)), (vec2<u32>(lid[1u], gid.r) % vec2<u32>(gid.z, nwg[wid.b]))).yyx;
workgroupBarrier();
switch ((lid.r % lid.g) % 7u) {
default: {
let v3 = (vec3<i64>(lid).x - p_i64);
_ = (v3 & p_i64);
}
case 0, 1: {
var v4: vec3<i32> = v2;
if bool((~select(p_u32, wg[((p_i32 << 0x14u) % 18i)].b, p_bool))) {
if ((!p_bool) && (!p_bool)) { break; }
let v5 = (v4 >= sign(v4));
var v6: vec4<i64> = vec4<i64>((vec2<i64>(p_i64) / vec2<i64>(vec2<i64>(p_i64))), 256li, p_i64);
} else if true {
} else {
}
}
case 2: {
}
}
workgroupBarrier();
var v7: vec3<u64> = select(max((vec3<u64>(p_u64) << nwg), (vec3<u64>(pw.m0, p_u64) + p_u64)), vec3<u64>((vec2<u64>(v0, v0) % vec2<u64>(p_u64, 18446744073709551608lu)), abs(pw.m0.g)), select(vec3<bool>(false, p_bool, p_bool), (!vec3<bool>(vec2<bool>(false, true), true)), (66700392952371li > p_i64)));
if bool((extractBits(p_i32, gi % 40u, 19u) | (v2[0u] | p_i32))) {
if bool((p_u32 & p_u32)) { return; }
} else {
}
out0[gi] = (~((gi + (wid[nwg[lid[2u]]] - 4271370383u)) << (min(lid[(li % 4u)], nwg[0u]) * (lid.r + gi))));
}
