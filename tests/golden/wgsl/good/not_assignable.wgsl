@group(0) @binding(0) var<storage, read_write> out: array<u32>;
const c = 1;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a = 1u;
	a = 2u;
	var v = vec3(1u);
	v.x = 3u;
	v = vec3(v.xy, 1u);
}
