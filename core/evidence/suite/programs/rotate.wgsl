//# max dispatch = 65535,1,1
// In place: every round reads a neighbour's cell and overwrites its own behind a barrier. A read that sees what is only
// written after the barrier, or misses what was written before it, changes everything that follows.
override WG: u32 = 64;

struct Params {
	rounds: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;

var<workgroup> cells: array<u32, 256>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	let i = wid.x * WG + lid;
	cells[lid] = items[i];
	workgroupBarrier();
	for (var r = 0u; r < min(params.rounds, 64u); r++) {
		let seen = cells[(lid + r + 1u) % WG];
		workgroupBarrier();
		cells[lid] = seen * 5u + lid;
		workgroupBarrier();
	}
	results[i] = cells[lid];
}
