//# max dispatch = 65535,1,1
// Workgroups that meet different numbers of barriers, some of them none: a barrier that waited for another workgroup
// would never end, or would end too early for its own.
override WG: u32 = 64;

struct Params {
	seed: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;

var<workgroup> cells: array<u32, 256>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	let i = wid.x * WG + lid;
	let rounds = (wid.x * 7u + params.seed) % 9u;
	if (wid.x % 5u == 4u) {
		results[i] = wid.x;
		return;
	}
	cells[lid] = items[i];
	workgroupBarrier();
	for (var r = 0u; r < 8u && r < rounds; r++) {
		let seen = cells[(lid + 1u) % WG];
		workgroupBarrier();
		cells[lid] = seen + r * lid;
		workgroupBarrier();
	}
	results[i] = cells[lid];
}
