// exp, exp2, expm1, log, log2, log1p, erf, sin, cos, tan, atan, atan2, tanh, pow and rsqrt of f32 on devices that have f64:
// the common arguments in few steps of f64, to about 2^-40, where that decides how the result rounds; all else, one
// argument in ten thousand and fewer, as in the files of the functions.
//
// What the dropped 29 bits of a result in the range of normal f32 say decides: with an error below 2^-e of the value,
// which is between 2^52 and 2^53 of its last places, they have to be further than 2^(53 - e) from the tie. No
// operation here but the polynomial's approximation counts beside that: each rounds by 2^-53 of a value that is not
// much larger than the result. Constants and errors of approximation by sollya/fast.sollya; every f32 was run
// with mad64 fused; rounding twice it has the bound and the hard cases (HARD.md).

const FAST_LN2 = 0x1.62e42fefa39efp-1lf;
// pi = PI_1 + PI_2 to 2^-87; PI_1 has 33 bits.
const FAST_PI_1 = 0x1.921fb544p1lf;
const FAST_PI_2 = 0x1.0b4611a626331p-33lf;

// An f32 that is normal or zero, as f64; any number for other bits.
fn widen_normal(x: u32) -> f64 {
  return bitcast<f64>(f64_from_f32_int(x));
}

fn widen_normal_native(x: u32) -> f64 {
  return f64(bitcast<f32>(x));
}

// The f32 nearest to a y that is zero or in magnitude from 2^-126 to 2^127; any bits for others.
fn narrow_normal(y: f64) -> u32 {
  return f64_to_f32_int(bitcast<vec2<u32>>(y));
}

fn narrow_normal_native(y: f64) -> u32 {
  return bitcast<u32>(f32(y));
}

// Whether the f32 nearest to y is that of every number within `margin` of y's last places.
fn fast_decides(y: f64, margin: u32) -> bool {
  return ((bitcast<vec2<u32>>(y).x + 0x10000000u + margin) & 0x1fffffffu) > 2u * margin;
}

// y 2^k, with k in the low word of m = 1.5 * 2^52 + k, for y about 1.
fn fast_scale(y: f64, m: f64) -> f64 {
  let w = bitcast<vec2<u32>>(y);
  return bitcast<f64>(vec2<u32>(w.x, w.y + (bitcast<vec2<u32>>(m).x << 20u)));
}

// |x| < 87: a normal result. Subnormal x give 1 as zeros do. Error below 2^-39.6: the polynomial's 2^-39.7, and k ln
// 2, which is within 2^-47.
fn f32_exp_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x42ae0000u) {
    let v = widen_normal(select(x, 0u, a < 0x00800000u));
    let m = mad64(v, EXP_INV, EXP_ROUND);
    let r = mad64(m - EXP_ROUND, -FAST_LN2, v);
    var p = 0x1.a19d091c9df18p-16lf;
    p = mad64(p, r, 0x1.a1aa03873f327p-13lf);
    p = mad64(p, r, 0x1.6c160f5d808f8p-10lf);
    p = mad64(p, r, 0x1.11108122318f7p-7lf);
    p = mad64(p, r, 0x1.55555597eb232p-5lf);
    p = mad64(p, r, 0x1.555555a1e8c6bp-3lf);
    p = mad64(p, r, 0x1.ffffffffdf6b4p-2lf);
    p = mad64(p, r, 0x1.ffffffffd43d4p-1lf);
    let y = fast_scale(mad64(p, r, 1.0lf), m);
    if (fast_decides(y, 16384u)) {
      return narrow_normal(y);
    }
  }
  return f32_exp(x);
}

// 2^x for |x| < 126. Error below 2^-39.6.
fn fast_exp2(x: f64) -> f64 {
  let m = x + EXP_ROUND;
  let r = x - (m - EXP_ROUND);
  var p = 0x1.640a191f0a3e2p-20lf;
  p = mad64(p, r, 0x1.00dbfe357d69cp-16lf);
  p = mad64(p, r, 0x1.430874fda189bp-13lf);
  p = mad64(p, r, 0x1.5d87463c101efp-10lf);
  p = mad64(p, r, 0x1.3b2ab7391ff53p-7lf);
  p = mad64(p, r, 0x1.c6b08dd64b962p-5lf);
  p = mad64(p, r, 0x1.ebfbdff80d0a4p-3lf);
  p = mad64(p, r, 0x1.62e42fef8549ep-1lf);
  return fast_scale(mad64(p, r, 1.0lf), m);
}

fn f32_exp2_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x42fc0000u) {
    let y = fast_exp2(widen_normal(select(x, 0u, a < 0x00800000u)));
    if (fast_decides(y, 16384u)) {
      return narrow_normal(y);
    }
  }
  return f32_exp2(x);
}

// k ln 2 + ln(1 + n) for 1 + n in [0.7071066, 1.41421354): the sum is at least ln(2)/2 where k is not 0, and ln(1 + n) at most that,
// error below 2^-40.9.
fn fast_log(k: f64, n: f64) -> f64 {
  var p = 0x1.6671fc2ea8ddap-5lf;
  p = mad64(p, n, -0x1.5df6a1170032ap-4lf);
  p = mad64(p, n, 0x1.659c257651351p-4lf);
  p = mad64(p, n, -0x1.53be5942abap-4lf);
  p = mad64(p, n, 0x1.6ecc408ac1e37p-4lf);
  p = mad64(p, n, -0x1.9932226637f3cp-4lf);
  p = mad64(p, n, 0x1.c773d1c52b3f3p-4lf);
  p = mad64(p, n, -0x1.0004bf08e1c8cp-3lf);
  p = mad64(p, n, 0x1.2490ef02879fap-3lf);
  p = mad64(p, n, -0x1.55552e830a19fp-3lf);
  p = mad64(p, n, 0x1.99999ea325da1p-3lf);
  p = mad64(p, n, -0x1.0000003bc6845p-2lf);
  p = mad64(p, n, 0x1.55555552114d4p-2lf);
  p = mad64(p, n, -0x1.ffffffffd24b7p-2lf);
  return mad64(k, FAST_LN2, mad64(n * n, p, n));
}

// x positive, finite and normal: 2^k (1 + n).
fn f32_log_fast(x: u32) -> u32 {
  if (x - 0x00800000u < 0x7f000000u) {
    let z = x - 0x3f3504f3u;
    let y = fast_log(f64(bitcast<i32>(z) >> 23u), widen_normal(x - (z & 0xff800000u)) - 1.0lf);
    if (fast_decides(y, 8192u)) {
      return narrow_normal(y);
    }
  }
  return f32_log(x);
}

// x above -1 and finite: the same of 1 + x, where n is x if k is 0. The sum loses at most 2^-53 of itself.
fn f32_log1p_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < select(0x7f800000u, 0x3f800000u, x != a)) {
    let v = widen_normal(x);
    let w = bitcast<vec2<u32>>(1.0lf + v);
    let z = w.y - 0x3fe6a09eu;
    let e = bitcast<i32>(z) >> 20u;
    let m = bitcast<f64>(vec2<u32>(w.x, w.y - (z & 0xfff00000u)));
    let y = fast_log(f64(e), select(m - 1.0lf, v, e == 0i));
    if (fast_decides(y, 8192u)) {
      return select(narrow_normal(y), x, a < 0x00800000u);
    }
  }
  return f32_log1p(x);
}

fn f32_log2_fast(x: u32) -> u32 {
  if (x - 0x00800000u < 0x7f000000u) {
    let z = x - 0x3f3504f3u;
    let k = f64(bitcast<i32>(z) >> 23u);
    let n = widen_normal(x - (z & 0xff800000u)) - 1.0lf;
    var p = 0x1.02cac9d583be4p-4lf;
    p = mad64(p, n, -0x1.f9f09d58fc5c8p-4lf);
    p = mad64(p, n, 0x1.024d054adb458p-3lf);
    p = mad64(p, n, -0x1.e9fc8e4c6c6a2p-4lf);
    p = mad64(p, n, 0x1.087cb6bfcdcddp-3lf);
    p = mad64(p, n, -0x1.272ba105c0357p-3lf);
    p = mad64(p, n, 0x1.488d062aae204p-3lf);
    p = mad64(p, n, -0x1.715b8d5fedc14p-3lf);
    p = mad64(p, n, 0x1.a615466f6084ep-3lf);
    p = mad64(p, n, -0x1.ec7061e137095p-3lf);
    p = mad64(p, n, 0x1.2776c940bb3a7p-2lf);
    p = mad64(p, n, -0x1.715476b44074fp-2lf);
    p = mad64(p, n, 0x1.ec709dbd24203p-2lf);
    p = mad64(p, n, -0x1.715476528d48dp-1lf);
    p = mad64(p, n, 0x1.71547652b89dfp0lf);
    let y = mad64(n, p, k);
    if (fast_decides(y, 8192u)) {
      return narrow_normal(y);
    }
  }
  return f32_log2(x);
}

// sin r, error 2^-43.7, for r = v - q pi. Below 2^16 v - q PI_1 is exact, q PI_2 within 2^-85 q of what is left of q
// pi, q below 2^14.4, and r above 2^-27.9 where q is not 0 (of all f32: 252.89821 for the cosine), so that r is
// within 2^-42.8.
fn fast_sine(v: f64, q: f64) -> f64 {
  let r = mad64(q, -FAST_PI_2, mad64(q, -FAST_PI_1, v));
  let z = r * r;
  var p = 0x1.52dbecc3a9115p-33lf;
  p = mad64(p, z, -0x1.ae03f845ee389p-26lf);
  p = mad64(p, z, 0x1.71dcf84beada9p-19lf);
  p = mad64(p, z, -0x1.a019fd5950f8cp-13lf);
  p = mad64(p, z, 0x1.1111110a55935p-7lf);
  p = mad64(p, z, -0x1.555555554714p-3lf);
  return mad64(r, z * p, r);
}

// Zeros and subnormal numbers are their own sines.
fn f32_sin_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x47800000u) {
    let v = widen_normal(a);
    let n = mad64(v, TRIG_1_PI, TRIG_MAGIC);
    let y = fast_sine(v, n - TRIG_MAGIC);
    if (fast_decides(y, 4096u)) {
      return select(narrow_normal(y) ^ (bitcast<vec2<u32>>(n).x << 31u) ^ (x & 0x80000000u), x, a < 0x00800000u);
    }
  }
  return f32_sin(x);
}

fn f32_cos_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x47800000u) {
    let v = widen_normal(select(a, 0u, a < 0x00800000u));
    let n = mad64(v, TRIG_1_PI, -0.5lf) + TRIG_MAGIC;
    let y = fast_sine(v, (n - TRIG_MAGIC) + 0.5lf);
    if (fast_decides(y, 4096u)) {
      return narrow_normal(y) ^ (~bitcast<vec2<u32>>(n).x << 31u);
    }
  }
  return f32_cos(x);
}

// -1/d for a d in [2^-100, 2^100], error below 2^-42: the device's f32 quotient, whatever its quality, and a Newton
// step that tells it.
fn fast_minus_inverse(d: f64) -> f64 {
  let y = widen_normal(bitcast<u32>(-1.0f / bitcast<f32>(narrow_normal(d))));
  let e = mad64(d, y, 1.0lf);
  if ((bitcast<vec2<u32>>(e).y & 0x7fffffffu) > 0x3ea00000u) {
    return -1.0lf / d;
  }
  return mad64(y, e, y);
}

// e^v - 1 for |v| < 87: with v = k ln 2 + r it is 2^k (e^r - 1) + (2^k - 1), where the polynomial's 2^-37.6 counts up to 1.42
// times: below 2^-37.
fn fast_expm1(v: f64) -> f64 {
  let m = mad64(v, EXP_INV, EXP_ROUND);
  let r = mad64(m - EXP_ROUND, -FAST_LN2, v);
  var p = 0x1.a019ed3da092dp-16lf;
  p = mad64(p, r, 0x1.a17d50a82f12ep-13lf);
  p = mad64(p, r, 0x1.6c175b1596fcbp-10lf);
  p = mad64(p, r, 0x1.1110a69711b0dp-7lf);
  p = mad64(p, r, 0x1.555554f30867ep-5lf);
  p = mad64(p, r, 0x1.5555557e1cfc4p-3lf);
  p = mad64(p, r, 0x1.000000001a815p-1lf);
  p = mad64(p, r, 0x1.fffffffff643bp-1lf);
  let power = exp_power(m);
  return mad64(power, r * p, power - 1.0lf);
}

fn f32_expm1_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x42ae0000u) {
    let y = fast_expm1(widen_normal(x));
    if (fast_decides(y, 65536u)) {
      return select(narrow_normal(y), x, a < 0x00800000u);
    }
  }
  return f32_expm1(x);
}

// (e^2a - 1) / (e^2a + 1).
fn f32_tanh_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x41100000u) {
    let n = fast_expm1(widen_normal(a) * 2.0lf);
    let y = n * fast_minus_inverse(n + 2.0lf);
    if (fast_decides(y, 65536u)) {
      return select(narrow_normal(y) ^ (~x & 0x80000000u), x, a < 0x00800000u);
    }
  }
  return f32_tanh(x);
}

// r N(r^2) / D(r^2) as trig.wgsl has it, N to 2^-41.3; r to 2^-42.8 as in fast_sine, which counts up to pi/2 times,
// and the quotient's 2^-42: below 2^-40.1.
fn f32_tan_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x47800000u) {
    let v = widen_normal(a);
    let k = mad64(v, TRIG_2_PI, TRIG_MAGIC);
    let q = (k - TRIG_MAGIC) * 0.5lf;
    let r = mad64(q, -FAST_PI_2, mad64(q, -FAST_PI_1, v));
    let z = r * r;
    var p = 0x1.038b2de83adacp-23lf;
    p = mad64(p, z, 0x1.429df29261649p-17lf);
    p = mad64(p, z, 0x1.839539f374949p-10lf);
    p = mad64(p, z, -0x1.df299b43cc522p-4lf);
    let n = mad64(r, z * p, r);
    let d = mad64(z, mad64(z, 0x1.2b04b63e07ae3p-6lf, -0x1.cd1fbc25f87eap-2lf), 1.0lf);
    let swap = (bitcast<vec2<u32>>(k).x & 1u) == 1u;
    let y = select(n, d, swap) * fast_minus_inverse(select(d, n, swap));
    if (fast_decides(y, 16384u)) {
      return select(narrow_normal(y) ^ (bitcast<vec2<u32>>(k).x << 31u) ^ (~x & 0x80000000u), x, a < 0x00800000u);
    }
  }
  return f32_tan(x);
}

// atan(s/l), or atan(s/l) - pi/4 for a big s, as in arctrig.wgsl with less of a polynomial, 0 <= s <= l. Error below
// 2^-39.8: the polynomial's 2^-40.1 and the quotient.
fn fast_tangent(s: f64, l: f64, big: bool) -> f64 {
  let t = select(-s, l - s, big) * fast_minus_inverse(select(l, l + s, big));
  let z = t * t;
  var p = -0x1.3687e55644a4dp-5lf;
  p = mad64(p, z, 0x1.1e51fd9907aa8p-4lf);
  p = mad64(p, z, -0x1.7080836eb25ddp-4lf);
  p = mad64(p, z, 0x1.c6d1b0ac965e9p-4lf);
  p = mad64(p, z, -0x1.2490c17aa364p-3lf);
  p = mad64(p, z, 0x1.999991f2b91a1p-3lf);
  p = mad64(p, z, -0x1.5555554ed5e52p-2lf);
  return mad64(t, z * p, t);
}

fn f32_atan_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x71800000u) {
    let v = widen_normal(a);
    let swap = a > 0x3f800000u;
    let s = select(v, 1.0lf, swap);
    let l = select(1.0lf, v, swap);
    let big = s > 0x1.a8p-2lf * l;
    let b = fast_tangent(s, l, big);
    let n = f64(select(select(0u, 2u, swap), 1u, big));
    let y = mad64(n, 0.5lf * ARC_PI_2, select(b, -b, swap));
    if (fast_decides(y, 16384u)) {
      return select(narrow_normal(y) | (x & 0x80000000u), x, a < 0x00800000u);
    }
  }
  return f32_atan(x);
}

// x positive, finite and normal: the device's f32 root and quotient, whatever their quality, and a step of third
// order that tells it. Error below 2^-51.
fn f32_rsqrt_fast(x: u32) -> u32 {
  if (x - 0x00800000u < 0x7f000000u) {
    let g = widen_normal(bitcast<u32>(1.0f / sqrt(bitcast<f32>(x))));
    let w = widen_normal(x) * g;
    let e = mad64(-w, g, 1.0lf);
    let y = mad64(g * e, mad64(e, 0.375lf, 0.5lf), g);
    if ((bitcast<vec2<u32>>(e).y & 0x7fffffffu) < 0x3ec00000u && fast_decides(y, 8u)) {
      return narrow_normal(y);
    }
  }
  return f32_rsqrt(x);
}

// x positive, finite and normal, y finite and normal, and the result's exponent within 126. log2 x = k + q P(q^2)
// with q = -(m - 1)/(m + 1), of which the polynomial's 2^-44.7 counts up to 126 ln 2 times, as 2^-38.2; with that of
// 2^r below 2^-37.7.
fn f32_pow_fast(x: u32, y: u32) -> u32 {
  if (max(x - 0x00800000u, (y & 0x7fffffffu) - 0x00800000u) < 0x7f000000u) {
    let h = x - 0x3f3504f3u;
    let k = f64(bitcast<i32>(h) >> 23u);
    let m = widen_normal(x - (h & 0xff800000u));
    let g = fast_minus_inverse(m + 1.0lf);
    let q = (m - 1.0lf) * g;
    let t = mad64(mad64(q, m + 1.0lf, m - 1.0lf), g, q);
    let z = t * t;
    var p = -0x1.21b88c21c1a79p-2lf;
    p = mad64(p, z, -0x1.4794d574b50acp-2lf);
    p = mad64(p, z, -0x1.a61a31b617be6p-2lf);
    p = mad64(p, z, -0x1.2776c28fdb89ep-1lf);
    p = mad64(p, z, -0x1.ec709dc53f078p-1lf);
    p = mad64(p, z, -0x1.71547652b825p1lf);
    let e = widen_normal(y) * mad64(t, p, k);
    let v = fast_exp2(e);
    if ((bitcast<vec2<u32>>(e).y & 0x7fffffffu) < 0x405f8000u && fast_decides(v, 65536u)) {
      return narrow_normal(v);
    }
  }
  return f32_pow(x, y);
}

// y and x between 2^-100 and 2^100 in magnitude. Error below 2^-39.8 as that of atan.
fn f32_atan2_fast(y: u32, x: u32) -> u32 {
  let a = y & 0x7fffffffu;
  let b = x & 0x7fffffffu;
  if (max(a - 0x0d800000u, b - 0x0d800000u) < 0x64000000u) {
    let swap = a > b;
    let s = widen_normal(select(a, b, swap));
    let l = widen_normal(select(b, a, swap));
    let big = s > 0x1.a8p-2lf * l;
    let r = fast_tangent(s, l, big);
    let left = x >= 0x80000000u;
    let n = select(select(0u, 2u, swap), 1u, big);
    let v = mad64(f64(select(n, 4u - n, left)), 0.5lf * ARC_PI_2, select(r, -r, swap != left));
    if (elem_is_clear(v, 16384u)) {
      return narrow_normal(v) | (y & 0x80000000u);
    }
  }
  return f32_atan2(y, x);
}

// x P(x^2) up to 3.9375; from there the result is 1 to the last place. P in powers of x^2 - 7.75, whose terms have one sign for a small x
// and lose nothing to one another for a large one (erf(x)/x falls, and its derivatives alternate). Error below 2^-39.8: the polynomial's 2^-39.9, and
// 2^-50 from the roundings.
fn f32_erf_fast(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  if (a < 0x407c0000u) {
    let v = widen_normal(a);
    let t = mad64(v, v, -7.75lf);
    var p = -0x1.567d8892c5639p-81lf;
    p = mad64(p, t, 0x1.0ba85d2a13316p-76lf);
    p = mad64(p, t, -0x1.435d956bd1d6bp-73lf);
    p = mad64(p, t, 0x1.662411b7f1a15p-69lf);
    p = mad64(p, t, -0x1.3efe789e0bf9ap-64lf);
    p = mad64(p, t, 0x1.826a226161b3cp-60lf);
    p = mad64(p, t, -0x1.9151d7a7e7c3fp-56lf);
    p = mad64(p, t, 0x1.a29e16dcaff54p-52lf);
    p = mad64(p, t, -0x1.a4ff2a14326e8p-48lf);
    p = mad64(p, t, 0x1.8b6e9456abd39p-44lf);
    p = mad64(p, t, -0x1.5c96a3119a1dp-40lf);
    p = mad64(p, t, 0x1.210ad30c7828dp-36lf);
    p = mad64(p, t, -0x1.c1cff4c20d94ep-33lf);
    p = mad64(p, t, 0x1.48282c45d215bp-29lf);
    p = mad64(p, t, -0x1.c18ad0657f6c6p-26lf);
    p = mad64(p, t, 0x1.2240c9581c629p-22lf);
    p = mad64(p, t, -0x1.642a69f421f7dp-19lf);
    p = mad64(p, t, 0x1.a51fede5e6c82p-16lf);
    p = mad64(p, t, -0x1.ea83a9329e52cp-13lf);
    p = mad64(p, t, 0x1.237b69122e54fp-9lf);
    p = mad64(p, t, -0x1.7b26f08c87da9p-6lf);
    p = mad64(p, t, 0x1.6fcd22af74999p-2lf);
    let y = v * p;
    if (fast_decides(y, 16384u) && a >= 0x01000000u) {
      return narrow_normal(y) | (x & 0x80000000u);
    }
  }
  if (a >= 0x407c0000u && a <= 0x7f800000u) {
    return (x & 0x80000000u) | 0x3f800000u;
  }
  return f32_erf(x);
}
