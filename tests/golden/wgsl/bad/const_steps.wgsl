// expect: PC2407@5 PC2407@6 PC2407@7 PC2407@8 PC2406@9 PC2406@10 PC2406@11 PC2406@12 PC2406@13 PC2407@14 PC2407@15 PC2407@16 PC2407@17 PC2407@18
// rules 1: PC2407@6 PC2407@14 PC2407@15 PC2407@16 PC2407@17 PC2407@18
enable f16; @compute @workgroup_size(64)
fn main() { let x = 0.5; let h = 0.5h;
	let a = normalize(vec2f(3e38, 3e38));
	let b = normalize(vec3f());
	let c = pack2x16float(vec2f(65520, 1));
	let d = pack2x16float(vec2f(1, -7e4));
	let e = smoothstep(1.0, 1.0, 0.0);
	let f = smoothstep(1.0, 1.0, x);
	let g = smoothstep(vec2f(0, 2), vec2f(1, 2), vec2f(x));
	let i = ldexp(x, 129);
	let j = ldexp(h, 17) + h;
	let k = length(vec2f(3e38, 3e38));
	let l = distance(3e38f, -3e38f);
	let m = unpack2x16float(0x7c00u);
	let n = determinant(mat2x2f(3e38, 0, 0, 3e38));
	let o = acos(2.0);
}
