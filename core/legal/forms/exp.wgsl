// exp, exp2 and exp10, rounded correctly to f32, f16 and bf16: x = k * step + r, the result is 2^(k/16) * (1 + P(r)).
// Error before the last sum: below 2^-53.2 of the result, of which the table's own rounding is 2^-54 and P 2^-56
// (printed by sollya/exp.sollya, which makes every constant here). That this is enough is no estimate: every input was
// run against MPFR (HARD.md). The last sum is made by elem_settle, which never lands on a tie that is not one.

const EXP_T = array<f64, 16>(
  0x1p0lf,
  0x1.0b5586cf9890fp0lf,
  0x1.172b83c7d517bp0lf,
  0x1.2387a6e756238p0lf,
  0x1.306fe0a31b715p0lf,
  0x1.3dea64c123422p0lf,
  0x1.4bfdad5362a27p0lf,
  0x1.5ab07dd485429p0lf,
  0x1.6a09e667f3bcdp0lf,
  0x1.7a11473eb0187p0lf,
  0x1.8ace5422aa0dbp0lf,
  0x1.9c49182a3f09p0lf,
  0x1.ae89f995ad3adp0lf,
  0x1.c199bdd85529cp0lf,
  0x1.d5818dcfba487p0lf,
  0x1.ea4afa2a490dap0lf);
// EXP: |1 + P - f| <= 2^-56.1875 on |r| <= 2.166748046875e-2
const EXP_INV = 0x1.71547652b82fep4lf;
const EXP_HI = 0x1.62e42fefa4p-5lf;
const EXP_LO = -0x1.8432a1b0e2634p-47lf;
const EXP_C2 = 0x1.0000000000008p-1lf;
const EXP_C3 = 0x1.555555548b9c3p-3lf;
const EXP_C4 = 0x1.555555542126p-5lf;
const EXP_C5 = 0x1.11123cf405615p-7lf;
const EXP_C6 = 0x1.6c1885155d5cdp-10lf;
// EXP2: |1 + P - f| <= 2^-56.984375 on |r| <= 3.12652587890625e-2
const EXP2_C1 = 0x1.62e42fefa39fdp-1lf;
const EXP2_C2 = 0x1.ebfbdff82c59dp-3lf;
const EXP2_C3 = 0x1.c6b08d6e8cd17p-5lf;
const EXP2_C4 = 0x1.3b2ab6fa93f06p-7lf;
const EXP2_C5 = 0x1.5d89bd5ed836bp-10lf;
const EXP2_C6 = 0x1.430a9c082de0ep-13lf;
// EXP10: |1 + P - f| <= 2^-56.984375 on |r| <= 9.410858154296875e-3
const EXP10_INV = 0x1.a934f0979a371p5lf;
const EXP10_HI = 0x1.34413509f8p-6lf;
const EXP10_LO = -0x1.80433b83b532ap-48lf;
const EXP10_C1 = 0x1.26bb1bbb55521p1lf;
const EXP10_C2 = 0x1.53524c73cea72p1lf;
const EXP10_C3 = 0x1.0470591ce374fp1lf;
const EXP10_C4 = 0x1.2bd7609edc7b2p0lf;
const EXP10_C5 = 0x1.142b61118615ep-1lf;
const EXP10_C6 = 0x1.a7ef6e40137c9p-3lf;
// Adding and taking away 1.5 * 2^52 rounds to a whole number, 1.5 * 2^48 to a sixteenth; the sum's low word is k.
const EXP_ROUND = 0x1.8p52lf;
const EXP2_ROUND = 0x1.8p48lf;

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

// x, or the bound with x's sign when |x| is above it (far outside every target's range). `high` is the bound's high
// word. NaN counts as large: callers replace the result.
fn exp_clamp(x: f64, high: u32) -> f64 {
  let b = bitcast<vec2<u32>>(x);
  return bitcast<f64>(vec2<u32>(b.x, select(b.y, (b.y & 0x80000000u) | high, (b.y & 0x7fffffffu) > high)));
}

// 2^(n/16) * (1 + p); n is a signed number in two's complement.
fn exp_join(n: u32, p: f64) -> f64 {
  let t = bitcast<vec2<u32>>(EXP_T[n & 15u]);
  let scaled = bitcast<f64>(vec2<u32>(t.x, t.y + ((n & 0xfffffff0u) << 16u)));
  return elem_settle(scaled, scaled * p);
}

fn exp_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x4062c000u);
  let m = v * EXP_INV + EXP_ROUND;
  let k = m - EXP_ROUND;
  let r = (v - k * EXP_HI) - k * EXP_LO;
  let q = r * r;
  let p = r + q * ((EXP_C2 + r * EXP_C3) + q * ((EXP_C4 + r * EXP_C5) + q * EXP_C6));
  return exp_join(bitcast<vec2<u32>>(m).x, p);
}

fn exp2_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x4072c000u);
  let m = v + EXP2_ROUND;
  let r = v - (m - EXP2_ROUND);
  let q = r * r;
  let p = r * EXP2_C1 + q * ((EXP2_C2 + r * EXP2_C3) + q * ((EXP2_C4 + r * EXP2_C5) + q * EXP2_C6));
  return exp_join(bitcast<vec2<u32>>(m).x, p);
}

fn exp10_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x40568000u);
  let m = v * EXP10_INV + EXP_ROUND;
  let k = m - EXP_ROUND;
  let r = (v - k * EXP10_HI) - k * EXP10_LO;
  let q = r * r;
  let p = r * EXP10_C1 + q * ((EXP10_C2 + r * EXP10_C3) + q * ((EXP10_C4 + r * EXP10_C5) + q * EXP10_C6));
  return exp_join(bitcast<vec2<u32>>(m).x, p);
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
