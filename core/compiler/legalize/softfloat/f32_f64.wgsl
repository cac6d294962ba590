// f32 through the device's f64, where that is exact: sums, products, quotients and roots of two f32 may be rounded
// twice, since 53 >= 2 * 24 + 2 and the second rounding, on bits (narrow), knows the subnormal range. There the
// result of a sum is exact already; a product is exact in f64 always; and a quotient a / b differs from any tie t
// of at most 25 bits by |a - t b| / b, which is 0 or more than 2^-50 of it. Operands never meet f32 arithmetic.

fn f32_add_f64(a: u32, b: u32) -> u32 {
  return narrow(widen(a) + widen(b));
}

fn f32_sub_f64(a: u32, b: u32) -> u32 {
  return narrow(widen(a) - widen(b));
}

fn f32_mul_f64(a: u32, b: u32) -> u32 {
  return narrow(widen(a) * widen(b));
}

fn f32_div_f64(a: u32, b: u32) -> u32 {
  return narrow(widen(a) / widen(b));
}

fn f32_sqrt_f64(a: u32) -> u32 {
  return narrow(sqrt(widen(a)));
}

// The product is exact; the sum is rounded to odd, so that a tie of f32 is met only where it is one. (f32's range
// in f64 leaves no room for overflow or loss in two_sum.)
fn f32_fma_f64(a: u32, b: u32, c: u32) -> u32 {
  let sum = two_sum(widen(a) * widen(b), widen(c));
  return narrow(odd(sum.x, sum.y));
}
