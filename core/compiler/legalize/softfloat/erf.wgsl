// erf and erfc, rounded correctly to f32, f16 and bf16. Below 1 (erfc: 1/2) by x P(x^2); from there by e^(-a^2) G(q) / (a + 3) with
// q = (a - 3) / (a + 3) for the magnitude a, which is erfc(a): e^(-a^2) as exp.wgsl has it, since the square of an f32 is exact. What
// is taken from 1 or 2 is settled (elem_settle), as is the sum of the two parts of x P. No table. Constants by sollya/erf.sollya.
// Error below 2^-51 of the result, from half a dozen roundings. That this is enough for one more rounding is no
// estimate: every f32, f16 and bf16 was run (HARD.md).

// ERF_A: relative error <= 2^-56.84375 up to 1
const ERF_A_HI = 0x1.20dd75p0lf;
const ERF_A_LO = 0x1.0a6db446b8ea4p-30lf;
const ERF_A2 = -0x1.812746b0379cbp-2lf;
const ERF_A4 = 0x1.ce2f21a0412ffp-4lf;
const ERF_A6 = -0x1.b82ce3120c723p-6lf;
const ERF_A8 = 0x1.565bccfb0853p-8lf;
const ERF_A10 = -0x1.c02db07a7b4fap-11lf;
const ERF_A12 = 0x1.f9a2bf9a6c02bp-14lf;
const ERF_A14 = -0x1.f4ca9101d3a42p-17lf;
const ERF_A16 = 0x1.b9822df65101ep-20lf;
const ERF_A18 = -0x1.5c144f97d76d1p-23lf;
const ERF_A20 = 0x1.d76efe02bd40cp-27lf;
const ERF_A22 = -0x1.ac97154d138b7p-31lf;
// ERF_G: relative error <= 2^-53.421875 from 1/2 to 10.125
const ERF_G0 = 0x1.12f21ddd9f5e2p0lf;
const ERF_G1 = -0x1.c44c471baa378p-1lf;
const ERF_G2 = 0x1.2e326945de21ap-1lf;
const ERF_G3 = -0x1.3deb21415da67p-2lf;
const ERF_G4 = 0x1.e995f11b2851fp-4lf;
const ERF_G5 = -0x1.b78993d712063p-6lf;
const ERF_G6 = -0x1.3dd3e77e700c9p-10lf;
const ERF_G7 = 0x1.8dae3a5a9167p-9lf;
const ERF_G8 = -0x1.1f78d55df23b5p-11lf;
const ERF_G9 = -0x1.22390a73778c3p-12lf;
const ERF_G10 = 0x1.c32229be79452p-14lf;
const ERF_G11 = 0x1.fe017a4b9704fp-16lf;
const ERF_G12 = -0x1.24ddba3f3a8d6p-16lf;
const ERF_G13 = -0x1.3e949e7f19343p-18lf;
const ERF_G14 = 0x1.6d62726b2b498p-19lf;
const ERF_G15 = 0x1.07299c3c76b84p-20lf;
const ERF_G16 = -0x1.6943a79d0c259p-22lf;
const ERF_G17 = -0x1.8ac80ed0817a5p-23lf;
const ERF_G18 = -0x1.60e43335dbe8fp-28lf;

// erf(x) for |x| <= 1, in two parts, of which the first is exact.
fn erf_near(x: f64) -> vec2<f64> {
  let t = x * x;
  let t2 = t * t;
  let t4 = t2 * t2;
  let low = mad64(t2, mad64(t, ERF_A8, ERF_A6), mad64(t, ERF_A4, ERF_A2));
  let middle = mad64(t2, mad64(t, ERF_A16, ERF_A14), mad64(t, ERF_A12, ERF_A10));
  let high = mad64(t2, ERF_A22, mad64(t, ERF_A20, ERF_A18));
  return vec2<f64>(x * ERF_A_HI, x * mad64(t, mad64(t4, mad64(t4, high, middle), low), ERF_A_LO));
}

// erfc(a) for a from 1/2 to 10.5; above 10.125, where it is below every target, any smaller positive number.
fn erf_tail(a: f64) -> f64 {
  let t = a * a;
  let m = mad64(t, -EXP_INV, EXP_ROUND);
  let k = m - EXP_ROUND;
  let e = exp_part(mad64(k, -EXP_LO, mad64(k, -EXP_HI, -t)));
  let r = 1.0lf / (a + 3.0lf);
  let q = (a - 3.0lf) * r;
  let q2 = q * q;
  let q4 = q2 * q2;
  let p0 = mad64(q2, mad64(q, ERF_G3, ERF_G2), mad64(q, ERF_G1, ERF_G0));
  let p4 = mad64(q2, mad64(q, ERF_G7, ERF_G6), mad64(q, ERF_G5, ERF_G4));
  let p8 = mad64(q2, mad64(q, ERF_G11, ERF_G10), mad64(q, ERF_G9, ERF_G8));
  let p12 = mad64(q2, mad64(q, ERF_G15, ERF_G14), mad64(q, ERF_G13, ERF_G12));
  let p16 = mad64(q2, ERF_G18, mad64(q, ERF_G17, ERF_G16));
  let g = mad64(q4, mad64(q4, mad64(q4, mad64(q4, p16, p12), p8), p4), p0) * r;
  return mad64(g, e, g) * exp_power(m);
}

fn erf_odd(x: f64) -> f64 {
  let a = hyp_abs(exp_clamp(x, 0x40250000u));
  if (a < 1.0lf) {
    let y = erf_near(a);
    return hyp_signed(elem_settle(y.x, y.y), x);
  }
  return hyp_signed(elem_settle(1.0lf, -erf_tail(a)), x);
}

fn erfc_odd(x: f64) -> f64 {
  let v = exp_clamp(x, 0x40250000u);
  let a = hyp_abs(v);
  if (a < 0.5lf) {
    let y = erf_near(v);
    return elem_settle(1.0lf, -(y.x + y.y));
  }
  let y = erf_tail(a);
  return select(y, elem_settle(2.0lf, -y), v < 0.0lf);
}

fn f32_erf(x: u32) -> u32 {
  return select(narrow(erf_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_erf(x: u32) -> u32 {
  return select(narrow_f16(erf_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_erf(x: u32) -> u32 {
  return select(narrow_bf16(erf_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}

fn f32_erfc(x: u32) -> u32 {
  return select(narrow(erfc_odd(widen(x))), 0x7fc00000u, (x & 0x7fffffffu) > 0x7f800000u);
}

fn f16_erfc(x: u32) -> u32 {
  return select(narrow_f16(erfc_odd(widen_f16(x))), 0x7e00u, (x & 0x7fffu) > 0x7c00u);
}

fn bf16_erfc(x: u32) -> u32 {
  return select(narrow_bf16(erfc_odd(widen_bf16(x))), 0x7fc0u, (x & 0x7fffu) > 0x7f80u);
}
