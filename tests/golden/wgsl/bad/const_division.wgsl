// expect: PC2408@6 PC2408@7 PC2408@8 PC2408@9 PC2408@11
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = i / 0u;
	let b = i % 0u;
	const c = 1 / (3 - 3);
	let v = vec2(i) / vec2(1u, 0u);
	var w = i;
	w /= 0u;
}
