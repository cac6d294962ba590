enable f16;
@compute @workgroup_size(64)
fn main() { let x = 0.5; let h = 0.5h;
	let a = normalize(vec2f(3e18, 3e18));
	let b = normalize(vec3f(0, 1, 0));
	let c = pack2x16float(vec2f(65519, 1));
	let d = pack2x16float(vec2f(1, -6e4));
	let e = smoothstep(1.0, 0.0, 0.5);
	let f = smoothstep(1.0, 2.0, x);
	let y = 1.0; let ran = smoothstep(y, 1.0, x);
	let g = smoothstep(vec2f(0, 2), vec2f(1, 3), vec2f(x));
	let i = ldexp(x, 128);
	let j = ldexp(h, 16) + h;
	let k = length(vec2f(3e18, 3e18));
	let l = distance(3e38f, 3e38f);
	let m = unpack2x16float(0x7bffu);
	let n = determinant(mat2x2f(3e18, 0, 0, 3e18));
	let o = acos(1.0);
	const refracted = refract(vec2f(0.8, -0.6), vec2f(0, 1), 1.5);
	const_assert all(refracted == vec2f());
	const parts = frexp(3e38f);
	const_assert parts.exp == 128;
}
