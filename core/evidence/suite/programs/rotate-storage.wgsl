//# max dispatch = 65535,1,1
// As rotate.wgsl, in storage memory that the workgroup alone uses, behind storage barriers.
override WG: u32 = 64;

struct Params {
	rounds: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	let base = wid.x * WG;
	results[base + lid] = items[base + lid];
	storageBarrier();
	for (var r = 0u; r < min(params.rounds, 64u); r++) {
		let seen = results[base + (lid + r + 1u) % WG];
		storageBarrier();
		results[base + lid] = seen * 5u + lid;
		storageBarrier();
	}
}
