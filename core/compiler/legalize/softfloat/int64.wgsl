// Products and quotients of 64-bit integers held as two 32-bit words, least significant first (int64_), and quotients of
// those a device has (div64_). Called, never inlined here, by what core/compiler/legalize makes of a 64-bit multiplication, division or
// remainder.
// Division by zero gives 0 and leaves 0; the lowest number by -1 gives itself and leaves 0.

fn int64_mul(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let a0 = a.x & 0xffffu;
  let a1 = a.x >> 16u;
  let b0 = b.x & 0xffffu;
  let b1 = b.x >> 16u;
  let p00 = a0 * b0;
  let p01 = a0 * b1;
  let p10 = a1 * b0;
  let middle = (p00 >> 16u) + (p01 & 0xffffu) + (p10 & 0xffffu);
  let low = (p00 & 0xffffu) | (middle << 16u);
  let high = a1 * b1 + (p01 >> 16u) + (p10 >> 16u) + (middle >> 16u);
  return vec2<u32>(low, high + a.x * b.y + a.y * b.x);
}

fn int64_negate(a: vec2<u32>) -> vec2<u32> {
  let low = 0u - a.x;
  return vec2<u32>(low, ~a.y + select(0u, 1u, low == 0u));
}

fn int64_zeros(a: vec2<u32>) -> u32 {
  return select(countLeadingZeros(a.y), 32u + countLeadingZeros(a.x), a.y == 0u);
}

fn int64_shift(a: vec2<u32>, n: u32) -> vec2<u32> {
  let s = n & 31u;
  let carried = (a.x >> 1u) >> (31u - s);
  return select(vec2<u32>(a.x << s, (a.y << s) | carried), vec2<u32>(0u, a.x << s), n >= 32u);
}

// A divisor below 2^16: four digits of 16 bits, each by a division of 32 bits.
fn int64_short(a: vec2<u32>, b: u32) -> vec4<u32> {
  let q3 = (a.y >> 16u) / b;
  let t2 = (((a.y >> 16u) % b) << 16u) | (a.y & 0xffffu);
  let q2 = t2 / b;
  let t1 = ((t2 % b) << 16u) | (a.x >> 16u);
  let q1 = t1 / b;
  let t0 = ((t1 % b) << 16u) | (a.x & 0xffffu);
  return vec4<u32>((q1 << 16u) | (t0 / b), (q3 << 16u) | q2, t0 % b, 0u);
}

// Quotient in xy, remainder in zw.
fn int64_divmod(a: vec2<u32>, b: vec2<u32>) -> vec4<u32> {
  if ((b.x | b.y) == 0u) {
    return vec4<u32>(0u, 0u, 0u, 0u);
  }
  if ((a.y | b.y) == 0u) {
    return vec4<u32>(a.x / b.x, 0u, a.x % b.x, 0u);
  }
  if (b.y == 0u && b.x < 0x10000u) {
    return int64_short(a, b.x);
  }
  let zeros_a = int64_zeros(a);
  let zeros_b = int64_zeros(b);
  if (zeros_b < zeros_a) {
    return vec4<u32>(0u, 0u, a.x, a.y);
  }
  // Shift and subtract over as many bits as the quotient can have.
  let steps = zeros_b - zeros_a;
  var d = int64_shift(b, steps);
  var r = a;
  var q = vec2<u32>(0u, 0u);
  for (var i = 0u; i < 64u; i = i + 1u) {
    if (i > steps) {
      break;
    }
    q = vec2<u32>(q.x << 1u, (q.y << 1u) | (q.x >> 31u));
    if (r.y > d.y || (r.y == d.y && r.x >= d.x)) {
      r = vec2<u32>(r.x - d.x, r.y - d.y - select(0u, 1u, r.x < d.x));
      q.x = q.x | 1u;
    }
    d = vec2<u32>((d.x >> 1u) | (d.y << 31u), d.y >> 1u);
  }
  return vec4<u32>(q.x, q.y, r.x, r.y);
}

fn int64_magnitude(a: vec2<u32>) -> vec2<u32> {
  return select(a, int64_negate(a), (a.y >> 31u) == 1u);
}

fn int64_udiv(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return int64_divmod(a, b).xy;
}

fn int64_umod(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return int64_divmod(a, b).zw;
}

fn int64_sdiv(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let q = int64_divmod(int64_magnitude(a), int64_magnitude(b)).xy;
  return select(q, int64_negate(q), ((a.y ^ b.y) >> 31u) == 1u);
}

fn int64_smod(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let r = int64_divmod(int64_magnitude(a), int64_magnitude(b)).zw;
  return select(r, int64_negate(r), (a.y >> 31u) == 1u);
}

// ---- quotients of 64-bit integers that are native but for their division: two digits of 16 bits at a time, each
// estimated by the upper half of the divisor and at most 2 too large (Knuth, TAOCP 2, 4.3.1).

// floor(n / d) for a d whose top bit is set and n below d 2^32.
fn div64_narrow(n: u64, d: u32) -> u32 {
  let top = d >> 16u;
  let wide = u64(d);
  let upper = n >> 16u;
  var q1 = min(u32(n >> 32u) / top, 0xffffu);
  var part = u64(q1) * wide;
  if (part > upper) {
    q1 -= 1u;
    part -= wide;
  }
  if (part > upper) {
    q1 -= 1u;
    part -= wide;
  }
  let rest = ((upper - part) << 16u) | (n & 0xfffflu);
  var q0 = min(u32(rest >> 16u) / top, 0xffffu);
  part = u64(q0) * wide;
  if (part > rest) {
    q0 -= 1u;
    part -= wide;
  }
  if (part > rest) {
    q0 -= 1u;
  }
  return (q1 << 16u) | q0;
}

// A divisor of two words is cut to its upper 32 bits and half the dividend taken, which gives the quotient or one more
// (Warren, Hacker's Delight, 9-5); the remainder decides.
fn div64_udiv(a: u64, b: u64) -> u64 {
  let low = u32(b);
  let high = u32(b >> 32u);
  let over = u32(a >> 32u);
  if (high == 0u) {
    if (low == 0u) {
      return 0lu;
    }
    if (over == 0u) {
      return u64(u32(a) / low);
    }
    let q1 = over / low;
    let s = countLeadingZeros(low);
    let rest = (u64(over - q1 * low) << 32u) | (a & 0xfffffffflu);
    return (u64(q1) << 32u) | u64(div64_narrow(rest << s, low << s));
  }
  let s = countLeadingZeros(high);
  var q = (u64(div64_narrow(a >> 1u, u32((b << s) >> 32u))) << s) >> 31u;
  if (q != 0lu) {
    q -= 1lu;
  }
  if (a - q * b >= b) {
    q += 1lu;
  }
  return q;
}

fn div64_umod(a: u64, b: u64) -> u64 {
  return select(a - div64_udiv(a, b) * b, 0lu, b == 0lu);
}

fn div64_magnitude(a: i64) -> u64 {
  return select(bitcast<u64>(a), 0lu - bitcast<u64>(a), a < 0li);
}

fn div64_sdiv(a: i64, b: i64) -> i64 {
  let q = div64_udiv(div64_magnitude(a), div64_magnitude(b));
  return bitcast<i64>(select(q, 0lu - q, (a ^ b) < 0li));
}

fn div64_smod(a: i64, b: i64) -> i64 {
  let r = div64_umod(div64_magnitude(a), div64_magnitude(b));
  return bitcast<i64>(select(r, 0lu - r, a < 0li));
}

// Every form is reachable from an entry point, so that none is dropped.
@group(0) @binding(0) var<storage, read_write> sink: vec2<u32>;
@group(0) @binding(1) var<storage, read_write> div64_sink: vec2<u64>;

@compute @workgroup_size(1)
fn keep() {
  let a = sink;
  sink = int64_mul(a, int64_udiv(a, int64_umod(a, int64_sdiv(a, int64_smod(a, a)))));
  let u = div64_sink.x;
  let i = bitcast<i64>(div64_sink.y);
  div64_sink.x = div64_udiv(u, div64_umod(u, u));
  div64_sink.y = bitcast<u64>(div64_sdiv(i, div64_smod(i, i)));
}
