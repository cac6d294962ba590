// rusticl computed a remainder wrongly after an array in private memory was made zero in a loop.
//! dispatch 3,2,1 inputs 10897217365252116883
//! dispatch 2,1,1 inputs 9457945969634307553
//! override ov 50
//! binding 0:0 bytes 20
//! binding 0:1 bytes 1536
//! binding 0:2 bytes 2792
struct S0 {
	m0: i32,
}
struct S1 {
	m0: vec2<i32>,
	m1: S0,
}
struct S2 {
	m0: array<S1, 2>,
}
var<private> p_bool: bool = true;
var<private> p_i32: i32 = -7i;
var<private> p_u32: u32 = 3u;
var<private> p_i64: i64 = -5li;
var<private> p_u64: u64 = 11lu;
var<private> pv: S2;
override ov: u32 = 4u;
override on: i32 = -3;
@group(0) @binding(0) var<storage> in0: array<array<array<u32, 5>, 3>>;
@group(0) @binding(1) var<storage, read_write> out0: array<u32>;
@group(0) @binding(2) var<storage, read_write> out1: array<vec2<u32>>;
fn f0(a1: u32, a2: u32) -> u64 {
p_i64 = (~((2li - p_i64) + p_i64));
return 9223372036854775807lu;
}
fn f3(a4: vec3<u32>) -> vec2<i32> {
for (var k5 = 0u; k5 < 6u; k5++) {
p_u32 = ((bitcast<u32>(on) | (p_u32 % p_u32)) + k5);
}
return pv.m0[1u].m0;
}
@compute @workgroup_size(64, 1, 1)
fn main(@builtin(global_invocation_id) gid: vec3<u32>,
@builtin(local_invocation_id) lid: vec3<u32>,
@builtin(workgroup_id) wid: vec3<u32>,
@builtin(num_workgroups) nwg: vec3<u32>,
@builtin(local_invocation_index) li: u32) {
let gi = ((wid.z * nwg.y + wid.y) * nwg.x + wid.x) * 64u + li;
let v6 = bool((all(vec4<bool>(false)) == p_bool));
let v7 = countOneBits((u32(p_i64) & out1[gi].r));
_ = mat4x2<u64>(p_u64, f0(v7, p_u32), p_u64, u64(ov), 3lu, f0(1146815192u, nwg.g), (2lu ^ p_u64), p_u64);
_ = ((out1[gi] % vec2<u32>(li)) - vec2<u32>(gi, p_u32));
_ = p_bool;
out0[gi] = (u32(u32((pv.m0[(wid[1u] % 2u)].m0[0u] / p_i32))) % select(select(4294967041u, (out0[gi] & p_u32), any(vec2<bool>(p_bool, v6))), bitcast<u32>(countLeadingZeros(out0[gi])), (!(lid.g > out0[gi]))));
out1[gi] = countTrailingZeros((out1[gi] * (vec2<u32>(p_u32, p_u32) % vec2<u32>(58u))));
}
