@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	switch i { case 1u: {} case 3, 2u: {} default: {} }
	switch i { case 1u, default: {} }
	switch 3 { case -1, 1: {} default: {} }
}
