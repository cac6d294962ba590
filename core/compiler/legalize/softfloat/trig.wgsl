// sin, cos and tan, rounded correctly to f32, f16 and bf16. The kernels take a value of one of these formats, widened.
//
// Below 2^20 the argument is reduced by three products with parts of pi (33 + 33 + 53 bits: the first difference is
// exact, the second rounds once, the third adds 2^-98), above it by an exact product of the 24-bit significand with
// 128 bits of 1/pi. sin and cos share one odd polynomial on [-pi/2, pi/2], so no quadrant splits a workgroup:
// sin(k pi + r) = (-1)^k sin r, cos((k + 1/2) pi + r) = (-1)^(k+1) sin r. tan(r) = r N(r^2) / D(r^2) on [-pi/4, pi/4].
// Approximation errors: sin 2^-61.6, tan 2^-58.7 (sollya/trig.sollya); with rounding the kernels stay below 2^-50.5 relative
// (sin, cos) and 2^-50 (tan). That decides all but a few arguments, which stand by themselves: found, and the rest proved, by
// running all 2^32 (HARD.md).

const TRIG_1_PI = 0x1.45f306dc9c883p-2lf;
const TRIG_2_PI = 0x1.45f306dc9c883p-1lf;
const TRIG_PI = 0x1.921fb54442d18p1lf;
const TRIG_PI_1 = 0x1.921fb544p1lf;
const TRIG_PI_2 = 0x1.0b4611a6p-33lf;
const TRIG_PI_3 = 0x1.3198a2e037073p-68lf;
// Adding it rounds to an integer, which then stands in the low word.
const TRIG_MAGIC = 0x1.8p52lf;

// 1/pi from the bit of weight 2^3 down.
const TRIG_BITS = array<u32, 8>(0x0517cc1bu, 0x727220a9u, 0x4fe13abeu, 0x8fa9a6eeu, 0x06db14acu, 0xc9e21c82u, 0x0ff28b1du,
                                0x5ef5de2bu);

// a = m 2^e >= 2^20 given by its words. t = a 2^twice / pi - shift/2^31 = k + f with f in [-1/2, 1/2):
// gives f pi in xy and k mod 2 in z.
fn trig_huge(w: vec2<u32>, twice: u32, shift: u32) -> vec4<u32> {
  let m = ((w.y & 0xfffffu) << 3u) | 0x800000u | (w.x >> 29u);
  // e + 3 + twice leading bits of the table would only add multiples of 2.
  let skip = (w.y >> 20u) - 1043u + twice;
  let i = skip >> 5u;
  let left = skip & 31u;
  let t0 = TRIG_BITS[i];
  let t1 = TRIG_BITS[i + 1u];
  let t2 = TRIG_BITS[i + 2u];
  let t3 = TRIG_BITS[i + 3u];
  let t4 = TRIG_BITS[i + 4u];
  let right = 31u - left;
  let w3 = (t0 << left) | ((t1 >> 1u) >> right);
  let w2 = (t1 << left) | ((t2 >> 1u) >> right);
  let w1 = (t2 << left) | ((t3 >> 1u) >> right);
  let w0 = (t3 << left) | ((t4 >> 1u) >> right);
  // The product's words of weight 2^-31, 2^-63, 2^-95.
  let a1 = m * w1;
  let p1 = a1 + mulHigh(m, w0);
  let a2 = m * w2;
  let b2 = a2 + mulHigh(m, w1);
  let p2 = b2 + select(0u, 1u, p1 < a1);
  let p3 = m * w3 + mulHigh(m, w2) + select(0u, 1u, b2 < a2) + select(0u, 1u, p2 < b2) - shift;
  let k = (p3 + 0x40000000u) >> 31u;
  let negative = (p3 >> 30u) & 1u;
  let flip = 0u - negative;
  let n3 = f64((p3 ^ flip) & 0x7fffffffu) * 0x1p-31lf;
  let n2 = f64(p2 ^ flip) * 0x1p-63lf;
  let n1 = f64(p1 ^ flip) * 0x1p-95lf;
  let r = bitcast<vec2<u32>>((n3 + (n2 + n1)) * TRIG_PI);
  return vec4<u32>(r.x, r.y ^ (negative << 31u), k, 0u);
}

fn trig_sine(r: f64) -> f64 {
  let z = r * r;
  var p = 0x1.883c3136c14ddp-49lf;
  p = mad64(p, z, -0x1.ae43dd5400926p-41lf);
  p = mad64(p, z, 0x1.6123ce53b3304p-33lf);
  p = mad64(p, z, -0x1.ae6454d968e21p-26lf);
  p = mad64(p, z, 0x1.71de3a52aac68p-19lf);
  p = mad64(p, z, -0x1.a01a01a014eb7p-13lf);
  p = mad64(p, z, 0x1.11111111110c9p-7lf);
  p = mad64(p, z, -0x1.5555555555555p-3lf);
  return mad64(r, z * p, r);
}

fn sin_odd(x: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let h = w.y & 0x7fffffffu;
  var r = 0.0lf;
  var k = 0u;
  if (h < 0x41300000u) {
    let a = bitcast<f64>(vec2<u32>(w.x, h));
    let n = mad64(a, TRIG_1_PI, TRIG_MAGIC);
    let q = n - TRIG_MAGIC;
    k = bitcast<vec2<u32>>(n).x;
    r = mad64(q, -TRIG_PI_3, mad64(q, -TRIG_PI_2, mad64(q, -TRIG_PI_1, a)));
  } else {
    if (h >= 0x7ff00000u) {
      return bitcast<f64>(vec2<u32>(0u, 0x7ff80000u));
    }
    // Argument 0x55cafb2a.
    if (h == 0x42b95f65u && w.x == 0x40000000u) {
      return bitcast<f64>(vec2<u32>(0xd0000001u, 0xbfefcf42u ^ (w.y & 0x80000000u)));
    }
    let v = trig_huge(vec2<u32>(w.x, h), 0u, 0u);
    r = bitcast<f64>(vec2<u32>(v.x, v.y));
    k = v.z;
  }
  let y = bitcast<vec2<u32>>(trig_sine(r));
  // Argument 0x46199998: 2^-30.5 units of f32 from a tie.
  let low = select(y.x, 0xafffffffu, h == 0x40c33333u && w.x == 0u);
  return bitcast<f64>(vec2<u32>(low, y.y ^ (k << 31u) ^ (w.y & 0x80000000u)));
}

// Arguments 0x5922aa80, 0x5f18b878, 0x6115cb11 and 0x7908cd73: the words of each as a double, high one first, and of its cosine.
const TRIG_COS_RARE = array<u32, 16>(
  0x43245550u, 0x00000000u, 0x3fe115d7u, 0xd0000001u,
  0x43e3170fu, 0x00000000u, 0x3fefe297u, 0x6fffffffu,
  0x4422b962u, 0x20000000u, 0x3fef0285u, 0xd0000001u,
  0x472119aeu, 0x60000000u, 0x3fef3176u, 0xafffffffu);

fn cos_odd(x: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let h = w.y & 0x7fffffffu;
  var r = 0.0lf;
  var k = 0u;
  if (h < 0x41300000u) {
    let a = bitcast<f64>(vec2<u32>(w.x, h));
    let n = mad64(a, TRIG_1_PI, -0.5lf) + TRIG_MAGIC;
    let q = (n - TRIG_MAGIC) + 0.5lf;
    k = bitcast<vec2<u32>>(n).x;
    r = mad64(q, -TRIG_PI_3, mad64(q, -TRIG_PI_2, mad64(q, -TRIG_PI_1, a)));
  } else {
    if (h >= 0x7ff00000u) {
      return bitcast<f64>(vec2<u32>(0u, 0x7ff80000u));
    }
    for (var i = 0u; i < 16u; i = i + 4u) {
      if (h == TRIG_COS_RARE[i] && w.x == TRIG_COS_RARE[i + 1u]) {
        return bitcast<f64>(vec2<u32>(TRIG_COS_RARE[i + 3u], TRIG_COS_RARE[i + 2u]));
      }
    }
    let v = trig_huge(vec2<u32>(w.x, h), 0u, 0x40000000u);
    r = bitcast<f64>(vec2<u32>(v.x, v.y));
    k = v.z;
  }
  let y = bitcast<vec2<u32>>(trig_sine(r));
  return bitcast<f64>(vec2<u32>(y.x, y.y ^ (~k << 31u)));
}

fn tan_odd(x: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let h = w.y & 0x7fffffffu;
  var r = 0.0lf;
  var k = 0u;
  if (h < 0x41300000u) {
    let a = bitcast<f64>(vec2<u32>(w.x, h));
    let n = mad64(a, TRIG_2_PI, TRIG_MAGIC);
    let q = (n - TRIG_MAGIC) * 0.5lf;
    k = bitcast<vec2<u32>>(n).x;
    r = mad64(q, -TRIG_PI_3, mad64(q, -TRIG_PI_2, mad64(q, -TRIG_PI_1, a)));
  } else {
    if (h >= 0x7ff00000u) {
      return bitcast<f64>(vec2<u32>(0u, 0x7ff80000u));
    }
    let v = trig_huge(vec2<u32>(w.x, h), 1u, 0u);
    r = bitcast<f64>(vec2<u32>(v.x, v.y)) * 0.5lf;
    k = v.z;
  }
  let z = r * r;
  var n = 0x1.dfb5c4c137b4p-36lf;
  n = mad64(n, z, 0x1.d6469350dc0afp-30lf);
  n = mad64(n, z, 0x1.fbd1ee6491535p-24lf);
  n = mad64(n, z, 0x1.42a9bef68d30bp-17lf);
  n = mad64(n, z, 0x1.83953516359a5p-10lf);
  n = mad64(n, z, -0x1.df299b428ca61p-4lf);
  let num = mad64(r, z * n, r);
  let den = mad64(z, mad64(z, 0x1.2b04b63e07ae3p-6lf, -0x1.cd1fbc25f87eap-2lf), 1.0lf);
  let odd_k = (k & 1u) == 1u;
  let y = bitcast<vec2<u32>>(select(num, den, odd_k) / select(den, num, odd_k));
  return bitcast<f64>(vec2<u32>(y.x, y.y ^ (k << 31u) ^ (w.y & 0x80000000u)));
}

fn f32_sin(x: u32) -> u32 {
  return narrow(sin_odd(widen(x)));
}

fn f32_cos(x: u32) -> u32 {
  return narrow(cos_odd(widen(x)));
}

fn f32_tan(x: u32) -> u32 {
  return narrow(tan_odd(widen(x)));
}

fn f16_sin(x: u32) -> u32 {
  return narrow_f16(sin_odd(widen_f16(x)));
}

fn f16_cos(x: u32) -> u32 {
  return narrow_f16(cos_odd(widen_f16(x)));
}

fn f16_tan(x: u32) -> u32 {
  return narrow_f16(tan_odd(widen_f16(x)));
}

fn bf16_sin(x: u32) -> u32 {
  return narrow_bf16(sin_odd(widen_bf16(x)));
}

fn bf16_cos(x: u32) -> u32 {
  return narrow_bf16(cos_odd(widen_bf16(x)));
}

fn bf16_tan(x: u32) -> u32 {
  return narrow_bf16(tan_odd(widen_bf16(x)));
}
