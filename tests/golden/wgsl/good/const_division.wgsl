@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = i / 1u;
	let b = i % i;
	const c = 1 / (3 - 2);
	let v = vec2(i) / vec2(1u, 2u);
	const dead = false && 1 / (3 - 3) == 0;
	var w = i;
	w /= 2u;
}
