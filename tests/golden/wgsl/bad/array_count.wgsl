// expect: PC2428@4 PC2428@8 PC2404@9 PC2404@10
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
override t = true;
var<workgroup> w: array<u32, t>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a: array<u32, i>;
	var b: array<u32, 0>;
	var c: array<u32, -3>;
}
