// expect: PC2219@5 PC2224@6 PC2224@7 PC2224@8 PC2224@9 PC2405@10 PC2103@11
// rules 1: PC2103@11 PC2103@6 PC2103@7 PC2103@7 PC2103@8 PC2103@9 PC2103@10 PC2219@5 PC2219@7 PC2219@7
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
