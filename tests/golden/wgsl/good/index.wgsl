@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a: array<u32, 4>;
	a[3] = 1u;
	let b = a[i];
	let c = vec2(1u)[1];
	const d = array(1, 2)[1];
	out[100] = 3u;
	var m: mat2x2<i32>;
	m[1][1] = d;
}
