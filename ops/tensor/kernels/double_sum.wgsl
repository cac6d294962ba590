// Sums of f64 that keep what each rounding lost (SEMANTICS.md 4.4): the sum, what was lost added up, magnitudes, and whether anything was lost
// at all (0: the sum is exact).
const UNTOLD: u64 = 0xfffffffffffffffflu; // no result: not the canonical NaN
const NO_SUM: vec4<f64> = vec4<f64>(0.0lf, 0.0lf, 0.0lf, 0.0lf);

fn plus(s: vec4<f64>, y: f64) -> vec4<f64> {
	let t = s.x + y;
	let z = t - s.x;
	let lost = (s.x - (t - z)) + (y - z);
	return vec4<f64>(t, s.y + lost, s.z + abs(y), s.w + abs(lost));
}

fn sums_join(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
	let s = plus(a, b.x);
	return vec4<f64>(s.x, s.y + b.y, a.z + b.z, s.w + b.w);
}

// a * b joins. Of a product far above the subnormals fma gives the rest exactly, of others not.
fn plus_product(s: vec4<f64>, a: f64, b: f64) -> vec4<f64> {
	let p = a * b;
	let rest = fma(a, b, -p);
	let t = plus(s, p);
	let small = abs(p) < 0x1p-960lf && a != 0.0lf && b != 0.0lf;
	return vec4<f64>(t.x, t.y + rest, t.z, t.w + select(abs(rest), 1.0lf, small));
}

// The bits of the f64 that the exact sum rounds to, or UNTOLD. n: no fewer than the roundings of sums and of what they lost; beside that a rest may
// be off by a unit of the subnormals. An infinity or a NaN among the terms is one in s.
fn told(s: vec4<f64>, n: f64) -> u64 {
	let x = s.x + s.y;
	let z = x - s.x;
	let rest = (s.x - (x - z)) + (s.y - z);
	let off = n * n * s.z * 0x1p-104lf * 0x1.00001p0lf + n * 0x1p-1072lf;
	let e = select(off + abs(rest) * 0x1p-51lf, 0.0lf, s.w == 0.0lf);
	let low = bitcast<u64>(x + (rest - e));
	let high = bitcast<u64>(x + (rest + e));
	return select(UNTOLD, low, low == high && s.z < 0x1p1000lf);
}
