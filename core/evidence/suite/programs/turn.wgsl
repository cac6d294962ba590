//# max dispatch = 65535,1,1
// From one array to another and back, in other places each time, with a sum by a tree at the end: every read is of what
// another invocation wrote before the barrier.
override WG: u32 = 64;

struct Params {
	rounds: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;

var<workgroup> ping: array<u32, 256>;
var<workgroup> pong: array<u32, 256>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	let i = wid.x * WG + lid;
	ping[lid] = items[i];
	workgroupBarrier();
	for (var r = 0u; r < min(params.rounds, 64u); r++) {
		pong[lid] = ping[(lid + r) % WG] ^ r;
		workgroupBarrier();
		ping[lid] = pong[WG - 1u - lid] * 3u + 1u;
		workgroupBarrier();
	}
	results[i] = ping[lid];
	for (var width = 128u; width > 0u; width >>= 1u) {
		workgroupBarrier();
		if (lid < width && lid + width < WG) {
			ping[lid] += ping[lid + width];
		}
	}
	if (lid == 0u) {
		sums[wid.x] = ping[0];
	}
}
