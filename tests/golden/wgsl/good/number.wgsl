@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	out[i] = 12u;
	out[i] = 0xFFu;
	out[i] = 4294967295u;
	let a = 2147483647i;
	let b = 9223372036854775807li;
	let c = 18446744073709551615lu;
	let d = 12lu;
	let e = 0X1fi;
}
