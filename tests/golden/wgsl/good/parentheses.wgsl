@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = i & (3u + 1u);
	let b = i << (1u + 2u);
	let c = (i < 1u) == true;
	let d = (i < 1u && i > 2u) || i == 3u;
	let e = i | (1u & 2u);
	let f = i + 1u < i * 4u - 3u;
	let g = i & 1u & 2u;
}
