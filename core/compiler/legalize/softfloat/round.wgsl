// Between the formats a program has and the f64 that forms compute in: exact widening, rounding to odd, and the
// one final rounding. All of it works on bits, since few devices convert f32 subnormals as IEEE 754 asks.

// The f64 with the value of an f32, f16 or bf16 given as bits. Exact for every input; a NaN gives a NaN.
fn widen(x: u32) -> f64 {
  return bitcast<f64>(f64_from_f32_int(x));
}

fn widen_f16(x: u32) -> f64 {
  return bitcast<f64>(f64_from_f32_int(f16_to_f32(x)));
}

fn widen_bf16(x: u32) -> f64 {
  return bitcast<f64>(f64_from_f32_int(x << 16u));
}

// The bits of the f32, f16 or bf16 nearest to y, ties to even; subnormals, overflow and NaN included.
fn narrow(y: f64) -> u32 {
  return f64_to_f32_int(bitcast<vec2<u32>>(y));
}

fn narrow_f16(y: f64) -> u32 {
  return f64_to_f16_int(bitcast<vec2<u32>>(y));
}

fn narrow_bf16(y: f64) -> u32 {
  return f64_to_bf16_int(bitcast<vec2<u32>>(y));
}

// widen and narrow where the device's own conversions are exact.
fn widen_native(x: u32) -> f64 {
  return f64(bitcast<f32>(x));
}

fn narrow_native(y: f64) -> u32 {
  let r = bitcast<u32>(f32(y));
  return select(r, 0x7fc00000u, (r << 1u) > 0xff000000u);
}

// The same where the device's conversions are exact but for subnormals. An f32's exponent as an f64's own is 2^-896 of the
// number, whether it is subnormal or not; the largest one is put in place of it where there is no number.
fn widen_guarded(x: u32) -> f64 {
  let high = bitcast<u32>(bitcast<i32>(x) >> 3u) & 0x8fffffffu;
  let special = select(0u, 0x7ff00000u, (x & 0x7f800000u) == 0x7f800000u);
  return bitcast<f64>(vec2<u32>(x << 29u, high | special)) * 0x1p896lf;
}

// |y| in [2^-126, 2^128) rounds to a normal number or to infinity; the rest, NaN too, goes by the bits.
fn narrow_guarded(y: f64) -> u32 {
  let b = bitcast<vec2<u32>>(y);
  if ((b.y & 0x7fffffffu) - 0x38100000u < 0x0fe00000u) {
    return bitcast<u32>(f32(y));
  }
  return f64_to_f32_int(b);
}

// hi + lo rounded to odd, for |lo| <= ulp(hi)/2: hi if that is the sum or its last bit is 1, else the neighbour of
// hi on the side of lo, whose last bit is 1. Of what follows (at most 50 bits kept, to nearest) no tie or near tie
// is then lost. An infinite hi or a NaN stays, whatever lo is.
fn odd(hi: f64, lo: f64) -> f64 {
  return bitcast<f64>(f64_odd_int(bitcast<vec2<u32>>(hi), bitcast<vec2<u32>>(lo)));
}

fn f64_odd_int(hi: vec2<u32>, lo: vec2<u32>) -> vec2<u32> {
  let inexact = ((lo.y << 1u) | lo.x) != 0u;
  let finite = (hi.y & 0x7ff00000u) != 0x7ff00000u;
  if (!inexact || !finite || (hi.x & 1u) == 1u) {
    return hi;
  }
  // hi is even, so up is an increment without carry and down a decrement that borrows where the low word is 0.
  let down = ((hi.y ^ lo.y) >> 31u) == 1u;
  return select(vec2<u32>(hi.x | 1u, hi.y), vec2<u32>(hi.x - 1u, hi.y - u32(hi.x == 0u)), down);
}

// a * b + c with one rounding, for every input.
fn fma64(a: f64, b: f64, c: f64) -> f64 {
  return bitcast<f64>(f64_fma_int(bitcast<vec2<u32>>(a), bitcast<vec2<u32>>(b), bitcast<vec2<u32>>(c)));
}

fn fma64_native(a: f64, b: f64, c: f64) -> f64 {
  return fma(a, b, c);
}

// a * b + c where it does not matter whether it is rounded once or twice: whoever calls this is right both ways, and
// takes whichever the device does in fewer steps.
fn mad64(a: f64, b: f64, c: f64) -> f64 {
  return a * b + c;
}

fn mad64_fused(a: f64, b: f64, c: f64) -> f64 {
  return fma(a, b, c);
}

// The rounded sum and what the rounding lost, which is always a number (Knuth): x + y = a + b exactly. Valid for
// every finite a and b whose sum does not overflow; else y is a NaN.
fn two_sum(a: f64, b: f64) -> vec2<f64> {
  let s = a + b;
  let t = s - a;
  return vec2<f64>(s, (a - (s - t)) + (b - t));
}

// The same for |a| >= |b| or a = 0 (Dekker).
fn fast_two_sum(a: f64, b: f64) -> vec2<f64> {
  let s = a + b;
  return vec2<f64>(s, b - (s - a));
}

// The rounded product and what the rounding lost (Veltkamp's halves, Dekker's sum). Valid for |a|, |b| < 2^995,
// |a * b| < 2^1021, and a * b = 0 or |a * b| >= 2^-968: every part of the loss is then a normal number.
fn two_prod(a: f64, b: f64) -> vec2<f64> {
  let p = a * b;
  let ca = 0x1.0000002p27lf * a;
  let cb = 0x1.0000002p27lf * b;
  let a1 = ca - (ca - a);
  let b1 = cb - (cb - b);
  let a0 = a - a1;
  let b0 = b - b1;
  return vec2<f64>(p, ((a1 * b1 - p) + a1 * b0 + a0 * b1) + a0 * b0);
}
