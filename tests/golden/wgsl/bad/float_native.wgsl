// expect: PC2219@4 PC2405@5 PC2103@6 PC2407@7
// flags: native
@compute @workgroup_size(1) fn main() {
	let a = bf16(1);
	let b = 1lf + 1f;
	let c = 1e400lf;
	let d = 1e300lf * 1e300;
}
