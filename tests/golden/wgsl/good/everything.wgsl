//# max uniforms.iteration_count = 64
//# max dispatch = 1024,1024,1
//# scale = 1000000
requires packed_4x8_integer_dot_product;
diagnostic(off, derivative_uniformity);
struct Params { iteration_count: u32, n: u32, @align(16) v: vec4<u32>, m: mat2x2<i32>, }
@group(0) @binding(1) var<uniform> uniforms: Params;
@group(0) @binding(0) var<storage, read> input: array<vec4<u32>>;
@group(1) @binding(0) var<storage, read_write> output: array<vec4<u32>>;
struct Counters { hits: atomic<u32>, low: atomic<i32>, data: array<u32> }
@group(1) @binding(1) var<storage, read_write> counters: Counters;
override BLOCK: u32 = 64;
@id(7) override HALF: u32 = BLOCK / 2u;
override flag: bool = true;
const N = 8;
const M: u32 = N * 2;
const TABLE = array(1u, 3u, 5u, 7u);
const_assert N == 8 && M == 16u;
alias Vec = vec4<u32>;
var<workgroup> tile: array<u32, BLOCK>;
var<workgroup> wcount: atomic<u32>;
var<private> counter: u32 = 3u;
var<private> other: i32;
struct In { @builtin(global_invocation_id) gid: vec3u, @builtin(local_invocation_index) lid: u32 }

fn helper(x: u32, y: i32) -> u32 { return later(x) + u32(y); }
fn later(x: u32) -> u32 {
  if (x == 0u) { return 1u; } else if x > 10u { return 2u; } else { return x; }
}
fn sideeffect() -> bool { counter += 1u; return counter > 4u; }
fn sw(x: i32) -> i32 {
  switch x {
    case 1, 2: { return 5; }
    case 3 { other = 4; }
    case default, 7: { return 8; }
  }
  return other;
}
fn wide(a: i64, b: u64) -> i64 { return a / 3li + i64(b) * 1000000 - bitcast<i64>(b); }
@compute @workgroup_size(BLOCK, 1)
fn main(in: In, @builtin(workgroup_id) wid: vec3<u32>) {
  let i = in.gid.x;
  var acc = vec4<u32>();
  for (var k = 0u; k < min(uniforms.iteration_count, 64u) && input[k].x != 0u; k++) {
    acc += input[k] * 2u;
    if (acc.x > 100u) { continue; }
    if ((sideeffect() && i < 4u) || acc.y == 3u) { break; }
  }
  let v = vec3(1, 2, 3);
  let w: vec3<u32> = vec3(1, 2, 3);
  var m = mat2x2<i32>(1, 2, 3, 4);
  m = m * uniforms.m + m * 2;
  let mv = m * vec2<i32>(1, 2);
  acc.x = u32(mv.x + v.y) + w.z + TABLE[i % 4u] + M;
  let p = &output[i];
  *p = acc.wzyx;
  (*p).x += 3u;
  p.y = select(1u, 2u, i > 3u);
  tile[in.lid] = helper(i, -3);
  workgroupBarrier();
  if (in.lid < HALF && flag) { tile[in.lid] ^= tile[in.lid + HALF]; }
  storageBarrier();
  atomicAdd(&counters.hits, 1u);
  let old = atomicMax(&counters.low, -5);
  let r = atomicCompareExchangeWeak(&counters.hits, 3u, 4u);
  if (r.exchanged) { atomicStore(&wcount, r.old_value); }
  _ = atomicLoad(&wcount);
  _ = old;
  let len = arrayLength(&counters.data);
  if (len > 3) { counters.data[len - 1] = countOneBits(len) + dot(vec2(1u, 2u), vec2(len, 3u)) + extractBits(len, 3u, 4); }
  let u = workgroupUniformLoad(&tile[0]);
  let z = unpack4xI8(u);
  counters.data[0] = pack4xU8(vec4(u)) + bitcast<u32>(dot4I8Packed(u, u)) + bitcast<u32>(z.x);
  var arr = array<i32, 3>(1, 2, 3);
  arr[i] = sw(arr[i % 3u]) << (i & 3u);
  let q = arr[1] >> 2;
  let s = 1 << i;
  var x64 = wide(q64(i), 5lu);
  x64 -= 1;
  output[i].z = u32(x64) + u32(q) + u32(s);
  return;
  let dead = 3;
}
fn q64(x: u32) -> i64 { return i64(x) * -1li; }
