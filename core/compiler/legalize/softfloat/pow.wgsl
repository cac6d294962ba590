// pow, rounded correctly to f32, f16 and bf16.
//
// x = 2^k m with m in [0.705, 1.41), s = (m - 1)/(m + 1); x^y = 2^(y (k + s P(s^2))), 2^r by a polynomial on [-1/2, 1/2].
// The fast phase is plain f64, P's error 2^-55.9: log2 x is within 2^-51.6 of itself, y log2 x below 2^7.3, the
// result within 2^-44.4. Where moving it by 2^-43 either way rounds differently (about 2^-17 of all arguments), pow_odd
// decides: exact results and ties by integer reasoning, all others by sums of two doubles with an error below 2^-94.
// No table but of coefficients: tables in constant memory cost an H200 more than terms. (sollya/pow.sollya)

// 2^r by powers of r.
const POW_EXP = array<f64, 24>(
  0x1p0lf, 0x1.62e42fefa39efp-1lf, 0x1.ebfbdff82c58fp-3lf, 0x1.c6b08d704a0cp-5lf,
  0x1.3b2ab6fba4e77p-7lf, 0x1.5d87fe78a6731p-10lf, 0x1.430912f86c787p-13lf, 0x1.ffcbfc588b0c7p-17lf,
  0x1.62c0223a5c824p-20lf, 0x1.b5253d395e7c4p-24lf, 0x1.e4cf5158b8ecap-28lf, 0x1.e8cac7351bb25p-32lf,
  0x1.c3bd650fc2986p-36lf, 0x1.816193166d0f9p-40lf, 0x1.314964d5878a9p-44lf, 0x1.c36e843b04022p-49lf,
  0x1.38e89ae79f8b4p-53lf, 0x1.98444b41c25a8p-58lf, 0x1.f7176bdb43696p-63lf, 0x1.25a7ecb835c65p-67lf,
  0x1.45acc4b505136p-72lf, 0x1.57fc5783e09c8p-77lf, 0x1.5acfad3701dc1p-82lf, 0x1.4e7515dc98fb6p-87lf);
const POW_EXP_LOW = array<f64, 24>(
  0.0lf, 0x1.abc9e3b39803fp-56lf, -0x1.5e43a53e44da3p-57lf, -0x1.d331627513351p-59lf,
  0x1.4e65df05a9f75p-62lf, 0x1.0717f69a514bfp-66lf, 0x1.bd2c2a261ac8dp-67lf, -0x1.e53ab8cde09c6p-71lf,
  -0x1.3800cfc92c41ep-79lf, -0x1.2dac78d2d8038p-79lf, -0x1.204bc4d5a312dp-85lf, -0x1.f8543350dc6f6p-87lf,
  -0x1.d4a9781e85d12p-92lf, 0x1.8a06b0c03dc6cp-94lf, 0x1.cfc50d89572bbp-98lf, -0x1.984ea80e5635bp-105lf,
  -0x1.b71c06c4d9c88p-107lf, -0x1.54f13bff8403fp-113lf, -0x1.4668963b45e1bp-118lf, -0x1.28fd4aa6d42acp-122lf,
  -0x1.ec76c83fea1e3p-126lf, -0x1.f5520c9220791p-131lf, -0x1.3837289317d77p-138lf, -0x1.a6dcd1662e55ep-142lf);

// Sums of two doubles, each of about 2^-103.
fn sum2_add(a: vec2<f64>, b: vec2<f64>) -> vec2<f64> {
  let s = two_sum(a.x, b.x);
  let t = two_sum(a.y, b.y);
  let u = fast_two_sum(s.x, s.y + t.x);
  return fast_two_sum(u.x, u.y + t.y);
}

fn sum2_scale(a: vec2<f64>, b: f64) -> vec2<f64> {
  let p = two_prod(a.x, b);
  return fast_two_sum(p.x, p.y + a.y * b);
}

fn sum2_mul(a: vec2<f64>, b: vec2<f64>) -> vec2<f64> {
  let p = two_prod(a.x, b.x);
  return fast_two_sum(p.x, p.y + (a.x * b.y + a.y * b.x));
}

// Whether a finite y of at most 24 bits is an odd (1), an even (2) or no integer (0).
fn pow_parity(y: f64) -> u32 {
  let w = bitcast<vec2<u32>>(y);
  let a = bitcast<f64>(vec2<u32>(w.x, w.y & 0x7fffffffu));
  if (a >= 0x1p25lf) {
    return 2u;
  }
  let n = a + 0x1p52lf;
  if (n - 0x1p52lf != a) {
    return 0u;
  }
  return 2u - (bitcast<vec2<u32>>(n).x & 1u);
}

// A double whose high word is this and whose low word is 0.
fn pow_word(high: u32) -> f64 {
  return bitcast<f64>(vec2<u32>(0u, high));
}

// x is zero, infinite or NaN, or y is infinite or NaN (IEEE 754-2019 9.2.1; a NaN is taken as quiet).
fn pow_special(x: f64, y: f64) -> f64 {
  let u = bitcast<vec2<u32>>(x);
  let v = bitcast<vec2<u32>>(y);
  let hx = u.y & 0x7fffffffu;
  let hy = v.y & 0x7fffffffu;
  if ((hy | v.x) == 0u || (u.y == 0x3ff00000u && u.x == 0u)) {
    return 1.0lf;
  }
  let x_nan = hx > 0x7ff00000u || (hx == 0x7ff00000u && u.x != 0u);
  let y_nan = hy > 0x7ff00000u || (hy == 0x7ff00000u && v.x != 0u);
  if (x_nan || y_nan) {
    return pow_word(0x7ff80000u);
  }
  let falls = v.y >= 0x80000000u;
  if (hy == 0x7ff00000u) {
    if (hx == 0x3ff00000u && u.x == 0u) {
      return 1.0lf;
    }
    return pow_word(select(0u, 0x7ff00000u, (hx < 0x3ff00000u) == falls));
  }
  let sign = select(0u, u.y & 0x80000000u, pow_parity(y) == 1u);
  return pow_word(sign | select(0u, 0x7ff00000u, (hx == 0u) == falls));
}

fn pow_is_special(x: f64, y: f64) -> bool {
  let hx = bitcast<vec2<u32>>(x).y & 0x7fffffffu;
  let hy = bitcast<vec2<u32>>(y).y & 0x7fffffffu;
  return hx - 1u >= 0x7fefffffu || hy >= 0x7ff00000u;
}

// The sign of a finite power in the highest bit; 1 where there is no power.
fn pow_sign(x: f64, y: f64) -> u32 {
  if (bitcast<vec2<u32>>(x).y < 0x80000000u) {
    return 0u;
  }
  let p = pow_parity(y);
  return select(select(0u, 0x80000000u, p == 1u), 1u, p == 0u);
}

fn pow_fast(x: f64, y: f64) -> f64 {
  if (pow_is_special(x, y)) {
    return pow_special(x, y);
  }
  let sign = pow_sign(x, y);
  if (sign == 1u) {
    return pow_word(0x7ff80000u);
  }
  let w = bitcast<vec2<u32>>(x);
  let h = (w.y & 0x7fffffffu) - 0x3fe69000u;
  let k = f64(bitcast<i32>(h) >> 20u);
  let g = bitcast<f64>(vec2<u32>(w.x, (h & 0xfffffu) + 0x3fe69000u));
  let s = (g - 1.0lf) / (g + 1.0lf);
  let z = s * s;
  var p = 0x1.ba0275131c2dep-3lf;
  p = mad64(p, z, 0x1.c3f0e129858fep-3lf);
  p = mad64(p, z, 0x1.0ca4230134b8fp-2lf);
  p = mad64(p, z, 0x1.484aeb9d0f03bp-2lf);
  p = mad64(p, z, 0x1.a617630765f0ep-2lf);
  p = mad64(p, z, 0x1.2776c50ebd109p-1lf);
  p = mad64(p, z, 0x1.ec709dc3a062ap-1lf);
  p = mad64(p, z, 0x1.71547652b82fep1lf);
  let e = pow_clamp(y * mad64(s, p, k));
  let n = e + 0x1.8p52lf;
  let r = e - (n - 0x1.8p52lf);
  var q = 0x1.e3a895206a276p-28lf;
  q = mad64(q, r, 0x1.b671b1d4a5714p-24lf);
  q = mad64(q, r, 0x1.62c147edab938p-20lf);
  q = mad64(q, r, 0x1.ffcb58cc5751fp-17lf);
  q = mad64(q, r, 0x1.4309126bdfaf8p-13lf);
  q = mad64(q, r, 0x1.5d87fe9b8dc0cp-10lf);
  q = mad64(q, r, 0x1.3b2ab6fbd6dc3p-7lf);
  q = mad64(q, r, 0x1.c6b08d703e18bp-5lf);
  q = mad64(q, r, 0x1.ebfbdff82c431p-3lf);
  q = mad64(q, r, 0x1.62e42fefa3a12p-1lf);
  let v = bitcast<vec2<u32>>(mad64(r, q, 1.0lf));
  return bitcast<f64>(vec2<u32>(v.x, (v.y + (bitcast<vec2<u32>>(n).x << 20u)) | sign));
}

// Within +-300, which is far outside of every target's exponents.
fn pow_clamp(e: f64) -> f64 {
  let w = bitcast<vec2<u32>>(e);
  return bitcast<f64>(vec2<u32>(w.x, select(w.y, (w.y & 0x80000000u) | 0x4072c000u, (w.y & 0x7fffffffu) > 0x4072c000u)));
}

// x^y where it has at most 25 bits, for positive finite x of at most 24 bits and finite y; else 0. With x = m 2^e and m odd,
// m = 1 makes it a power of two, and otherwise y = n/2^f with m a 2^f-th power, at most 15.
fn pow_exact(x: f64, y: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let all = ((w.y & 0xfffffu) << 3u) | 0x800000u | (w.x >> 29u);
  let zeros = countTrailingZeros(all);
  var m = f64(all >> zeros);
  var e = f64(bitcast<i32>((w.y >> 20u) + zeros - 1046u));
  var n = y;
  if (m > 1.0lf) {
    if (y <= 0.0lf || y > 15.0lf) {
      return 0.0lf;
    }
    for (var f = 0u; f < 4u; f = f + 1u) {
      if (pow_parity(n) != 0u) {
        break;
      }
      let root = sqrt(m);
      if (pow_parity(e) != 2u || pow_parity(root) == 0u || root * root != m) {
        return 0.0lf;
      }
      m = root;
      e = e * 0.5lf;
      n = n * 2.0lf;
    }
  }
  let a = n * e;
  if (pow_parity(a) == 0u || a > 300.0lf || a < -300.0lf || (m > 1.0lf && pow_parity(n) == 0u)) {
    return 0.0lf;
  }
  var p = 1.0lf;
  if (m > 1.0lf) {
    // n is at most 120, which the bound says for those who count turns, and 3^16 too large.
    let times = bitcast<vec2<u32>>(n + 0x1p52lf).x;
    for (var j = 0u; j < min(times, 120u); j = j + 1u) {
      p = p * m;
      if (p >= 0x1p25lf) {
        return 0.0lf;
      }
    }
  }
  let scale = bitcast<vec2<u32>>(a + 0x1.8p52lf).x + 1023u;
  return p * pow_word(scale << 20u);
}

fn pow_odd(x: f64, y: f64) -> f64 {
  if (pow_is_special(x, y)) {
    return pow_special(x, y);
  }
  let sign = pow_sign(x, y);
  if (sign == 1u) {
    return pow_word(0x7ff80000u);
  }
  let w = bitcast<vec2<u32>>(x);
  let a = bitcast<f64>(vec2<u32>(w.x, w.y & 0x7fffffffu));
  let one = pow_word(sign | 0x3ff00000u);
  let exact = pow_exact(a, y);
  if (exact != 0.0lf) {
    return one * exact;
  }
  let h = (w.y & 0x7fffffffu) - 0x3fe69000u;
  let k = f64(bitcast<i32>(h) >> 20u);
  let g = bitcast<f64>(vec2<u32>(w.x, (h & 0xfffffu) + 0x3fe69000u));
  // (g - 1)/(g + 1) as a sum of two: the remainder of a quotient is exact.
  let t = (g - 1.0lf) / (g + 1.0lf);
  let p = two_prod(t, g + 1.0lf);
  let s = fast_two_sum(t, (((g - 1.0lf) - p.x) - p.y) / (g + 1.0lf));
  // The series of atanh(s)/s is that of the arc tangent with -s^2 for s^2.
  let z = sum2_scale(sum2_mul(s, s), -1.0lf);
  var c = vec2<f64>(ARC_C[21], ARC_C_LOW[21]);
  for (var j = 21u; j > 0u; j = j - 1u) {
    c = sum2_add(vec2<f64>(ARC_C[j - 1u], ARC_C_LOW[j - 1u]), sum2_mul(c, z));
  }
  let l = sum2_add(vec2<f64>(k, 0.0lf), sum2_mul(sum2_mul(s, c), vec2<f64>(0x1.71547652b82fep1lf, 0x1.777d0ffda0d24p-55lf)));
  // Only the sign matters of an exponent that is clamped.
  if (pow_clamp(l.x * y) != l.x * y) {
    return one * pow_word(select(0x52b00000u, 0x2d300000u, l.x * y < 0.0lf));
  }
  let e = sum2_scale(l, y);
  let n = e.x + 0x1.8p52lf;
  let r = fast_two_sum(e.x - (n - 0x1.8p52lf), e.y);
  var q = vec2<f64>(POW_EXP[23], POW_EXP_LOW[23]);
  for (var j = 23u; j > 0u; j = j - 1u) {
    q = sum2_add(vec2<f64>(POW_EXP[j - 1u], POW_EXP_LOW[j - 1u]), sum2_mul(q, r));
  }
  let scale = pow_word(((bitcast<vec2<u32>>(n).x << 20u) + 0x3ff00000u) | sign);
  return odd(q.x * scale, q.y * scale);
}

fn f32_pow(x: u32, y: u32) -> u32 {
  let a = widen(x);
  let b = widen(y);
  let v = pow_fast(a, b);
  // v is within 2^8.6 of its last places.
  if (elem_is_clear(v, 1024u)) {
    return narrow(v);
  }
  let r = narrow(v * 0x1.ffffffffffcp-1lf);
  if (r == narrow(v * 0x1.00000000002p0lf)) {
    return r;
  }
  return narrow(pow_odd(a, b));
}

fn f16_pow(x: u32, y: u32) -> u32 {
  let a = widen_f16(x);
  let b = widen_f16(y);
  let v = pow_fast(a, b);
  let r = narrow_f16(v * 0x1.ffffffffffcp-1lf);
  if (r == narrow_f16(v * 0x1.00000000002p0lf)) {
    return r;
  }
  return narrow_f16(pow_odd(a, b));
}

fn bf16_pow(x: u32, y: u32) -> u32 {
  let a = widen_bf16(x);
  let b = widen_bf16(y);
  let v = pow_fast(a, b);
  let r = narrow_bf16(v * 0x1.ffffffffffcp-1lf);
  if (r == narrow_bf16(v * 0x1.00000000002p0lf)) {
    return r;
  }
  return narrow_bf16(pow_odd(a, b));
}
