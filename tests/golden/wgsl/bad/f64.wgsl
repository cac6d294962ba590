// expect: PC2219@4 PC2224@5 PC2224@6 PC2224@7 PC2224@8 PC2405@9 PC2103@10
@compute @workgroup_size(64)
fn main() {
	let x = mulHigh(1u, 2u);
	let a = exp(1.5lf);
	let b = pow(vec2<f64>(2.0lf), vec2<f64>(0.5lf));
	let c = ldexp(1.5lf, 3);
	let d = frexp(1.5lf).fract;
	let e = 1.5lf + 1.5f;
	let f = 1.5lg;
}
