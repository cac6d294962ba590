@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	for (var i = 0u; i < 4u; i++) {
		out[gid.x] += 1u;
		if i == 2u { break; }
	}
	switch gid.x {
		default: { break; }
	}
}
