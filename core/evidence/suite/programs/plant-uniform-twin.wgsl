// The good twin of the divergent plants: every condition is the same for the whole workgroup.
struct Params {
	n: u32,
}

@group(0) @binding(0) var<storage, read_write> results: array<u32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(workgroup_id) wid: vec3<u32>) {
	if (params.n > 3u) {
		workgroupBarrier();
	}
	if (wid.x % 2u == 1u) {
		return;
	}
	for (var i = 0u; i < 64u && i < wid.x; i++) {
		storageBarrier();
	}
	results[gid.x] = gid.x + 1u;
}
