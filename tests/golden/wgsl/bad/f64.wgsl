// expect: PC2219@2 PC2219@5 PC2103@6
fn f(x: f64) { }
@compute @workgroup_size(64)
fn main() {
	let x = mulHigh(1u, 2u);
	let y = 1.5lf;
}
