// flags: native
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
const T = array<f64, 3>(1.5lf, 0x1.8p3lf, 1e-300lf);
const U = array<u32, 3>(1, 2, 3);
const c : f64 = 1.0lf / 3.0;
fn f(x: f64, i: u32) -> f64 { return -x * T[i] + c + sqrt(x) + f64(U[i]) + fma(x, x, 0.1); }
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let y = bitcast<vec2<u32>>(f(bitcast<f64>(vec2<u32>(a[0], a[1])), a[2]));
  a[3] = y.x + mulHigh(y.y, y.x);
  a[4] = bitcast<u32>(f32(f64(bitcast<f32>(a[3]))) + sin(1.5 + f32(g.x)));
  if (f64(g.x) < 1.5) { a[5] = 1; }
}
