// exp, exp2, exp10 and expm1, rounded correctly to f32, f16 and bf16: x = k * step + r, the result is 2^k * (1 + P(r)). No table:
// tables in constant memory cost an H200 more than the few terms they save. Constants by sollya/exp.sollya.
// Error below 2^-52 of the result: half a unit from each of r, r + .. and the last sum; P is within 2^-57. That this is
// enough for one more rounding is no estimate: every f32, f16 and bf16 was run, with mad64 rounding twice and fused (HARD.md).

// EXP: |1 + P - f| <= 2^-57.921875 for |r| <= 0.3466796875
const EXP_INV = 0x1.71547652b82fep0lf;
const EXP_HI = 0x1.62e42fefa3ap-1lf;
const EXP_LO = -0x1.0ca86c3898dp-49lf;
const EXP_C2 = 0x1.000000000000cp-1lf;
const EXP_C3 = 0x1.555555555555ep-3lf;
const EXP_C4 = 0x1.555555554fe1p-5lf;
const EXP_C5 = 0x1.111111110e137p-7lf;
const EXP_C6 = 0x1.6c16c18603d17p-10lf;
const EXP_C7 = 0x1.a01a01b767839p-13lf;
const EXP_C8 = 0x1.a01995c545eacp-16lf;
const EXP_C9 = 0x1.71dde72df8b05p-19lf;
const EXP_C10 = 0x1.28b0ebdd1e375p-22lf;
const EXP_C11 = 0x1.af7a4fa6208c7p-26lf;
// EXP2: |1 + P - f| <= 2^-57.625 for |r| <= 0.5
const EXP2_C1 = 0x1.62e42fefa39efp-1lf;
const EXP2_C2 = 0x1.ebfbdff82c5a5p-3lf;
const EXP2_C3 = 0x1.c6b08d704a189p-5lf;
const EXP2_C4 = 0x1.3b2ab6fb9ff51p-7lf;
const EXP2_C5 = 0x1.5d87fe7887454p-10lf;
const EXP2_C6 = 0x1.4309130f304a1p-13lf;
const EXP2_C7 = 0x1.ffcbfce32c605p-17lf;
const EXP2_C8 = 0x1.62bfc6cb086d7p-20lf;
const EXP2_C9 = 0x1.b524124988ee9p-24lf;
const EXP2_C10 = 0x1.e61caaff79ecbp-28lf;
const EXP2_C11 = 0x1.eb16d7851caafp-32lf;
// EXP10: |1 + P - f| <= 2^-57.015625 for |r| <= 0.15057373046875
const EXP10_INV = 0x1.a934f0979a371p1lf;
const EXP10_HI = 0x1.34413509f7ap-2lf;
const EXP10_LO = -0x1.0cee0ed4ca7e9p-54lf;
const EXP10_C1 = 0x1.26bb1bbb55516p1lf;
const EXP10_C2 = 0x1.53524c73cea78p1lf;
const EXP10_C3 = 0x1.0470591de2b79p1lf;
const EXP10_C4 = 0x1.2bd7609fd4d4ap0lf;
const EXP10_C5 = 0x1.1429ffd20e8bfp-1lf;
const EXP10_C6 = 0x1.a7ed70a26734bp-3lf;
const EXP10_C7 = 0x1.16e4df2a83e78p-4lf;
const EXP10_C8 = 0x1.41165d8d54743p-6lf;
const EXP10_C9 = 0x1.489921ee9a435p-8lf;
const EXP10_C10 = 0x1.2f7555249e34bp-10lf;
const EXP10_C11 = 0x1.f8fe8fcd9e04ep-13lf;
// Adding and taking away 1.5 * 2^52 rounds to a whole number; the sum's low word is that number.
const EXP_ROUND = 0x1.8p52lf;

// For functions with a result that the error above does not decide, because h + l rounds to a tie that is none.
// h + l for |h| >= |l| or h = 0, rounded to nearest, except that an inexact sum is not left where a later rounding to
// 25 bits or fewer could see a tie or an exact result: there it takes one unit towards the part that was lost.
fn elem_settle(h: f64, l: f64) -> f64 {
  let y = h + l;
  let b = bitcast<vec2<u32>>(y);
  if ((b.x & 0x0fffffffu) != 0u) {
    return y;
  }
  let lost = l - (y - h);
  if (lost == 0.0lf) {
    return y;
  }
  if ((lost > 0.0lf) == (y > 0.0lf)) {
    return bitcast<f64>(vec2<u32>(b.x | 1u, b.y));
  }
  return bitcast<f64>(vec2<u32>(b.x - 1u, b.y - select(0u, 1u, b.x == 0u)));
}

// Whether y is at least `margin` of its own last places away from every tie of f32, and its magnitude in [2^-126, 2^128),
// where the 29 bits that a rounding to f32 drops are the low ones.
fn elem_is_clear(y: f64, margin: u32) -> bool {
  let b = bitcast<vec2<u32>>(y);
  return (b.y & 0x7fffffffu) - 0x38100000u < 0x0fe00000u && ((b.x + 0x10000000u + margin) & 0x1fffffffu) > 2u * margin;
}

// x, or the bound with x's sign when |x| is above it (far outside every target's range). `high` is the bound's high
// word. NaN counts as large: callers replace the result.
fn exp_clamp(x: f64, high: u32) -> f64 {
  let b = bitcast<vec2<u32>>(x);
  return bitcast<f64>(vec2<u32>(b.x, select(b.y, (b.y & 0x80000000u) | high, (b.y & 0x7fffffffu) > high)));
}

// 2^k, k in the low word of m = 1.5 * 2^52 + k.
fn exp_power(m: f64) -> f64 {
  return bitcast<f64>(vec2<u32>(0u, 0x3ff00000u + (bitcast<vec2<u32>>(m).x << 20u)));
}

// e^r - 1 for |r| <= ln(2)/2.
fn exp_part(r: f64) -> f64 {
  let q = r * r;
  let q2 = q * q;
  let low = mad64(q, mad64(r, EXP_C5, EXP_C4), mad64(r, EXP_C3, EXP_C2));
  let high = mad64(q, mad64(r, EXP_C9, EXP_C8), mad64(r, EXP_C7, EXP_C6));
  return mad64(q, mad64(q2, mad64(q2, mad64(r, EXP_C11, EXP_C10), high), low), r);
}

fn exp_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x4062c000u);
  let m = mad64(v, EXP_INV, EXP_ROUND);
  let k = m - EXP_ROUND;
  let power = exp_power(m);
  return mad64(power, exp_part(mad64(k, -EXP_LO, mad64(k, -EXP_HI, v))), power);
}

fn exp2_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x4072c000u);
  let m = v + EXP_ROUND;
  let r = v - (m - EXP_ROUND);
  let q = r * r;
  let q2 = q * q;
  let low = mad64(q, mad64(r, EXP2_C5, EXP2_C4), mad64(r, EXP2_C3, EXP2_C2));
  let high = mad64(q, mad64(r, EXP2_C9, EXP2_C8), mad64(r, EXP2_C7, EXP2_C6));
  let p = mad64(q, mad64(q2, mad64(q2, mad64(r, EXP2_C11, EXP2_C10), high), low), r * EXP2_C1);
  let power = exp_power(m);
  return elem_settle(power, power * p);
}

fn exp10_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x40568000u);
  let m = mad64(v, EXP10_INV, EXP_ROUND);
  let k = m - EXP_ROUND;
  let r = mad64(k, -EXP10_LO, mad64(k, -EXP10_HI, v));
  let q = r * r;
  let q2 = q * q;
  let low = mad64(q, mad64(r, EXP10_C5, EXP10_C4), mad64(r, EXP10_C3, EXP10_C2));
  let high = mad64(q, mad64(r, EXP10_C9, EXP10_C8), mad64(r, EXP10_C7, EXP10_C6));
  let p = mad64(q, mad64(q2, mad64(q2, mad64(r, EXP10_C11, EXP10_C10), high), low), r * EXP10_C1);
  let power = exp_power(m);
  return mad64(power, p, power);
}

// e^x - 1 for x other than zero: 2^k (e^r - 1) + (2^k - 1).
fn expm1_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x4062c000u);
  let m = mad64(v, EXP_INV, EXP_ROUND);
  let k = m - EXP_ROUND;
  let power = exp_power(m);
  return elem_settle(power - 1.0lf, power * exp_part(mad64(k, -EXP_LO, mad64(k, -EXP_HI, v))));
}

fn f32_exp(x: u32) -> u32 {
  return select(narrow(exp_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_exp(x: u32) -> u32 {
  return select(narrow_f16(exp_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_exp(x: u32) -> u32 {
  return select(narrow_bf16(exp_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}

fn f32_exp2(x: u32) -> u32 {
  return select(narrow(exp2_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_exp2(x: u32) -> u32 {
  return select(narrow_f16(exp2_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_exp2(x: u32) -> u32 {
  return select(narrow_bf16(exp2_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}

fn f32_exp10(x: u32) -> u32 {
  return select(narrow(exp10_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_exp10(x: u32) -> u32 {
  return select(narrow_f16(exp10_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_exp10(x: u32) -> u32 {
  return select(narrow_bf16(exp10_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}

// A zero is its own.
fn f32_expm1(x: u32) -> u32 {
  let a = x & 0x7fffffffu;
  return select(select(narrow(expm1_odd(widen(x))), x, a == 0u), 0x7fc00000u, a > 0x7f800000u);
}

fn f16_expm1(x: u32) -> u32 {
  let a = x & 0x7fffu;
  return select(select(narrow_f16(expm1_odd(widen_f16(x))), x, a == 0u), 0x7e00u, a > 0x7c00u);
}

fn bf16_expm1(x: u32) -> u32 {
  let a = x & 0x7fffu;
  return select(select(narrow_bf16(expm1_odd(widen_bf16(x))), x, a == 0u), 0x7fc0u, a > 0x7f80u);
}
