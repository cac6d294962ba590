// pow, rounded correctly to f32, f16 and bf16.
//
// x = 2^k z with z in one of 32 cells around [0.705, 1.41), r = z/c - 1 exactly, |r| < 2^-6;
// x^y = 2^(y (k + log2 c + log2(1 + r))). The fast phase is plain f64: its relative error is below 2^-42.6 (the sum for
// log2 x loses at most 2^-49.5 of itself, just outside the cell around 1; y log2 x below 2^7.3 makes 2^-42.7 of it).
// Where moving the result by 2^-42 either way rounds differently (about 2^-16 of all arguments), pow_odd decides: exact
// results and ties by integer reasoning, all others by sums of two doubles with an error below 2^-94. (sollya/pow.sollya)

// 1/c for cell i of the significand (0x3fe69000 + i 2^15 is where its high word starts), of 13 bits, and -log2(1/c).
const POW_INV = array<f64, 32>(
  0x1.672p0lf, 0x1.5f6p0lf, 0x1.58p0lf, 0x1.50fp0lf,
  0x1.4a2p0lf, 0x1.43ap0lf, 0x1.3d6p0lf, 0x1.375p0lf,
  0x1.318p0lf, 0x1.2bfp0lf, 0x1.269p0lf, 0x1.215p0lf,
  0x1.1c5p0lf, 0x1.178p0lf, 0x1.12dp0lf, 0x1.0e4p0lf,
  0x1.09ep0lf, 0x1.05ap0lf, 0x1p0lf, 0x1.f64p-1lf,
  0x1.e74p-1lf, 0x1.d92p-1lf, 0x1.cbep-1lf, 0x1.bf6p-1lf,
  0x1.b38p-1lf, 0x1.a82p-1lf, 0x1.9d8p-1lf, 0x1.934p-1lf,
  0x1.89ap-1lf, 0x1.806p-1lf, 0x1.77ap-1lf, 0x1.6f2p-1lf);
const POW_LOG = array<f64, 32>(
  -0x1.f40fff7d067f5p-2lf, -0x1.d3d522ebc3a48p-2lf, -0x1.b47ebf73882a1p-2lf, -0x1.95d96adda4d44p-2lf,
  -0x1.77ac660e11d72p-2lf, -0x1.5a4ba94a06f3ap-2lf, -0x1.3d7c5a3d8a11ep-2lf, -0x1.20fe332ccda7bp-2lf,
  -0x1.0526359bab1b3p-2lf, -0x1.d4014be1e1a88p-3lf, -0x1.9e939a1e2171ep-3lf, -0x1.6970e33adda5dp-3lf,
  -0x1.35ee73f91e1acp-3lf, -0x1.037da278f287p-3lf, -0x1.a30953d2f2d14p-4lf, -0x1.401b0fb6055a2p-4lf,
  -0x1.bf518dfb912fbp-5lf, -0x1.00df8c6dd4259p-5lf, 0.0lf, 0x1.c6763d22b0541p-6lf,
  0x1.24c9ea8884545p-4lf, 0x1.d2a04f7405b8ep-4lf, 0x1.3d3d47bda3691p-3lf, 0x1.8ea977be8b6ecp-3lf,
  0x1.de26177108d03p-3lf, 0x1.162c8a7c89d7p-2lf, 0x1.3ba7963fc1f8fp-2lf, 0x1.60bc8dda17d8p-2lf,
  0x1.846cf9aebb7fep-2lf, 0x1.a78e70c49c66ap-2lf, 0x1.c9933c7dfe1a2p-2lf, 0x1.eb63aef66cb7dp-2lf);
const POW_LOG_LOW = array<f64, 32>(
  0x1.608bf08920d14p-57lf, -0x1.d5aa54952cb68p-57lf, 0x1.6fae441c09d76p-56lf, 0x1.d41dd346e4d12p-58lf,
  0x1.9bf096f4d4cc3p-56lf, -0x1.2929500e89aa9p-56lf, 0x1.4be9fdf6eeb48p-57lf, -0x1.e866d7b58a77cp-56lf,
  -0x1.871f776b6d95cp-56lf, 0x1.c364b387a8045p-59lf, 0x1.478666a07e439p-57lf, -0x1.441d4356da019p-57lf,
  0x1.7d4920389e27p-60lf, -0x1.f3912c00faa44p-57lf, 0x1.965de8b382486p-60lf, 0x1.e44a81c3e80dap-60lf,
  -0x1.8ad9d44b2c615p-60lf, 0x1.f4ba24af9afa8p-60lf, 0.0lf, -0x1.22b68d1700f6ap-62lf,
  0x1.e314981351a5fp-58lf, -0x1.ea12d93cffc6bp-58lf, 0x1.ee704228c2489p-58lf, 0x1.7bcf8ca723fcfp-59lf,
  0x1.c57362517e7abp-57lf, -0x1.893d2d267e691p-63lf, -0x1.04ff60f7b0337p-58lf, -0x1.36c9ece3d4e86p-56lf,
  -0x1.d1781209a0056p-56lf, -0x1.e03d65ee30a03p-57lf, -0x1.7924a2171f348p-56lf, 0x1.b0f421df16fe9p-59lf);
// 2^(i/16).
const POW_EXP = array<f64, 16>(
  0x1p0lf, 0x1.0b5586cf9890fp0lf, 0x1.172b83c7d517bp0lf, 0x1.2387a6e756238p0lf,
  0x1.306fe0a31b715p0lf, 0x1.3dea64c123422p0lf, 0x1.4bfdad5362a27p0lf, 0x1.5ab07dd485429p0lf,
  0x1.6a09e667f3bcdp0lf, 0x1.7a11473eb0187p0lf, 0x1.8ace5422aa0dbp0lf, 0x1.9c49182a3f09p0lf,
  0x1.ae89f995ad3adp0lf, 0x1.c199bdd85529cp0lf, 0x1.d5818dcfba487p0lf, 0x1.ea4afa2a490dap0lf);
const POW_EXP_LOW = array<f64, 16>(
  0.0lf, 0x1.8a62e4adc610bp-54lf, -0x1.19041b9d78a76p-55lf, 0x1.9b07eb6c70573p-54lf,
  0x1.6f46ad23182e4p-55lf, 0x1.ada0911f09ebcp-55lf, 0x1.d4397afec42e2p-56lf, 0x1.6324c054647adp-54lf,
  -0x1.bdd3413b26456p-54lf, -0x1.41577ee04992fp-55lf, 0x1.6e9f156864b27p-54lf, 0x1.c7c46b071f2bep-56lf,
  0x1.7a1cd345dcc81p-54lf, 0x1.11065895048ddp-55lf, 0x1.2ed02d75b3707p-55lf, -0x1.e9c23179c2893p-54lf);
// log2(1 + r) / r and 2^r by powers of r.
const POW_LOG_C = array<f64, 19>(
  0x1.71547652b82fep0lf, -0x1.71547652b82fep-1lf, 0x1.ec709dc3a03fdp-2lf, -0x1.71547652b82fep-2lf,
  0x1.2776c50ef9bfep-2lf, -0x1.ec709dc3a03fdp-3lf, 0x1.a61762a7aded9p-3lf, -0x1.71547652b82fep-3lf,
  0x1.484b13d7c02a9p-3lf, -0x1.2776c50ef9bfep-3lf, 0x1.0c9a84994022dp-3lf, -0x1.ec709dc3a03fdp-4lf,
  0x1.c68f568d3176p-4lf, -0x1.a61762a7aded9p-4lf, 0x1.89f3b1694cffep-4lf, -0x1.71547652b82fep-4lf,
  0x1.5b9ac9b743f0dp-4lf, -0x1.484b13d7c02a9p-4lf, 0x1.3703c1f4d0ffep-4lf);
const POW_LOG_C_LOW = array<f64, 19>(
  0x1.777d0ffda0d24p-56lf, -0x1.777d0ffda0d24p-57lf, 0x1.d27f05548af0cp-56lf, -0x1.777d0ffda0d24p-58lf,
  0x1.e4b29ccc535d4p-56lf, -0x1.d27f05548af0cp-57lf, 0x1.fb22e490ee2fp-58lf, -0x1.777d0ffda0d24p-59lf,
  -0x1.e55fc724e0a2cp-61lf, -0x1.e4b29ccc535d4p-57lf, 0x1.42b91d166906ap-58lf, -0x1.d27f05548af0cp-58lf,
  0x1.ce23c4e96378ep-60lf, -0x1.fb22e490ee2fp-59lf, -0x1.2339777c86c81p-61lf, -0x1.777d0ffda0d24p-60lf,
  0x1.0d0e5e1d8f408p-58lf, 0x1.e55fc724e0a2cp-62lf, 0x1.926b2bc99b1edp-58lf);
const POW_EXP_C = array<f64, 17>(
  0x1p0lf, 0x1.62e42fefa39efp-1lf, 0x1.ebfbdff82c58fp-3lf, 0x1.c6b08d704a0cp-5lf,
  0x1.3b2ab6fba4e77p-7lf, 0x1.5d87fe78a6731p-10lf, 0x1.430912f86c787p-13lf, 0x1.ffcbfc588b0c7p-17lf,
  0x1.62c0223a5c824p-20lf, 0x1.b5253d395e7c4p-24lf, 0x1.e4cf5158b8ecap-28lf, 0x1.e8cac7351bb25p-32lf,
  0x1.c3bd650fc2986p-36lf, 0x1.816193166d0f9p-40lf, 0x1.314964d5878a9p-44lf, 0x1.c36e843b04022p-49lf,
  0x1.38e89ae79f8b4p-53lf);
const POW_EXP_C_LOW = array<f64, 17>(
  0.0lf, 0x1.abc9e3b39803fp-56lf, -0x1.5e43a53e44da3p-57lf, -0x1.d331627513351p-59lf,
  0x1.4e65df05a9f75p-62lf, 0x1.0717f69a514bfp-66lf, 0x1.bd2c2a261ac8dp-67lf, -0x1.e53ab8cde09c6p-71lf,
  -0x1.3800cfc92c41ep-79lf, -0x1.2dac78d2d8038p-79lf, -0x1.204bc4d5a312dp-85lf, -0x1.f8543350dc6f6p-87lf,
  -0x1.d4a9781e85d12p-92lf, 0x1.8a06b0c03dc6cp-94lf, 0x1.cfc50d89572bbp-98lf, -0x1.984ea80e5635bp-105lf,
  -0x1.b71c06c4d9c88p-107lf);
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
  let i = (h >> 15u) & 31u;
  let k = f64(bitcast<i32>(h) >> 20u);
  let z = bitcast<f64>(vec2<u32>(w.x, (h & 0xfffffu) + 0x3fe69000u));
  let r = z * POW_INV[i] - 1.0lf;
  var p = -0x1.717f2438d0ecfp-3lf;
  p = p * r + 0x1.a64652e2e181ep-3lf;
  p = p * r - 0x1.ec709bc258066p-3lf;
  p = p * r + 0x1.2776c3f231cebp-2lf;
  p = p * r - 0x1.71547652bc505p-2lf;
  p = p * r + 0x1.ec709dc3a5349p-2lf;
  p = p * r - 0x1.71547652b82fep-1lf;
  p = p * r + 0x1.71547652b82fep0lf;
  let l = (k + POW_LOG[i]) + r * p;
  let e = pow_clamp(y * l);
  let m = e + 0x1.8p48lf;
  let d = e - (m - 0x1.8p48lf);
  var q = 0x1.4308149e27556p-13lf;
  q = q * d + 0x1.5d89bd6687d85p-10lf;
  q = q * d + 0x1.3b2ab6fe2cdb6p-7lf;
  q = q * d + 0x1.c6b08d6e8cc52p-5lf;
  q = q * d + 0x1.ebfbdff82c553p-3lf;
  q = q * d + 0x1.62e42fefa39fdp-1lf;
  let n = bitcast<vec2<u32>>(m).x;
  let t = bitcast<vec2<u32>>(POW_EXP[n & 15u]);
  let s = bitcast<f64>(vec2<u32>(t.x, (t.y + ((n & 0xfffffff0u) << 16u)) | sign));
  return s + s * (d * q);
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
    // n is at most 120, and 3^16 too large.
    let times = bitcast<vec2<u32>>(n + 0x1p52lf).x;
    for (var j = 0u; j < times; j = j + 1u) {
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
  let i = (h >> 15u) & 31u;
  let k = f64(bitcast<i32>(h) >> 20u);
  let z = bitcast<f64>(vec2<u32>(w.x, (h & 0xfffffu) + 0x3fe69000u));
  let r = z * POW_INV[i] - 1.0lf;
  var g = vec2<f64>(POW_LOG_C[18], POW_LOG_C_LOW[18]);
  for (var j = 18u; j > 0u; j = j - 1u) {
    g = sum2_add(vec2<f64>(POW_LOG_C[j - 1u], POW_LOG_C_LOW[j - 1u]), sum2_scale(g, r));
  }
  let c = two_sum(k, POW_LOG[i]);
  let l = sum2_add(vec2<f64>(c.x, c.y + POW_LOG_LOW[i]), sum2_scale(g, r));
  // Only the sign matters of an exponent that is clamped.
  if (pow_clamp(l.x * y) != l.x * y) {
    return one * pow_word(select(0x52b00000u, 0x2d300000u, l.x * y < 0.0lf));
  }
  let e = sum2_scale(l, y);
  let m = e.x + 0x1.8p48lf;
  let d = fast_two_sum(e.x - (m - 0x1.8p48lf), e.y);
  var q = vec2<f64>(POW_EXP_C[16], POW_EXP_C_LOW[16]);
  for (var j = 16u; j > 0u; j = j - 1u) {
    q = sum2_add(vec2<f64>(POW_EXP_C[j - 1u], POW_EXP_C_LOW[j - 1u]), sum2_mul(q, d));
  }
  let n = bitcast<vec2<u32>>(m).x;
  let v = sum2_mul(q, vec2<f64>(POW_EXP[n & 15u], POW_EXP_LOW[n & 15u]));
  let s = pow_word((((n & 0xfffffff0u) << 16u) + 0x3ff00000u) | sign);
  return odd(v.x * s, v.y * s);
}

fn f32_pow(x: u32, y: u32) -> u32 {
  let a = widen(x);
  let b = widen(y);
  let v = pow_fast(a, b);
  let r = narrow(v * 0x1.ffffffffff8p-1lf);
  if (r == narrow(v * 0x1.00000000004p0lf)) {
    return r;
  }
  return narrow(pow_odd(a, b));
}

fn f16_pow(x: u32, y: u32) -> u32 {
  let a = widen_f16(x);
  let b = widen_f16(y);
  let v = pow_fast(a, b);
  let r = narrow_f16(v * 0x1.ffffffffff8p-1lf);
  if (r == narrow_f16(v * 0x1.00000000004p0lf)) {
    return r;
  }
  return narrow_f16(pow_odd(a, b));
}

fn bf16_pow(x: u32, y: u32) -> u32 {
  let a = widen_bf16(x);
  let b = widen_bf16(y);
  let v = pow_fast(a, b);
  let r = narrow_bf16(v * 0x1.ffffffffff8p-1lf);
  if (r == narrow_bf16(v * 0x1.00000000004p0lf)) {
    return r;
  }
  return narrow_bf16(pow_odd(a, b));
}
