// rules 1: PC2103@15 PC2103@6 PC2103@7 PC2103@7 PC2103@8 PC2103@8 PC2219@2 PC2219@2 PC2219@2 PC2219@2 PC2219@20 PC2219@20 PC2219@20 PC2219@20 PC2219@20 PC2219@20 PC2219@20 PC2219@21 PC2219@4 PC2219@5 PC2219@7 PC2219@7 PC2219@9 PC2219@9
struct S { n: u32, d: f64, v: vec3<f64>, m: mat2x2<f64>, l: array<f64, 3> }
@group(0) @binding(0) var<storage, read_write> s: S;
@group(0) @binding(1) var<uniform> u: vec2<f64>;
var<workgroup> w: array<f64, 64>;
const third = 1.0lf / 3.0;
const_assert f64(16777217) == 16777217.0lf && f64(9007199254740993lu) == 9007199254740992.0lf;
const_assert i64(-1e300lf) == -0x7fffffffffffffffli - 1li && u64(1.9lf) == 1lu;
fn f(x: f64) -> f64 { return fma(x, x, -0.5) * sqrt(abs(x)); }
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
	w[i] = f(s.d) + third;
	workgroupBarrier();
	let a = w[63u - i] % 2.5;
	var b = clamp(min(a, u.x), -1e300, max(u.y, 0x1p-1074lf));
	b = mix(b, sign(a), smoothstep(0.0, 1.0, a)) + length(s.v) + dot(s.v, vec3(a, b, 1.0)) + determinant(s.m);
	b += floor(a) - ceil(a) + trunc(b) + round(b) + fract(a) + modf(a).whole + inverseSqrt(b) + degrees(a);
	s.m = s.m * s.m;
	s.v = select(s.v, cross(s.v, s.v.zyx), b <= a || b != a);
	s.l[i % 3u] = f64(i64(a)) + f64(u64(b)) + f64(i32(a)) + f64(u32(b)) + f64(f32(a)) + f64(bf16(b)) + f64(bool(a));
	s.d = bitcast<f64>(bitcast<vec2<u32>>(a).yx) + bitcast<f64>(bitcast<u64>(b) + 1lu) - f64(i);
	s.n = u32(b);
}
