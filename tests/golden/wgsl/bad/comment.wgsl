// expect: PC2102@8
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	out[i] = 3u;
}
/* outer /* inner */
fn lost() {}
