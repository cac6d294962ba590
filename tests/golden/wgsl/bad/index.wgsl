// expect: PC2412@7 PC2412@8 PC2412@9 PC2412@10 PC2412@11 PC2412@13
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a: array<u32, 4>;
	a[4] = 1u;
	let b = a[-1];
	let c = vec2(1u)[2];
	const d = array(1, 2)[2];
	out[-1] = 3u;
	var m: mat2x2<i32>;
	m[1][2] = 1;
}
