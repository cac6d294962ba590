// The generator of lanes (plugins/opencl/spmd) once stored into private variables of invocations that had already left the function.
//! dispatch 3,1,1 inputs 5
//! binding 0:0 bytes 384
//! binding 0:1 bytes 384
var<private> p: u32 = 1u;
@group(0) @binding(0) var<storage> in0: array<u32>;
@group(0) @binding(1) var<storage, read_write> out0: array<u32>;
fn f(x: u32) -> u32 {
	if (x % 3u == 0u) {
		return 5u;
	}
	p = p * 7u + x;
	return 9u;
}
@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	let got = f(in0[id.x]);
	out0[id.x] = got + p;
}
