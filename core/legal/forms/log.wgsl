// log, log2 and log10, rounded correctly to f32, f16 and bf16: x = 2^e * m, r = m * R[i] - 1 is exact, and the result
// is (e * step + L[i]) + (P(r) + e * rest), the first bracket exact too. Constants by sollya/log.sollya.
// Error before the last sum: below 2^-56 of the result away from 1, below 2^-52.4 within 2^-6 of it. That this is
// enough is no estimate: every input was run against MPFR (HARD.md).

const LOG_R = array<f64, 32>(
  0x1.6c171dbp0lf,
  0x1.642b0bcp0lf,
  0x1.5c9838bp0lf,
  0x1.5554899p0lf,
  0x1.4e5fd2fp0lf,
  0x1.47aff0cp0lf,
  0x1.414060ap0lf,
  0x1.3b16a5p0lf,
  0x1.3523402p0lf,
  0x1.2f65686p0lf,
  0x1.29e7038p0lf,
  0x1.248e658p0lf,
  0x1.1f69253p0lf,
  0x1.1a7aaefp0lf,
  0x1.15b029p0lf,
  0x1.1111a57p0lf,
  0x1.0c94d24p0lf,
  0x1.084070dp0lf,
  0x1.0411208p0lf,
  0x1p0lf,
  0x1.f075b91p-1lf,
  0x1.e1e538p-1lf,
  0x1.d41d477p-1lf,
  0x1.c71da43p-1lf,
  0x1.bad1b86p-1lf,
  0x1.af29102p-1lf,
  0x1.a416ba4p-1lf,
  0x1.9999fa2p-1lf,
  0x1.8f9ce68p-1lf,
  0x1.86187d7p-1lf,
  0x1.7d06ae2p-1lf,
  0x1.745e99fp-1lf);
const LOG_L = array<f64, 32>(
  -0x1.68ad8768a5cp-2lf,
  -0x1.5226a2394a2p-2lf,
  -0x1.3c244df81cp-2lf,
  -0x1.2693bdc2974p-2lf,
  -0x1.117e5e1dc4p-2lf,
  -0x1.f99d6772c8p-3lf,
  -0x1.d0fde720614p-3lf,
  -0x1.a9520431aap-3lf,
  -0x1.82459f236bcp-3lf,
  -0x1.5be0872581p-3lf,
  -0x1.367402f7cc4p-3lf,
  -0x1.115dae742bp-3lf,
  -0x1.da0cc6e1288p-4lf,
  -0x1.9328ce68398p-4lf,
  -0x1.4d17727d7d8p-4lf,
  -0x1.08623ce787p-4lf,
  -0x1.8905ad9fb2p-5lf,
  -0x1.03e381a6dcp-5lf,
  -0x1.023c64f194p-6lf,
  0x0p0lf,
  0x1.f8fcd733d2p-6lf,
  0x1.f06a54335ap-5lf,
  0x1.6f0cf79a57p-4lf,
  0x1.e265b1364f8p-4lf,
  0x1.294b3acc314p-3lf,
  0x1.5feffa730ep-3lf,
  0x1.9536dde9c4cp-3lf,
  0x1.c8fd99d9e28p-3lf,
  0x1.fb8d6986f2cp-3lf,
  0x1.16758174bdp-2lf,
  0x1.2e8c37b88bep-2lf,
  0x1.461494cfeep-2lf);
// LOG: |P / log(1 + r) - 1| <= 2^-57.875 on |r| <= 1.5625e-2
const LOG_HI = 0x1.62e42fefa3ap-1lf;
const LOG_LO = -0x1.0ca86c3898dp-49lf;
const LOG_C2 = -0x1p-1lf;
const LOG_C3 = 0x1.5555555556aadp-2lf;
const LOG_C4 = -0x1.000000000181ap-2lf;
const LOG_C5 = 0x1.999998998124ep-3lf;
const LOG_C6 = -0x1.55555452e2a2bp-3lf;
const LOG_C7 = 0x1.24adb8cde4aa6p-3lf;
const LOG_C8 = -0x1.0019db915ef7p-3lf;
const LOG2_R = array<f64, 32>(
  0x1.6c15cc5p0lf,
  0x1.642cc07p0lf,
  0x1.5c99e56p0lf,
  0x1.5553be3p0lf,
  0x1.4e5c5b6p0lf,
  0x1.47aae9fp0lf,
  0x1.414327ep0lf,
  0x1.3b1408cp0lf,
  0x1.3524c44p0lf,
  0x1.2f682bbp0lf,
  0x1.29e529p0lf,
  0x1.24925b4p0lf,
  0x1.1f6f5efp0lf,
  0x1.1a77857p0lf,
  0x1.15b2125p0lf,
  0x1.1110ee6p0lf,
  0x1.0c95b12p0lf,
  0x1.08425ffp0lf,
  0x1.040e353p0lf,
  0x1p0lf,
  0x1.f07a895p-1lf,
  0x1.e1e2448p-1lf,
  0x1.d41c73p-1lf,
  0x1.c718ba3p-1lf,
  0x1.bacfe32p-1lf,
  0x1.af282d5p-1lf,
  0x1.a41b69fp-1lf,
  0x1.999a654p-1lf,
  0x1.8f9c7c4p-1lf,
  0x1.861dbcep-1lf,
  0x1.7d079c9p-1lf,
  0x1.745df7cp-1lf);
const LOG2_L = array<f64, 32>(
  -0x1.0429e3725p-1lf,
  -0x1.e7e054151e6p-2lf,
  -0x1.c81fbb262b4p-2lf,
  -0x1.a8f8b4ea886p-2lf,
  -0x1.8a82100f162p-2lf,
  -0x1.6ca2b03030cp-2lf,
  -0x1.4f7878ea89p-2lf,
  -0x1.32c188921e2p-2lf,
  -0x1.16aa24a69fep-2lf,
  -0x1.f5fc515755cp-3lf,
  -0x1.bfd1439e474p-3lf,
  -0x1.8a8a378887cp-3lf,
  -0x1.5634685b33cp-3lf,
  -0x1.22b05755de4p-3lf,
  -0x1.e0b55e3d1p-4lf,
  -0x1.7d5d5aaebcp-4lf,
  -0x1.1b949503ef8p-4lf,
  -0x1.77472c9cdfp-5lf,
  -0x1.7384ed005cp-6lf,
  0x0p0lf,
  0x1.6bd2f14dddp-5lf,
  0x1.663ab6563c8p-4lf,
  0x1.08caa24433cp-3lf,
  0x1.5c19c591708p-3lf,
  0x1.acf3c0dd704p-3lf,
  0x1.fbc317b4b3p-3lf,
  0x1.243c68bfde6p-2lf,
  0x1.49a4a63a6e8p-2lf,
  0x1.6e20add7ecp-2lf,
  0x1.91a75f4cdeep-2lf,
  0x1.b47851b1aaap-2lf,
  0x1.d671c36c3f8p-2lf);
// LOG2: |P / log(1 + r) - 1| <= 2^-55.96875 on |r| <= 1.5625e-2
const LOG2_C1 = 0x1.71547652b82fep0lf;
const LOG2_C2 = -0x1.71547652b82fep-1lf;
const LOG2_C3 = 0x1.ec709dc3a51b8p-2lf;
const LOG2_C4 = -0x1.71547652bc283p-2lf;
const LOG2_C5 = 0x1.2776c3f85d171p-2lf;
const LOG2_C6 = -0x1.ec709bd2b8394p-3lf;
const LOG2_C7 = 0x1.a645ac4e6c715p-3lf;
const LOG2_C8 = -0x1.717e607356089p-3lf;
const LOG10_R = array<f64, 32>(
  0x1.6c1717cp0lf,
  0x1.642a94fp0lf,
  0x1.5c990f3p0lf,
  0x1.5555852p0lf,
  0x1.4e5c89ap0lf,
  0x1.47af22bp0lf,
  0x1.413f0fep0lf,
  0x1.3b17271p0lf,
  0x1.3522a19p0lf,
  0x1.2f655a3p0lf,
  0x1.29e3728p0lf,
  0x1.2492677p0lf,
  0x1.1f6eedfp0lf,
  0x1.1a7bc87p0lf,
  0x1.15b1aa7p0lf,
  0x1.1112f37p0lf,
  0x1.0c977a1p0lf,
  0x1.0842e6bp0lf,
  0x1.04102cp0lf,
  0x1p0lf,
  0x1.f077a91p-1lf,
  0x1.e1e2115p-1lf,
  0x1.d41cae5p-1lf,
  0x1.c71e98p-1lf,
  0x1.bad54ccp-1lf,
  0x1.af28c64p-1lf,
  0x1.a41a58ep-1lf,
  0x1.999c6d7p-1lf,
  0x1.8f9d4bcp-1lf,
  0x1.8620088p-1lf,
  0x1.7d04b3ep-1lf,
  0x1.745dc43p-1lf);
const LOG10_L = array<f64, 32>(
  -0x1.3947d3db804p-3lf,
  -0x1.25b5a9e5684p-3lf,
  -0x1.129b0b5f25p-3lf,
  -0x1.ffc0bbcd17p-4lf,
  -0x1.db09ee23c28p-4lf,
  -0x1.b72787f3868p-4lf,
  -0x1.93dbb984448p-4lf,
  -0x1.71709608ecp-4lf,
  -0x1.4f7f653f018p-4lf,
  -0x1.2e29313ed4p-4lf,
  -0x1.0d92b09dfd8p-4lf,
  -0x1.db135dda42p-5lf,
  -0x1.9c08c117aep-5lf,
  -0x1.5e3be11608p-5lf,
  -0x1.216520b2cdp-5lf,
  -0x1.cb6a1617cep-6lf,
  -0x1.55a64805b6p-6lf,
  -0x1.c3fd91100cp-7lf,
  -0x1.c03184a7f8p-8lf,
  0x0p0lf,
  0x1.b668e636a8p-7lf,
  0x1.af5cd65588p-6lf,
  0x1.3ed57ac01fp-5lf,
  0x1.a2f9d02a2p-5lf,
  0x1.022b852f218p-4lf,
  0x1.31b19023a5p-4lf,
  0x1.5fe7a22717p-4lf,
  0x1.8ce53bfd25p-4lf,
  0x1.b8d8f7a01d8p-4lf,
  0x1.e39935ebe18p-4lf,
  0x1.06cec1fa7cp-3lf,
  0x1.1b3cd4e5e28p-3lf);
// LOG10: |P / log(1 + r) - 1| <= 2^-55.125 on |r| <= 1.5625e-2
const LOG10_HI = 0x1.34413509f7ap-2lf;
const LOG10_LO = -0x1.0cee0ed4ca7e9p-54lf;
const LOG10_C1 = 0x1.bcb7b1526e50ep-2lf;
const LOG10_C2 = -0x1.bcb7b1526e50ep-3lf;
const LOG10_C3 = 0x1.287a7636f888fp-3lf;
const LOG10_C4 = -0x1.bcb7b15274cf8p-4lf;
const LOG10_C5 = 0x1.63c625cc19fa4p-4lf;
const LOG10_C6 = -0x1.287a74d09cdfp-4lf;
const LOG10_C7 = 0x1.fc7dc82550b48p-5lf;
const LOG10_C8 = -0x1.bcee8f91939e7p-5lf;
// Where the cells begin: high word of 0.6953125, so that cell 19 is [1 - 2^-7, 1 + 2^-6) and has R = 1, L = 0.
const LOG_START = 0x3fe64000u;

// x is positive and finite, here and below; what other bits give is replaced by the callers.
fn log_odd(x: f64) -> f64 {
  let b = bitcast<vec2<u32>>(x);
  let z = b.y - LOG_START;
  let i = (z >> 15u) & 31u;
  let k = f64(bitcast<i32>(z) >> 20u);
  let r = bitcast<f64>(vec2<u32>(b.x, b.y - (z & 0xfff00000u))) * LOG_R[i] - 1.0lf;
  let q = r * r;
  let high = (LOG_C4 + r * LOG_C5) + q * ((LOG_C6 + r * LOG_C7) + q * LOG_C8);
  let p = r + q * ((LOG_C2 + r * LOG_C3) + q * high);
  return elem_settle(k * LOG_HI + LOG_L[i], p + k * LOG_LO);
}

fn log2_odd(x: f64) -> f64 {
  let b = bitcast<vec2<u32>>(x);
  let z = b.y - LOG_START;
  let i = (z >> 15u) & 31u;
  let k = f64(bitcast<i32>(z) >> 20u);
  let r = bitcast<f64>(vec2<u32>(b.x, b.y - (z & 0xfff00000u))) * LOG2_R[i] - 1.0lf;
  let q = r * r;
  let high = (LOG2_C4 + r * LOG2_C5) + q * ((LOG2_C6 + r * LOG2_C7) + q * LOG2_C8);
  let p = r * LOG2_C1 + q * ((LOG2_C2 + r * LOG2_C3) + q * high);
  return elem_settle(k + LOG2_L[i], p);
}

fn log10_odd(x: f64) -> f64 {
  let b = bitcast<vec2<u32>>(x);
  let z = b.y - LOG_START;
  let i = (z >> 15u) & 31u;
  let k = f64(bitcast<i32>(z) >> 20u);
  let r = bitcast<f64>(vec2<u32>(b.x, b.y - (z & 0xfff00000u))) * LOG10_R[i] - 1.0lf;
  let q = r * r;
  let high = (LOG10_C4 + r * LOG10_C5) + q * ((LOG10_C6 + r * LOG10_C7) + q * LOG10_C8);
  let p = r * LOG10_C1 + q * ((LOG10_C2 + r * LOG10_C3) + q * high);
  return elem_settle(k * LOG10_HI + LOG10_L[i], p + k * LOG10_LO);
}

// y, unless x is no positive number: zeros, negatives, infinity and NaN by their bits. `top` is the sign bit.
fn log_special(x: u32, y: u32, infinity: u32, top: u32, nan: u32) -> u32 {
  let positive = select(y, infinity, x == infinity);
  let ordered = select(positive, nan, x > infinity);
  return select(ordered, infinity | top, (x & (top - 1u)) == 0u);
}

fn f32_log(x: u32) -> u32 {
  return log_special(x, narrow(log_odd(widen(x))), 0x7f800000u, 0x80000000u, 0x7fc00000u);
}

fn f16_log(x: u32) -> u32 {
  return log_special(x, narrow_f16(log_odd(widen_f16(x))), 0x7c00u, 0x8000u, 0x7e00u);
}

fn bf16_log(x: u32) -> u32 {
  return log_special(x, narrow_bf16(log_odd(widen_bf16(x))), 0x7f80u, 0x8000u, 0x7fc0u);
}

fn f32_log2(x: u32) -> u32 {
  return log_special(x, narrow(log2_odd(widen(x))), 0x7f800000u, 0x80000000u, 0x7fc00000u);
}

fn f16_log2(x: u32) -> u32 {
  return log_special(x, narrow_f16(log2_odd(widen_f16(x))), 0x7c00u, 0x8000u, 0x7e00u);
}

fn bf16_log2(x: u32) -> u32 {
  return log_special(x, narrow_bf16(log2_odd(widen_bf16(x))), 0x7f80u, 0x8000u, 0x7fc0u);
}

fn f32_log10(x: u32) -> u32 {
  return log_special(x, narrow(log10_odd(widen(x))), 0x7f800000u, 0x80000000u, 0x7fc00000u);
}

fn f16_log10(x: u32) -> u32 {
  return log_special(x, narrow_f16(log10_odd(widen_f16(x))), 0x7c00u, 0x8000u, 0x7e00u);
}

fn bf16_log10(x: u32) -> u32 {
  return log_special(x, narrow_bf16(log10_odd(widen_bf16(x))), 0x7f80u, 0x8000u, 0x7fc0u);
}
