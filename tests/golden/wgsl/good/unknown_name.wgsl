@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn foo(x: u32) -> u32 { return x + late; }
alias Vec = vec2u;
const late = 3;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let length = 3u;
	let a = length;
	out[i] = foo(a);
	let b: Vec = vec2u(3);
}
