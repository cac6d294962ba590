@group(0) @binding(0) var<storage, read_write> out: array<u32>;
const N = 4;
override t = 5;
var<workgroup> w: array<u32, t + 1>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a: array<u32, N>;
	var b: array<u32, N * 2>;
}
