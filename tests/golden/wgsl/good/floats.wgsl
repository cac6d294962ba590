enable f16;
struct S { a: f16, b: vec3h, c: f32, d: mat3x3h, e: mat2x4<bf16>, f: bf16, g: array<f16, 3>, h: vec4<bf16> }
@group(0) @binding(0) var<storage, read_write> s: S;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<uniform> u: mat2x2f;
override oh: f16 = 1.5;
override ob: bf16 = bf16(f32(oh)) * 2;
override ok: bool = oh > 1.0h && bool(ob);
fn rsqrt(x: f32) -> f32 { return x; }
fn exp10(x: u32) -> u32 { return x + 1u; }
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let x = a[0]; let i = i32(g.x);
  a[1] = rsqrt(x) + log10(x) + cbrt(x) + f32(exp10(2u));
  s.a = s.a * 2.0 + oh; s.f = s.f * ob; s.c = select(1.0, x, ok);
  a[2] = ldexp(x, i) + ldexp(1.5, 4) + f32(ldexp(s.a, i));
  let fr = frexp(x); a[3] = fr.fract + f32(fr.exp);
  let fv = frexp(vec2(1.0, 2.0)); a[3] = fv.fract.x + f32(fv.exp.y);
  let m = modf(s.b); a[4] = f32(m.fract.x + m.whole.y);
  let n = modf(1.25); a[4] = n.fract;
  a[5] = quantizeToF16(x) + quantizeToF16(1.0001);
  a[6] = bitcast<f32>(pack4x8snorm(vec4f(x)) + pack4x8unorm(vec4f(x)) + pack2x16snorm(vec2f(x)) + pack2x16unorm(vec2f(x))+pack2x16float(vec2f(x)));
  a[7] = unpack4x8snorm(g.x).x + unpack4x8unorm(g.x).y + unpack2x16snorm(g.x).x + unpack2x16unorm(g.x).y + unpack2x16float(g.x).x;
  a[8] = refract(vec3f(x), vec3f(1, 0, 0), 1.5).x + reflect(vec3f(x), vec3f(1,2,3)).x + faceForward(vec2f(x), vec2f(1), vec2f(2)).y + cross(vec3f(x), vec3f(1,2,3)).x + normalize(vec4f(x)).x + distance(x, 1) + mix(x, 2, 0.5) + mix(vec2f(x), vec2(1.0), x).x + step(0, x) + smoothstep(0, 1, x) + degrees(x) + radians(x) + fract(x) + saturate(x) + inverseSqrt(x);
  a[9] = determinant(mat4x4f(x, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)) + determinant(mat3x3f(1,2,3,4,5,6,7,8,10));
  let mm = mat2x2(1, 2, 3, 4); a[10] = (mm * vec2f(x)).y + mm[0][1];
  let tt = transpose(u); a[11] = tt[i][0] + (u * 2 + u - mm)[1].x;
  s.h = bitcast<vec4<bf16>>(vec2(g.x, 2u)); a[12] = bitcast<f32>(bitcast<vec2h>(g.x));
  a[13] = f32(bf16(x)) + f32(f16(x)) + f32(bf16(s.a));
  var v = vec3f(); v.x += x; v *= 2; v %= vec3f(3); v -= x; a[14] = v.z;
  for (var k = 0u; k < 4u; k++) { a[15] += 1.5; }
  if (-x < -0.0 || !(x >= 1)) { a[16] = -1e-45; }
}
