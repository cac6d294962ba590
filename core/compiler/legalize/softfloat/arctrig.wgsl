// asin, acos and atan (atan2 below), rounded correctly to f32, f16 and bf16. The kernels take a value of one of these
// formats, widened.
//
// asin(s) = s + s^3 P(s^2) on [0, 1/2], error 2^-55.9; above 1/2 asin(x) = pi/2 - 2 asin(sqrt((1 - x)/2)), and
// acos likewise. atan(a/b) for a <= b is atan(t) with t = a/b, or pi/4 + atan(t) with t = (a - b)/(a + b), |t| < 0.415, and a
// polynomial of error 2^-59.3; for a > b it is pi/2 - atan(b/a). (sollya/arctrig.sollya.) All is f64; that this is enough
// for every argument is proved by running all 2^32 (HARD.md).

const ARC_PI = 0x1.921fb54442d18p1lf;
const ARC_PI_LOW = 0x1.1a62633145c07p-53lf;
const ARC_PI_2 = 0x1.921fb54442d18p0lf;
const ARC_PI_2_LOW = 0x1.1a62633145c07p-54lf;

// asin(s) for 0 <= s <= 1/2, z = s^2.
fn arc_sine(s: f64, z: f64) -> f64 {
  var p = 0x1.056dc7458705ep-5lf;
  p = mad64(p, z, -0x1.09d427033d30bp-6lf);
  p = mad64(p, z, 0x1.3ff54502d51b3p-6lf);
  p = mad64(p, z, 0x1.abce84c203a43p-8lf);
  p = mad64(p, z, 0x1.8ec3143391fa9p-7lf);
  p = mad64(p, z, 0x1.c6fdbe5331c71p-7lf);
  p = mad64(p, z, 0x1.1c6be1ce2accp-6lf);
  p = mad64(p, z, 0x1.6e89f43dc20d8p-6lf);
  p = mad64(p, z, 0x1.f1c72c3910772p-6lf);
  p = mad64(p, z, 0x1.6db6db427a1c5p-5lf);
  p = mad64(p, z, 0x1.333333336e812p-4lf);
  p = mad64(p, z, 0x1.555555555539p-3lf);
  return mad64(s, z * p, s);
}

fn asin_odd(x: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let a = bitcast<f64>(vec2<u32>(w.x, w.y & 0x7fffffffu));
  let big = a > 0.5lf;
  // Above 1 this is negative and its root a NaN.
  let z = select(a * a, (1.0lf - a) * 0.5lf, big);
  let p = arc_sine(select(a, sqrt(z), big), z);
  let y = bitcast<vec2<u32>>(select(p, ARC_PI_2 + (ARC_PI_2_LOW - 2.0lf * p), big));
  return bitcast<f64>(vec2<u32>(y.x, y.y ^ (w.y & 0x80000000u)));
}

fn acos_odd(x: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let a = bitcast<f64>(vec2<u32>(w.x, w.y & 0x7fffffffu));
  let negative = w.y >= 0x80000000u;
  let big = a > 0.5lf;
  let z = select(a * a, (1.0lf - a) * 0.5lf, big);
  let p = arc_sine(select(a, sqrt(z), big), z);
  let d = select(p, 2.0lf * p, big);
  let m = select(d, -d, big == negative);
  // 0, pi/2 or pi as an exact multiple: a choice between constants would become a table in constant memory.
  let n = f64(select(1u, select(0u, 2u, negative), big));
  let high = n * ARC_PI_2;
  let low = n * ARC_PI_2_LOW;
  // Odd, so never on a tie: acos of 0x328885a3 and of 0x39826222 is a little above one.
  let y = bitcast<vec2<u32>>(high + (low + m));
  return bitcast<f64>(vec2<u32>(y.x | 1u, y.y));
}

// atan(a/b), or pi/2 - atan(a/b) where swapped, for 0 <= a <= b, both of at most 24 bits so that a - b and a + b are exact.
// No table: tables in constant memory cost an H200 more than the terms they save.
fn arc_tangent(a: f64, b: f64, swapped: bool) -> f64 {
  let big = a > 0x1.a8p-2lf * b;
  let t = select(a, a - b, big) / select(b, a + b, big);
  let z = t * t;
  var p = -0x1.24726b99bebcep-6lf;
  p = mad64(p, z, 0x1.37665bd45adep-5lf);
  p = mad64(p, z, -0x1.9ca7bf6eb1723p-5lf);
  p = mad64(p, z, 0x1.df05f29909404p-5lf);
  p = mad64(p, z, -0x1.10eb179c868c4p-4lf);
  p = mad64(p, z, 0x1.3b110b57375efp-4lf);
  p = mad64(p, z, -0x1.745cf81c1ee8fp-4lf);
  p = mad64(p, z, 0x1.c71c70df9abcdp-4lf);
  p = mad64(p, z, -0x1.249249229d85dp-3lf);
  p = mad64(p, z, 0x1.9999999995605p-3lf);
  p = mad64(p, z, -0x1.555555555553cp-2lf);
  let y = mad64(t, z * p, t);
  let n = f64(select(select(0u, 2u, swapped), 1u, big));
  let high = n * (0.5lf * ARC_PI_2);
  let low = n * (0.5lf * ARC_PI_2_LOW);
  return high + (low + select(y, -y, swapped));
}

fn atan_odd(x: f64) -> f64 {
  let w = bitcast<vec2<u32>>(x);
  let a = bitcast<f64>(vec2<u32>(w.x, w.y & 0x7fffffffu));
  let swapped = a > 1.0lf;
  // Infinity counts as 2^200.
  let b = select(a, 0x1p200lf, a > 0x1p200lf);
  let y = bitcast<vec2<u32>>(arc_tangent(select(a, 1.0lf, swapped), select(1.0lf, b, swapped), swapped));
  // Odd, so never on a tie: atan of 0x3d8d6b23 lies 2^-32 units of f32 above one.
  return bitcast<f64>(vec2<u32>(y.x | 1u, y.y ^ (w.y & 0x80000000u)));
}

fn f32_asin(x: u32) -> u32 {
  return narrow(asin_odd(widen(x)));
}

fn f32_acos(x: u32) -> u32 {
  return narrow(acos_odd(widen(x)));
}

fn f32_atan(x: u32) -> u32 {
  return narrow(atan_odd(widen(x)));
}

fn f16_asin(x: u32) -> u32 {
  return narrow_f16(asin_odd(widen_f16(x)));
}

fn f16_acos(x: u32) -> u32 {
  return narrow_f16(acos_odd(widen_f16(x)));
}

fn f16_atan(x: u32) -> u32 {
  return narrow_f16(atan_odd(widen_f16(x)));
}

fn bf16_asin(x: u32) -> u32 {
  return narrow_bf16(asin_odd(widen_bf16(x)));
}

fn bf16_acos(x: u32) -> u32 {
  return narrow_bf16(acos_odd(widen_bf16(x)));
}

fn bf16_atan(x: u32) -> u32 {
  return narrow_bf16(atan_odd(widen_bf16(x)));
}
// atan2(y, x). The fast phase is arc_tangent of the smaller over the larger, then pi minus that for negative x; its
// relative error is below 2^-50. Where moving it by 2^-49 either way rounds differently, atan2_odd repeats it in sums of two
// doubles with an error below 2^-100: atan(a/b) = atan(i/4) + atan(t), t = (a - b i/4) / (b + a i/4), |t| <= 1/8. A quotient that is a tie itself is told from the arc tangent below it, since the cubic
// term is kept as a separate number however small it is.

// atan(i/4), then pi/2 - atan(i/4), each as a sum of two.
const ARC_HIGH = array<f64, 10>(0.0lf, 0x1.f5b75f92c80ddp-3lf, 0x1.dac670561bb4fp-2lf, 0x1.4978fa3269ee1p-1lf,
                                0x1.921fb54442d18p-1lf, 0x1.921fb54442d18p0lf, 0x1.5368c951e9cfdp0lf, 0x1.1b6e192ebbe44p0lf,
                                0x1.dac670561bb4fp-1lf, 0x1.921fb54442d18p-1lf);
const ARC_LOW = array<f64, 10>(0.0lf, 0x1.8ab6e3cf7afbdp-57lf, 0x1.a2b7f222f65e2p-56lf, 0x1.2419a87f2a458p-56lf,
                               0x1.1a62633145c07p-55lf, 0x1.1a62633145c07p-54lf, -0x1.96f47948a99f1p-54lf,
                               0x1.b1b466a88828ep-54lf, 0x1.a2b7f222f65e2p-55lf, 0x1.1a62633145c07p-55lf);

// The odd coefficients of atan's series.
const ARC_C = array<f64, 22>(
  0x1p0lf, -0x1.5555555555555p-2lf, 0x1.999999999999ap-3lf, -0x1.2492492492492p-3lf,
  0x1.c71c71c71c71cp-4lf, -0x1.745d1745d1746p-4lf, 0x1.3b13b13b13b14p-4lf, -0x1.1111111111111p-4lf,
  0x1.e1e1e1e1e1e1ep-5lf, -0x1.af286bca1af28p-5lf, 0x1.8618618618618p-5lf, -0x1.642c8590b2164p-5lf,
  0x1.47ae147ae147bp-5lf, -0x1.2f684bda12f68p-5lf, 0x1.1a7b9611a7b96p-5lf, -0x1.0842108421084p-5lf,
  0x1.f07c1f07c1f08p-6lf, -0x1.d41d41d41d41dp-6lf, 0x1.bacf914c1badp-6lf, -0x1.a41a41a41a41ap-6lf,
  0x1.8f9c18f9c18fap-6lf, -0x1.7d05f417d05f4p-6lf);
const ARC_C_LOW = array<f64, 22>(
  0.0lf, -0x1.5555555555555p-56lf, -0x1.999999999999ap-57lf, -0x1.2492492492492p-57lf,
  0x1.c71c71c71c71cp-58lf, 0x1.745d1745d1746p-59lf, -0x1.3b13b13b13b14p-58lf, -0x1.1111111111111p-60lf,
  0x1.e1e1e1e1e1e1ep-61lf, -0x1.af286bca1af28p-59lf, 0x1.8618618618618p-59lf, -0x1.642c8590b2164p-60lf,
  -0x1.eb851eb851eb8p-61lf, -0x1.2f684bda12f68p-59lf, 0x1.1a7b9611a7b96p-61lf, -0x1.0842108421084p-60lf,
  -0x1.f07c1f07c1f08p-61lf, -0x1.075075075075p-60lf, -0x1.bacf914c1badp-60lf, -0x1.069069069069p-60lf,
  -0x1.f3831f3831f38p-61lf, -0x1.7d05f417d05f4p-62lf);

// y or x is NaN, x or y is infinite, or both are zero: the result as j pi/4, rounded by its two parts (IEEE 754-2019 9.2.1).
fn atan2_special(y: f64, x: f64) -> f64 {
  let v = bitcast<vec2<u32>>(y);
  let u = bitcast<vec2<u32>>(x);
  let hy = v.y & 0x7fffffffu;
  let hx = u.y & 0x7fffffffu;
  if (hy > 0x7ff00000u || (hy == 0x7ff00000u && v.x != 0u) || hx > 0x7ff00000u || (hx == 0x7ff00000u && u.x != 0u)) {
    return bitcast<f64>(vec2<u32>(0u, 0x7ff80000u));
  }
  let left = u.y >= 0x80000000u;
  let endless_y = hy == 0x7ff00000u;
  let endless_x = hx == 0x7ff00000u;
  let along = select(0.0lf, 4.0lf, left);
  let across = select(2.0lf, select(1.0lf, 3.0lf, left), endless_x);
  let a = bitcast<vec2<u32>>(select(along, across, endless_y) * (ARC_PI * 0.25lf));
  return bitcast<f64>(vec2<u32>(a.x, a.y | (v.y & 0x80000000u)));
}

fn atan2_is_special(y: f64, x: f64) -> bool {
  let hy = bitcast<vec2<u32>>(y).y & 0x7fffffffu;
  let hx = bitcast<vec2<u32>>(x).y & 0x7fffffffu;
  return max(hx, hy) - 1u >= 0x7fefffffu;
}

fn atan2_fast(y: f64, x: f64) -> f64 {
  if (atan2_is_special(y, x)) {
    return atan2_special(y, x);
  }
  let v = bitcast<vec2<u32>>(y);
  let u = bitcast<vec2<u32>>(x);
  let b = bitcast<f64>(vec2<u32>(v.x, v.y & 0x7fffffffu));
  let a = bitcast<f64>(vec2<u32>(u.x, u.y & 0x7fffffffu));
  let steep = b > a;
  let r = arc_tangent(select(b, a, steep), select(a, b, steep), steep);
  let s = bitcast<vec2<u32>>(select(r, ARC_PI + (ARC_PI_LOW - r), u.y >= 0x80000000u));
  return bitcast<f64>(vec2<u32>(s.x, s.y | (v.y & 0x80000000u)));
}

fn atan2_odd(y: f64, x: f64) -> f64 {
  if (atan2_is_special(y, x)) {
    return atan2_special(y, x);
  }
  let v = bitcast<vec2<u32>>(y);
  let u = bitcast<vec2<u32>>(x);
  let ay = bitcast<f64>(vec2<u32>(v.x, v.y & 0x7fffffffu));
  let ax = bitcast<f64>(vec2<u32>(u.x, u.y & 0x7fffffffu));
  let steep = ay > ax;
  let a = select(ay, ax, steep);
  let b = select(ax, ay, steep);
  if (a == 0.0lf && !steep && u.y < 0x80000000u) {
    return y;
  }
  let w = a * 8.0lf;
  let i = select(0u, 1u, w > b) + select(0u, 1u, w > 3.0lf * b) + select(0u, 1u, w > 5.0lf * b) + select(0u, 1u, w > 7.0lf * b);
  let c = f64(i) * 0.25lf;
  let n = a - c * b;
  let d = b + c * a;
  // n/d as a sum of two: the remainder of a quotient is exact.
  let q = n / d;
  let p = two_prod(q, d);
  let t = fast_two_sum(q, ((n - p.x) - p.y) / d);
  let z = sum2_mul(t, t);
  var g = vec2<f64>(ARC_C[17], ARC_C_LOW[17]);
  for (var j = 17u; j > 1u; j = j - 1u) {
    g = sum2_add(vec2<f64>(ARC_C[j - 1u], ARC_C_LOW[j - 1u]), sum2_mul(g, z));
  }
  var r = sum2_add(t, sum2_mul(t, sum2_mul(z, g)));
  if (steep) {
    r = vec2<f64>(-r.x, -r.y);
  }
  let j = select(i, i + 5u, steep);
  if (j != 0u) {
    r = sum2_add(vec2<f64>(ARC_HIGH[j], ARC_LOW[j]), r);
  }
  if (u.y >= 0x80000000u) {
    r = sum2_add(vec2<f64>(ARC_PI, ARC_PI_LOW), vec2<f64>(-r.x, -r.y));
  }
  let s = bitcast<vec2<u32>>(odd(r.x, r.y));
  return bitcast<f64>(vec2<u32>(s.x, s.y | (v.y & 0x80000000u)));
}

fn f32_atan2(y: u32, x: u32) -> u32 {
  let a = widen(y);
  let b = widen(x);
  let v = atan2_fast(a, b);
  // v is within 8 of its last places: 16 clear of every tie of normal results decide, and cost least.
  if (elem_is_clear(v, 16u)) {
    return narrow(v);
  }
  let r = narrow(v * 0x1.ffffffffffff0p-1lf);
  if (r == narrow(v * 0x1.0000000000008p0lf)) {
    return r;
  }
  return narrow(atan2_odd(a, b));
}

fn f16_atan2(y: u32, x: u32) -> u32 {
  let a = widen_f16(y);
  let b = widen_f16(x);
  let v = atan2_fast(a, b);
  let r = narrow_f16(v * 0x1.ffffffffffff0p-1lf);
  if (r == narrow_f16(v * 0x1.0000000000008p0lf)) {
    return r;
  }
  return narrow_f16(atan2_odd(a, b));
}

fn bf16_atan2(y: u32, x: u32) -> u32 {
  let a = widen_bf16(y);
  let b = widen_bf16(x);
  let v = atan2_fast(a, b);
  let r = narrow_bf16(v * 0x1.ffffffffffff0p-1lf);
  if (r == narrow_bf16(v * 0x1.0000000000008p0lf)) {
    return r;
  }
  return narrow_bf16(atan2_odd(a, b));
}
