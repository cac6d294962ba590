// rules 1: PC2115@2 PC2209@6
//# max turns = 1000
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	while out[gid.x] != 3u { out[gid.x] = 3u; }
}
