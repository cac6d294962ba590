// The sum, the mean and the variance that sums in f64 (moments_add.wgsl) show, or MARK (SEMANTICS.md 4.4, 15.6). Sums are off by at most depth * 2^-53
// times the magnitudes, depth being the longest way of a term through additions; not at all where the magnitudes' sum is at most 2^53 times the
// least magnitude's last place. In front: within.wgsl.
const ULP: f64 = 0x1p-53lf;
const MORE: f64 = 0x1.00001p0lf; // covers the roundings of sums of what has one sign, and of bounds

// n: terms, depth, and the bits of an f64: 1 / n, or of a variance 1 / (n * (n - ddof)).
fn inverse(judge: vec4<u32>) -> f64 {
	return bitcast<f64>(u64(judge.z) | (u64(judge.w) << 32u));
}

// 2^(places + 53), of places that count from 2^-150 or, of squares, 2^-300.
fn fits(x: f64, places: i32) -> bool {
	return x * MORE <= bitcast<f64>(u64(1023 + 53 + places) << 52u);
}

fn sum_error(s: vec4<f64>, judge: vec4<u32>) -> f64 {
	return select(f64(judge.y) * s.y * ULP * MORE, 0.0lf, fits(s.y, i32(s.w) - 150));
}

fn sum_judged(s: vec4<f64>, judge: vec4<u32>) -> u32 {
	return within(s.x, sum_error(s, judge), s.y);
}

fn mean_judged(s: vec4<f64>, judge: vec4<u32>) -> u32 {
	let mean = s.x * inverse(judge);
	return within(mean, sum_error(s, judge) * inverse(judge) * MORE + abs(mean) * 0x1p-51lf, s.y);
}

fn squares_judged(s: vec4<f64>, judge: vec4<u32>) -> u32 {
	return within(s.z, f64(judge.y) * s.z * ULP * MORE, s.z);
}

// n * sum(x^2) - sum(x)^2: exact where its first part is, which the second is no more than.
fn variance_judged(s: vec4<f64>, judge: vec4<u32>) -> u32 {
	let n = f64(judge.x);
	let first = n * s.z;
	let second = s.x * s.x;
	let variance = (first - second) * inverse(judge);
	let e = sum_error(s, judge);
	let off = f64(judge.y) * first * ULP + (2.0lf * abs(s.x) + e) * e + (first + second) * 0x1p-51lf;
	let error = select(off * MORE, 0.0lf, fits(first, 2 * i32(s.w) - 300));
	return within(variance, error * inverse(judge) * MORE + abs(variance) * 0x1p-50lf, first);
}
