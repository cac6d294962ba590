@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = i << 31u;
	const b = 1 >> 63u;
	let c = i64(i) << 63u;
	let d = i32(i) >> 31;
}
