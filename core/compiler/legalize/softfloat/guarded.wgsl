// f32 on the device's own f32 where that is exact except around subnormals (verdict NORMAL), and the names that a
// profile directs: f32_add is f32's sum in whichever form forms.def admits, f32_add_slow the form behind a guard,
// f32_add_normal the form where the caller knows that no operand and no result is subnormal. Without a profile they are
// integers.
//
// Every guard looks at the native result r, which costs little when it holds. 'Accepted' below: r is then the IEEE
// result. NaNs are never accepted; what is not accepted is settled by an exact test or goes the slow way. The guards
// of sum and product suppose that a subnormal operand is either used as it is or taken for a zero; those of
// quotient, root and fused product suppose nothing and look at the operands too.

fn f32_add(a: u32, b: u32) -> u32 {
  return f32_add_int(a, b);
}

fn f32_mul(a: u32, b: u32) -> u32 {
  return f32_mul_int(a, b);
}

fn f32_div(a: u32, b: u32) -> u32 {
  return f32_div_int(a, b);
}

fn f32_sqrt(a: u32) -> u32 {
  return f32_sqrt_int(a);
}

fn f32_add_slow(a: u32, b: u32) -> u32 {
  return f32_add_int(a, b);
}

fn f32_mul_slow(a: u32, b: u32) -> u32 {
  return f32_mul_int(a, b);
}

fn f32_div_slow(a: u32, b: u32) -> u32 {
  return f32_div_int(a, b);
}

fn f32_sqrt_slow(a: u32) -> u32 {
  return f32_sqrt_int(a);
}

fn f32_fma_slow(a: u32, b: u32, c: u32) -> u32 {
  return f32_fma_int(a, b, c);
}

fn f32_add_normal(a: u32, b: u32) -> u32 {
  return f32_add(a, b);
}

fn f32_mul_normal(a: u32, b: u32) -> u32 {
  return f32_mul(a, b);
}

fn f32_div_normal(a: u32, b: u32) -> u32 {
  return f32_div(a, b);
}

fn f32_sqrt_normal(a: u32) -> u32 {
  return f32_sqrt(a);
}

fn f32_canonical(r: u32) -> u32 {
  return select(r, 0x7fc00000u, (r << 1u) > 0xff000000u);
}

fn f32_add_native(a: u32, b: u32) -> u32 {
  return f32_canonical(bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b)));
}

fn f32_mul_native(a: u32, b: u32) -> u32 {
  return f32_canonical(bitcast<u32>(bitcast<f32>(a) * bitcast<f32>(b)));
}

fn f32_div_native(a: u32, b: u32) -> u32 {
  return f32_canonical(bitcast<u32>(bitcast<f32>(a) / bitcast<f32>(b)));
}

fn f32_sqrt_native(a: u32) -> u32 {
  return f32_canonical(bitcast<u32>(sqrt(bitcast<f32>(a))));
}

fn f32_fma_native(a: u32, b: u32, c: u32) -> u32 {
  return f32_canonical(bitcast<u32>(fma(bitcast<f32>(a), bitcast<f32>(b), bitcast<f32>(c))));
}

// a or b is a subnormal number.
fn f32_has_subnormal(a: u32, b: u32) -> bool {
  return min((a << 1u) - 1u, (b << 1u) - 1u) < 0x00ffffffu;
}

// Accepted: 2^-99 <= |r| <= inf. Were both operands taken for 0, r would be 0. Were one, y, then r is the other, x,
// and |y| < 2^-126 is less than a quarter of x's last unit (2^-122 or more), so that x is the rounded sum. |r| is
// far from the subnormal range, so the result was not touched.
// Then: a zero operand leaves the other, x - x is +0, and of two normal numbers (or zeros) any normal r is right;
// 2^-126 itself is left out, since a device may round up to it what it ought to flush.
fn f32_add_guarded(a: u32, b: u32) -> u32 {
  let r = bitcast<u32>(bitcast<f32>(a) + bitcast<f32>(b));
  let m = r & 0x7fffffffu;
  if (m - 0x0e000000u <= 0x71800000u) {
    return r;
  }
  let x = a << 1u;
  let y = b << 1u;
  if (m - 0x00800001u <= 0x7effffffu && !f32_has_subnormal(a, b)) {
    return r;
  }
  if (min(x, y) == 0u && max(x, y) <= 0xff000000u) {
    return select(select(a, b, x == 0u), a & b, x == y);
  }
  if (x == y && x < 0xff000000u && a != b) {
    return 0u;
  }
  return f32_add_slow(a, b);
}

fn f32_sub_guarded(a: u32, b: u32) -> u32 {
  return f32_add_guarded(a, b ^ 0x80000000u);
}

// Accepted: 2^-126 < |r| <= inf. An operand taken for 0 makes r 0 or, beside an infinity, a NaN; a result taken for
// 0 makes it 0. Then: a zero and a finite number give a zero.
fn f32_mul_guarded(a: u32, b: u32) -> u32 {
  let r = bitcast<u32>(bitcast<f32>(a) * bitcast<f32>(b));
  if ((r & 0x7fffffffu) - 0x00800001u <= 0x7effffffu) {
    return r;
  }
  if (min(a << 1u, b << 1u) == 0u && max(a << 1u, b << 1u) < 0xff000000u) {
    return (a ^ b) & 0x80000000u;
  }
  return f32_mul_slow(a, b);
}

// Accepted: no operand is subnormal, and 2^-126 < |r| <= inf. Then: zero by a number other than 0 (or by an infinity)
// is a zero.
fn f32_div_guarded(a: u32, b: u32) -> u32 {
  let r = bitcast<u32>(bitcast<f32>(a) / bitcast<f32>(b));
  if ((r & 0x7fffffffu) - 0x00800001u <= 0x7effffffu && !f32_has_subnormal(a, b)) {
    return r;
  }
  if ((a << 1u) == 0u && (b << 1u) - 1u < 0xff000000u) {
    return (a ^ b) & 0x80000000u;
  }
  return f32_div_slow(a, b);
}

// Accepted: a is a positive normal number or +inf; its root is then normal too. Zeros are their own roots.
fn f32_sqrt_guarded(a: u32) -> u32 {
  if (a - 0x00800000u <= 0x7f000000u) {
    return bitcast<u32>(sqrt(bitcast<f32>(a)));
  }
  if ((a << 1u) == 0u) {
    return a;
  }
  return f32_sqrt_slow(a);
}

// Accepted: no operand is subnormal, and 2^-126 < |r| <= inf. (A subnormal addend may not be dropped whatever r is:
// the product has 48 bits and may be a tie, which the least addend breaks.) Then: where a or b is 0 and both are
// finite, c stays if it is a number other than 0, and of two zeros their sum.
fn f32_fma_guarded(a: u32, b: u32, c: u32) -> u32 {
  let r = bitcast<u32>(fma(bitcast<f32>(a), bitcast<f32>(b), bitcast<f32>(c)));
  if ((r & 0x7fffffffu) - 0x00800001u <= 0x7effffffu && !f32_has_subnormal(a, b) && (c << 1u) - 1u >= 0x00ffffffu) {
    return r;
  }
  if (min(a << 1u, b << 1u) == 0u && max(a << 1u, b << 1u) < 0xff000000u && (c << 1u) <= 0xff000000u) {
    return select(c, (a ^ b) & c, (c << 1u) == 0u);
  }
  return f32_fma_slow(a, b, c);
}

// A quotient from an estimate of any quality and a fused multiply-add that is exact on normal numbers.
//
// With x, y the significands of a and b, x doubled where it is less, the quotient t = x / y is in [1, 2), and rounds
// to one of the q = 1 + k 2^-23 below 2. Let q be one of these and e = x - q y. As |e| <= 2^-23 y is a multiple of
// 2^-46 with at most 24 bits, the fused e is exact there, and elsewhere it is at least 2^-23 y, rounding being
// monotonic. So |e| < 2^-23 y says that t is within a unit of q, and comparing e with 2^-24 y says which of q and its
// neighbours is nearest. t is never a tie: q' y = x 2^24 with q' odd of 25 bits would ask y to divide by 2^24.
// Everything here is 0 or lies between 2^-47 and 4, so nothing is subnormal.

// The bits of t rounded, if the estimate decides it; else 0. `half` is y's significand with the exponent of 2^-24.
fn f32_div_decided(x: f32, y: f32, estimate: f32, half: u32) -> u32 {
  let q = clamp(bitcast<u32>(estimate), 0x3f800000u, 0x3fffffffu);
  let rest = bitcast<u32>(fma(-bitcast<f32>(q), y, x));
  let m = rest & 0x7fffffffu;
  let step = select(1u, 0xffffffffu, (rest >> 31u) == 1u);
  return select(0u, q + select(0u, step, m > half), m < half + 0x00800000u);
}

// A device's own quotient is most often within a unit and decides; else one that is refined.
fn f32_div_refined(a: u32, b: u32) -> u32 {
  let ea = (a >> 23u) & 0xffu;
  let eb = (b >> 23u) & 0xffu;
  let less = u32((a & 0x7fffffu) < (b & 0x7fffffu));
  let e = i32(ea + 127u) - i32(eb + less);
  if (max(ea - 1u, eb - 1u) < 254u && u32(e - 1) < 254u) {
    let x = bitcast<f32>((a & 0x7fffffu) | ((127u + less) << 23u));
    let y = bitcast<f32>((b & 0x7fffffu) | 0x3f800000u);
    let half = (b & 0x7fffffu) | (103u << 23u);
    let first = x / y;
    var r = f32_div_decided(x, y, first, half);
    if (r == 0u) {
      r = f32_div_decided(x, y, fma(fma(-first, y, x), 1.0f / y, first), half);
    }
    if (r != 0u) {
      return ((a ^ b) & 0x80000000u) | ((u32(e) << 23u) + (r - 0x3f800000u));
    }
  }
  if ((a << 1u) == 0u && (b << 1u) - 1u < 0xff000000u) {
    return (a ^ b) & 0x80000000u;
  }
  return f32_div_slow(a, b);
}

// A root likewise. x in [1, 4) with an even exponent left over, its root t in [1, 2). Let s = 1 + k 2^-23 below 2,
// e = x - s^2 and h = s 2^-23, all multiples of 2^-46. t is nearer to s + 2^-23 than to s iff x > (s + 2^-24)^2, that
// is e > h + 2^-48, that is e > h; and nearer to s - 2^-23 iff e < 2^-48 - h, that is e <= -h. (t is never a tie,
// whose square has too many bits.) Numbers up to h + 2^-46 in magnitude are exact in f32, so the fused e compares
// with h as the exact one does; and if |e| <= 2 h, t is less than 1.5 units from s.
fn f32_sqrt_decided(x: f32, estimate: f32) -> u32 {
  let q = clamp(bitcast<u32>(estimate), 0x3f800000u, 0x3fffffffu);
  let s = bitcast<f32>(q);
  let rest = bitcast<u32>(fma(-s, s, x));
  let h = q - (23u << 23u);
  let r = q + u32(rest > h && rest < 0x80000000u) - u32(rest >= (h | 0x80000000u));
  return select(0u, r, (rest & 0x7fffffffu) <= h + 0x00800000u);
}

fn f32_sqrt_refined(a: u32) -> u32 {
  if (a - 0x00800000u < 0x7f000000u) {
    let odd_exponent = (a >> 23u) & 1u;
    // 127 or 128 for x; the other half of the exponent for the root.
    let x = bitcast<f32>((a & 0x7fffffu) | ((128u - odd_exponent) << 23u));
    let first = sqrt(x);
    var r = f32_sqrt_decided(x, first);
    if (r == 0u) {
      r = f32_sqrt_decided(x, fma(fma(-first, first, x), 0.5f / first, first));
    }
    if (r != 0u) {
      return (((a >> 24u) + 63u + odd_exponent) << 23u) + (r - 0x3f800000u);
    }
  }
  if ((a << 1u) == 0u) {
    return a;
  }
  return f32_sqrt_slow(a);
}
